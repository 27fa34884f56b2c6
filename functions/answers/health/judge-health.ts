/** Judges a deployment by the traces of its programs in the table, its relays and GitLab's side. */
import { MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { counted, countText } from '../../../policies/unit-texts.ts';
import { isRecountLate } from '../../core/ledger/checkpoints.ts';
import type { RelayHeartbeat } from '../../core/store/health-items.ts';
import type { HealthFinding, HealthView } from './evidence.ts';
import { GITLAB_CHECKS } from './judge-gitlab.ts';
import {
  alarmed,
  CLOCK_OFF_MS_MAX,
  checked,
  DIRECTORY_OLD_MS,
  type HealthChecks,
  type HealthJudgement,
  ok,
  problem,
  recentRelays,
  span,
  unknown,
  warning,
} from './judged.ts';
import { type HealthEvidence, type HealthReadDeps, readEvidence } from './read-health.ts';

const ofHeard = (judge: (heard: readonly RelayHeartbeat[], evidence: HealthEvidence) => HealthJudgement) =>
  checked('heartbeats', (all, evidence) => {
    const heard = recentRelays(all, evidence.nowMs);
    return heard.length === 0 ? unknown('no relay is heard') : judge(heard, evidence);
  });

const namesOf = (relays: readonly RelayHeartbeat[]): string =>
  relays.map(({ relayId }) => relayId).join(', ');

const DEPLOYING = 'wait for the deployment that is under way to end, or deploy again';

const RELAY_CHECKS: HealthChecks = {
  relays: checked('heartbeats', (all, { controller, controllerTokens, nowMs }) => {
    const heard = recentRelays(all, nowMs);
    const [last] = all;
    if (heard.length === 0 && controllerTokens.known && controllerTokens.value.length === 0)
      return unknown('none can open a stream: see controller token');
    if (last === undefined && controller.known && controller.value.connected === true)
      return unknown("none writes heartbeats; the controller's token was used within the last hour");
    if (last === undefined)
      return alarmed(
        'no relay has sent a heartbeat for an hour: an enabled controller fails every job it asks about',
        'RelayDisconnected',
      );
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
        "tollgate gitlab descriptors --ref v<version of GitLab's agent server>, then deploy",
        'RejectionsWithheld',
      );
    const suspect = heard.filter(({ schema }) => schema?.state === 'suspect');
    if (suspect.length > 0)
      return problem(
        `${namesOf(suspect)}: recent requests contradict the descriptors, so nothing is rejected`,
        'see Upgrading GitLab in cdk/RUNBOOK.md',
        'SchemaSuspect',
      );
    if (new Set(heard.map(({ schema }) => schema?.hash)).size > 1)
      return warning('the relays read requests with different descriptors', DEPLOYING);
    return heard.every(({ schema }) => schema?.state === 'proven')
      ? ok('proven by real admission requests')
      : warning(
          'not proven yet: nothing is rejected until six jobs of three projects, or twenty of fewer, were read',
          'wait for jobs, or run some; tollgate doctor --router shows what arrives',
          'RejectionsWithheld',
        );
  }),

  'clock of the relays': checked('heartbeats', (all, { gitlabAheadMs, nowMs }) => {
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
    const oldest = span(Math.max(...heard.map(({ directoryAgeMs = 0 }) => directoryAgeMs)));
    const old = heard.filter(({ directoryAgeMs = 0 }) => directoryAgeMs > DIRECTORY_OLD_MS);
    return old.length === 0
      ? ok(`at most ${oldest} old`)
      : alarmed(
          `${namesOf(old)}: ${oldest} old; in an outage rules for groups cannot be evaluated`,
          'RelayDirectoryStale',
        );
  }),

  'policy of the relays': ofHeard((heard, { deployed }) => {
    const functions = deployed.known ? deployed.value.policyVersion : undefined;
    const known = heard.filter(({ policyVersion }) => policyVersion !== undefined);
    const versions = known.map(({ relayId, policyVersion }) => `${relayId} has ${policyVersion}`).join(', ');
    if (known.length === 0) return unknown('no relay reports its policy');
    if (functions === undefined)
      return unknown(`${versions}; the functions' is known after the hourly check`);
    return known.every(({ policyVersion }) => policyVersion === functions)
      ? ok(`${functions}, as the functions have it`)
      : warning(`${versions}, the functions have ${functions}`, DEPLOYING);
  }),
};

/** The sweep reads the scope every five minutes, where it knows the controller. */
const SCOPE_OLD_MS = 10 * MINUTE_MS;
/** Below this share of asked jobs limits hold for some only. */
const COVERAGE_MIN = 0.95;
/** As the alarm UnadmittedShare: with fewer jobs an hour it says nothing. */
const JOBS_PER_HOUR_MIN = 20;

