/** Judges relays by their heartbeats. Pure. */

import type { WaitingLine } from '../../core/contract/admissions.ts';
import type { RelayBeat } from '../../core/store/health-items.ts';
import {
  CLOCK_OFF_MS_MAX,
  counted,
  DIRECTORY_OLD_MS,
  type HealthChecks,
  heardAmong,
  judged,
  known,
  span,
} from './judged.ts';

const { ok, unknown, warning, problem } = judged;

export const RELAY_CHECKS: HealthChecks = {
  relays: ({ beats, controller, controllerTokens, nowMs }) =>
    known(beats, (all) => {
      const heard = heardAmong(all, nowMs);
      const [last] = all;
      if (heard.length === 0 && controllerTokens.known && controllerTokens.value.length === 0)
        return unknown('none can open a stream: see controller token');
      if (last === undefined && controller.known && controller.value.connected === true)
        return unknown(
          "none writes a sign of life, as without the setting watchdog; the controller's token was used within the last hour",
        );
      if (last === undefined)
        return problem(
          'no relay wrote a sign of life beside these books within the last hour',
          'start the relays; runbook: RelayDisconnected',
          'RelayDisconnected',
        );
      if (heard.length === 0)
        return problem(
          `no relay was heard for ${span(nowMs - last.atMs)}: an enabled controller fails every job it asks about`,
          'runbook: RelayDisconnected; disarm with tollgate controller disable',
          'RelayDisconnected',
        );
      const streams = heard.reduce((sum, { openStreams }) => sum + openStreams, 0);
      const stopped = heard.filter(({ breaker }) => breaker !== undefined && breaker !== 'closed');
      if (stopped.length > 0)
        return problem(
          `${counted(stopped.length, 'relay')} answers without the admit function, which fails: ${namesOf(stopped)}`,
          'runbook: FallbackShare',
          'FallbackShare',
        );
      return heard.length === 1
        ? warning(
            `one relay only, with ${counted(streams, 'stream')}: its next deployment has nobody to take over`,
            'run two: relay.count in cdk/tollgate.config.ts',
            'RelayMissing',
          )
        : ok(`${heard.length} relays, ${counted(streams, 'stream')}`);
    }),

  waiting: ({ beats, nowMs }) =>
    known(beats, (all) => {
      if (heardAmong(all, nowMs).length === 0) return unknown('no relay is heard');
      const lines = waitingLines(all, nowMs).map((line) => waitingText(line, `group ${line.root}`));
      return ok(lines.length === 0 ? 'no job waits for room' : lines.join('; '));
    }),

  descriptors: ({ beats, nowMs }) =>
    known(beats, (all) => {
      const heard = heardAmong(all, nowMs).flatMap(({ relayId, schema }) =>
        schema === undefined ? [] : [{ relayId, ...schema }],
      );
      if (heard.length === 0) return unknown('no relay that is heard tells its descriptors');
      const guessed = heard.filter(({ placeholder }) => placeholder === true);
      if (guessed.length > 0)
        return problem(
          `${namesOf(guessed)}: the descriptors are the placeholder of this repository, so every job is admitted`,
          "npm run proto:sync -- --ref v<version of GitLab's agent server>, then deploy",
          'RejectionsWithheld',
        );
      const suspect = heard.filter(({ standing }) => standing === 'suspect');
      if (suspect.length > 0)
        return problem(
          `${namesOf(suspect)}: recent questions contradict the descriptors, so nothing is rejected`,
          'runbook: Upgrading GitLab',
          'SchemaSuspect',
        );
      const hashes = new Set(heard.map(({ hash }) => hash));
      if (hashes.size > 1)
        return warning(
          'the relays read questions with different descriptors',
          'wait for the deployment that is under way to end, or deploy again',
        );
      return heard.every(({ standing }) => standing === 'proven')
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
      if (ahead.length > 0 && gitlabAheadMs.known && gitlabAheadMs.value > CLOCK_OFF_MS_MAX)
        return unknown(`${namesOf(ahead)} is ahead, as GitLab is: see clock of GitLab`);
      return ahead.length === 0
        ? ok('no relay is ahead of this machine')
        : problem(
            `${namesOf(ahead)} is ${span(Math.max(...ahead.map(({ atMs }) => atMs - nowMs)))} ahead of this machine`,
            'set the clock of the one that is wrong: periods of limits begin and end by it',
          );
    }),

  'directory of the relays': ({ beats, nowMs }) =>
    known(beats, (all) => {
      const told = heardAmong(all, nowMs).filter(({ directoryAgeMs }) => directoryAgeMs !== undefined);
      if (told.length === 0) return unknown('no relay that is heard tells how old its directory is');
      const old = told.filter(({ directoryAgeMs = 0 }) => directoryAgeMs > DIRECTORY_OLD_MS);
      const oldest = Math.max(...told.map(({ directoryAgeMs = 0 }) => directoryAgeMs));
      return old.length === 0
        ? ok(`at most ${span(oldest)} old`)
        : problem(
            `${namesOf(old)}: ${span(oldest)} old; in an outage rules for groups cannot be told`,
            'runbook: RelayDirectoryStale',
            'RelayDirectoryStale',
          );
    }),

  'policy of the relays': ({ beats, deployed, nowMs }) =>
    known(beats, (all) => {
      const told = heardAmong(all, nowMs).filter(({ policyVersion }) => policyVersion !== undefined);
      const versions = new Set(told.map(({ policyVersion }) => policyVersion));
      const functions = deployed.known ? deployed.value.policyVersion : undefined;
      if (told.length === 0) return unknown('no relay that is heard tells its policy');
      if (versions.size > 1 || (functions !== undefined && !versions.has(functions)))
        return warning(
          [...told.map(({ relayId, policyVersion }) => `${relayId} has ${policyVersion}`)]
            .concat(functions === undefined ? [] : [`the functions have ${functions}`])
            .join(', '),
          'wait for the deployment that is under way to end, or deploy again',
        );
      return functions === undefined
        ? unknown(`${[...versions].join()}; which one the functions have, the hourly look notes`)
        : ok(`${functions}, as the functions have it`);
    }),
};

