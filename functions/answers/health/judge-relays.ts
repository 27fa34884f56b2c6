import type { WaitingLine } from '../../core/contract/admissions.ts';
import type { RelayBeat } from '../../core/store/health-items.ts';
import {
  alarmed,
  CLOCK_OFF_MS_MAX,
  counted,
  DIRECTORY_OLD_MS,
  type HealthChecks,
  type HealthJudgement,
  heardAmong,
  known,
  ok,
  problem,
  span,
  unknown,
  warning,
} from './judged.ts';
import type { HealthEvidence } from './read-health.ts';

const ofHeard =
  (judge: (heard: readonly RelayBeat[], evidence: HealthEvidence) => HealthJudgement) =>
  (evidence: HealthEvidence): HealthJudgement =>
    known(evidence.beats, (all) => {
      const heard = heardAmong(all, evidence.nowMs);
      return heard.length === 0 ? unknown('no relay is heard') : judge(heard, evidence);
    });

const DEPLOYING = 'wait for the deployment that is under way to end, or deploy again';

export const RELAY_CHECKS: HealthChecks = {
  relays: ({ beats, controller, controllerTokens, nowMs }) =>
    known(beats, (all) => {
      const heard = heardAmong(all, nowMs);
      const [last] = all;
      if (heard.length === 0 && controllerTokens.known && controllerTokens.value.length === 0)
        return unknown('none can open a stream: see controller token');
      if (last === undefined && controller.known && controller.value.connected === true)
        return unknown("none writes heartbeats; the controller's token was used within the last hour");
      if (last === undefined)
        return alarmed('no relay wrote a sign of life within the last hour', 'RelayDisconnected');
      if (heard.length === 0)
        return alarmed(
          `no relay was heard for ${span(nowMs - last.atMs)}: an enabled controller fails every job it asks about`,
          'RelayDisconnected',
        );
      const stopped = heard.filter(({ breaker }) => breaker !== undefined && breaker !== 'closed');
      if (stopped.length > 0)
        return alarmed(
          `${counted(stopped.length, 'relay')} answers without the admit function, which fails: ${namesOf(stopped)}`,
          'FallbackShare',
        );
      const streams = heard.reduce((sum, { openStreams }) => sum + openStreams, 0);
      const text = `${counted(heard.length, 'relay')}, ${counted(streams, 'stream')}`;
      const alone = `${text}: no other takes over during a deployment`;
      return heard.length === 1
        ? warning(alone, 'run two: relay.count in cdk/tollgate.config.ts', 'RelayMissing')
        : ok(text);
    }),

  descriptors: ofHeard((heard) => {
    const guessed = heard.filter(({ schema }) => schema?.placeholder === true);
    if (guessed.length > 0)
      return problem(
        `${namesOf(guessed)}: the descriptors are the placeholder of this repository, so every job is admitted`,
        "npm run proto:sync -- --ref v<version of GitLab's agent server>, then deploy",
        'RejectionsWithheld',
      );
    const suspect = heard.filter(({ schema }) => schema?.standing === 'suspect');
    if (suspect.length > 0)
      return problem(
        `${namesOf(suspect)}: recent questions contradict the descriptors, so nothing is rejected`,
        'runbook: Upgrading GitLab',
        'SchemaSuspect',
      );
    if (new Set(heard.map(({ schema }) => schema?.hash)).size > 1)
      return warning('the relays read questions with different descriptors', DEPLOYING);
    return heard.every(({ schema }) => schema?.standing === 'proven')
      ? ok('proven by real questions')
      : warning(
          'not proven yet: nothing is rejected until six jobs of three projects, or twenty of fewer, were read',
          'wait for jobs, or run some; npm run doctor shows what arrives',
          'RejectionsWithheld',
        );
  }),

  'clock of the relays': ({ beats, gitlabAheadMs, nowMs }) =>
    known(beats, (all) => {
      const ahead = all.filter(({ atMs }) => atMs - nowMs > CLOCK_OFF_MS_MAX);
      if (ahead.length === 0) return ok('no relay is ahead of this machine');
      if (gitlabAheadMs.known && gitlabAheadMs.value > CLOCK_OFF_MS_MAX)
        return unknown(`${namesOf(ahead)} is ahead, as GitLab is: see clock of GitLab`);
      const mostMs = Math.max(...ahead.map(({ atMs }) => atMs - nowMs));
      return problem(
        `${namesOf(ahead)} is ${span(mostMs)} ahead of this machine`,
        'set the clock of the one that is wrong: periods of limits begin and end by it',
      );
    }),

  'directory of the relays': ofHeard((heard) => {
    const oldest = Math.max(...heard.map(({ directoryAgeMs = 0 }) => directoryAgeMs));
    const old = heard.filter(({ directoryAgeMs = 0 }) => directoryAgeMs > DIRECTORY_OLD_MS);
    return old.length === 0
      ? ok(`at most ${span(oldest)} old`)
      : alarmed(
          `${namesOf(old)}: ${span(oldest)} old; in an outage rules for groups cannot be told`,
          'RelayDirectoryStale',
        );
  }),

  'policy of the relays': ofHeard((heard, { deployed }) => {
    const functions = deployed.known ? deployed.value.policyVersion : undefined;
    const known = heard.filter(({ policyVersion }) => policyVersion !== undefined);
    const told = known.map(({ relayId, policyVersion }) => `${relayId} has ${policyVersion}`).join(', ');
    if (known.length === 0) return unknown('no relay reports its policy');
    if (functions === undefined)
      return unknown(`${told}; the functions' is not known before the hourly look`);
    return known.every(({ policyVersion }) => policyVersion === functions)
      ? ok(`${functions}, as the functions have it`)
      : warning(`${told}, the functions have ${functions}`, DEPLOYING);
  }),
};

const namesOf = (relays: readonly { readonly relayId: string }[]): string =>
  relays.map(({ relayId }) => relayId).join(', ');

/** Two heartbeats; older queues are gone. */
const TOLD_MS = 60_000;

/** The wait queues of all relays together, in the order of their turns. Each relay has an order of its own. */
export function waitingLines(beats: readonly RelayBeat[], nowMs: number): readonly WaitingLine[] {
  const lines = new Map<string, { line: WaitingLine; turn: number }>();
  for (const { waiting = [] } of beats.filter((beat) => nowMs - beat.atMs <= TOLD_MS))
    for (const [turn, line] of waiting.entries()) {
      const key = `${line.root} ${line.counter}`;
      const other = lines.get(key);
      const longestMs = Math.max(line.longestMs ?? 0, other?.line.longestMs ?? 0);
      lines.set(key, {
        line: { ...line, jobs: line.jobs + (other?.line.jobs ?? 0), ...(longestMs > 0 && { longestMs }) },
        turn: Math.min(turn, other?.turn ?? turn),
      });
    }
  return [...lines.values()].sort((a, b) => a.turn - b.turn).map(({ line }) => line);
}

/** `6 jobs of acme wait for room: jobs-now of group/101, the longest for 12 seconds` */
export function waitingText({ counter, jobs, longestMs }: WaitingLine, group: string): string {
  const [subject = '', limit = ''] = counter.split('|');
  const long = longestMs === undefined ? '' : `, the longest for ${span(longestMs)}`;
  return `${counted(jobs, 'job')} of ${group} ${jobs === 1 ? 'waits' : 'wait'} for room: ${limit} of ${subject}${long}`;
}