const PART_CHECKS: HealthChecks = {
  directory: checked('directoryListedAtMs', (listedAtMs, { nowMs }) => {
    if (listedAtMs === undefined)
      return warning(
        "GitLab's groups have never been listed completely: policies/directory.yaml is in use",
        'run tollgate directory sync, or read the log of the function directory-sync for the refusal',
        'DirectoryStale',
      );
    const ago = `${span(nowMs - listedAtMs)} ago`;
    return nowMs - listedAtMs > DIRECTORY_OLD_MS
      ? alarmed(`GitLab's groups were last listed ${ago}`, 'DirectoryStale')
      : ok(`all groups listed ${ago}`);
  }),

  limits: checked('limitsLiveAtMs', (atMs, { nowMs }) =>
    atMs === undefined
      ? warning(
          'no limits have been published: the limits packed with the functions are in force',
          'run tollgate limits publish policies/limits.yaml --why "first set"',
        )
      : ok(`live since ${span(nowMs - atMs)} ago`),
  ),

  counters: checked('recount', (outcome, { nowMs }) => {
    if (outcome === undefined)
      return unknown('not recounted yet: the first runs of the function drift do it');
    const many = outcome.drifting.length + outcome.unlisted;
    if (many > 0)
      return problem(
        `${counted(many, 'counter')} differed from their job records in the last recount`,
        'see Drift in cdk/RUNBOOK.md; tollgate rebuild shows them',
        'Drift',
      );
    const age = span(nowMs - outcome.recountedAtMs);
    const remedy = 'look at the log of the function drift: it recounts all the time';
    return isRecountLate(outcome, nowMs)
      ? problem(`the last recount is ${age} old`, remedy, 'Drift')
      : ok(`agreed with the records ${age} ago`);
  }),

  sweep: checked('scope', (read, { accessToken, nowMs }) => {
    if (read === undefined)
      return unknown(
        'the sweep does not know the controller: set gitlab.controllerId in cdk/tollgate.config.ts',
      );
    const asked = `asked GitLab ${span(nowMs - read.readAtMs)} ago`;
    if (nowMs - read.readAtMs <= SCOPE_OLD_MS) return ok(asked);
    if (!accessToken.known && accessToken.cause === 'unauthorised')
      return unknown(`${asked}; it may have the same token: see access token`);
    return alarmed(`the sweep last ${asked}: jobs whose end no webhook reported stay held`, 'SweepFailing');
  }),

  coverage: checked('coverage', ({ days, ran, bypass, bypassingRunnerIds: ids, bypassingRunners }) => {
    const during = `in ${counted(days, 'day')}`;
    if (ran === 0) return unknown(`no job has ended ${during}`);
    if (bypass === 0) return ok(`GitLab asked about all of ${counted(ran, 'job')} ${during}`);
    const runners = `${counted(bypassingRunners, 'runner')}: ${ids.join(', ')}`;
    const on = bypassingRunners === 0 ? '' : `, on ${runners}${bypassingRunners > ids.length ? ' …' : ''}`;
    const text = `${countText(bypass)} of ${counted(ran, 'job')} ${during} ran without an admission request${on}`;
    const remedy = 'run tollgate coverage: it lists these runners, each with a remedy';
    if (bypass <= ran * (1 - COVERAGE_MIN)) return warning(text, remedy);
    const busy = ran > JOBS_PER_HOUR_MIN * 24 * days;
    return problem(text, remedy, busy ? 'UnadmittedShare' : undefined);
  }),

  rights: (evidence) => {
    const failed = Object.entries(READS_OF).flatMap(([name, what]) => {
      const read = evidence[name as keyof typeof READS_OF];
      return read.known ? [] : [{ ...read, what }];
    });
    const denied = failed.filter(({ cause }) => cause === 'denied');
    const throttled = failed.filter(({ cause }) => cause === 'throttled').map(({ what }) => what);
    if (denied.length > 0) {
      const actions = new Set(denied.flatMap(({ why }) => ACTION.exec(why)?.[1] ?? []));
      return problem(
        `AWS refuses ${[...actions].join(', ') || 'a read'}: ${denied.map(({ what }) => what).join(', ')}`,
        'deploy again; at a terminal, take a role that may read the table',
      );
    }
    if (throttled.length > 0) return alarmed(`DynamoDB throttles: ${throttled.join(', ')}`, 'TableThrottled');
    const reads = Object.keys(READS_OF).length;
    return ok(`${reads - failed.length} of ${reads} reads of the table were answered`);
  },
};

/** Reads of the table: the only rights that a program can prove itself. */
const READS_OF = {
  heartbeats: 'signs of life',
  directoryListedAtMs: 'the directory',
  limitsLiveAtMs: 'limits',
  recount: 'the recount',
  scope: 'the scope',
  coverage: 'usage',
} as const satisfies Partial<Record<keyof HealthEvidence, string>>;

const ACTION = /not authorized to perform: ([\w:]+)/;

export const judgeHealth = (evidence: HealthEvidence): readonly HealthFinding[] =>
  Object.entries({ ...RELAY_CHECKS, ...PART_CHECKS, ...GITLAB_CHECKS }).map(([about, check]) => ({
    about,
    ...check(evidence),
  }));

export async function readHealth(deps: HealthReadDeps): Promise<HealthView> {
  const evidence = await readEvidence(deps);
  const findings = judgeHealth(evidence);
  return {
    checkedAtMs: evidence.nowMs,
    problems: findings.filter(({ severity }) => severity === 'problem').length,
    findings,
  };
}