const namesOf = (relays: readonly { readonly relayId: string }[]): string =>
  relays.map(({ relayId }) => relayId).join(', ');

// Lists wait queues with counters and times: one result for all callers. Pure.

/** Two heartbeats; older queues are gone. */
const TOLD_MS = 60_000;

/**
 * The lines of all relays together, in the order of their turns. Each relay has an order of its own: where two have the same turn, the
 * one that waits longer comes first.
 */
export function waitingLines(beats: readonly RelayBeat[], nowMs: number): readonly WaitingLine[] {
  const lines = new Map<string, { line: WaitingLine; turn: number }>();
  for (const { atMs, waiting = [] } of beats) {
    if (nowMs - atMs > TOLD_MS) continue;
    for (const [turn, line] of waiting.entries()) {
      const key = `${line.root} ${line.counter}`;
      const other = lines.get(key);
      lines.set(key, {
        line: other === undefined ? line : together(other.line, line),
        turn: Math.min(turn, other?.turn ?? turn),
      });
    }
  }
  return [...lines.values()]
    .sort((a, b) => a.turn - b.turn || (b.line.longestMs ?? 0) - (a.line.longestMs ?? 0))
    .map(({ line }) => line);
}

const together = (one: WaitingLine, other: WaitingLine): WaitingLine => {
  const longestMs = Math.max(one.longestMs ?? 0, other.longestMs ?? 0);
  return { ...one, jobs: one.jobs + other.jobs, ...(longestMs > 0 && { longestMs }) };
};

/** `6 jobs of acme wait for room: jobs-now of group/101, the longest for 12 seconds` */
export function waitingText({ counter, jobs, longestMs }: WaitingLine, group: string): string {
  // A counter's name is its subject, its limit and its period.
  const [subject = '', limit = ''] = counter.split('|');
  const long =
    longestMs === undefined ? '' : `, ${jobs === 1 ? 'for' : 'the longest for'} ${span(longestMs)}`;
  return `${counted(jobs, 'job')} of ${group} ${jobs === 1 ? 'waits' : 'wait'} for room: ${limit} of ${subject}${long}`;
}
