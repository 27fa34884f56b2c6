/** Judges a deployment by the traces of its programs in the table, its relays and GitLab's side. */
import { MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { isRecountLate } from '../../core/ledger/checkpoints.ts';
import type { HealthFinding, HealthView } from './evidence.ts';
import { GITLAB_CHECKS } from './judge-gitlab.ts';
import { RELAY_CHECKS } from './judge-relays.ts';
import {
  alarmed,
  counted,
  DIRECTORY_OLD_MS,
  type HealthChecks,
  known,
  ok,
  problem,
  span,
  unknown,
  warning,
} from './judged.ts';
import { type HealthEvidence, type HealthReadDeps, readEvidence } from './read-health.ts';

/** The sweep reads the scope every five minutes, where it knows the controller. */
const SCOPE_OLD_MS = 10 * MINUTE_MS;
/** Below this share of asked jobs limits hold for some only. */
const COVERAGE_MIN = 0.95;
/** As the alarm UnadmittedShare: with fewer jobs an hour it says nothing. */
const JOBS_PER_HOUR_MIN = 20;
const PART_CHECKS: HealthChecks = {
  directory: ({ directoryListedAtMs, nowMs }) =>
    known(directoryListedAtMs, (listedAtMs) => {
      if (listedAtMs === undefined)
        return warning(
          "GitLab's groups were never listed to their end: jobs go by policies/directory.yaml",
          'look at the log of directory-sync: it names what GitLab refuses',
          'DirectoryStale',
        );
      const ago = `${span(nowMs - listedAtMs)} ago`;
      return nowMs - listedAtMs > DIRECTORY_OLD_MS
        ? alarmed(`GitLab's groups were last listed ${ago}`, 'DirectoryStale')
        : ok(`all groups listed ${ago}`);
    }),

  limits: ({ limitsLiveAtMs, nowMs }) =>
    known(limitsLiveAtMs, (atMs) =>
      atMs === undefined
        ? warning(
            'no set of limits was ever published: those packed with the functions hold',
            'tollgate limits publish',
          )
        : ok(`live since ${span(nowMs - atMs)} ago`),
    ),

  counters: ({ recount, nowMs }) =>
    known(recount, (outcome) => {
      if (outcome === undefined)
        return unknown('not recounted yet: the first runs of the function drift do it');
      const many = outcome.drifting.length + outcome.unlisted;
      if (many > 0)
        return problem(
          `${counted(many, 'counter')} showed something else than the records in the last recount`,
          'runbook: Drift; tollgate rebuild shows them',
          'Drift',
        );
      const age = span(nowMs - outcome.recountedAtMs);
      const remedy = 'look at the log of the function drift: it recounts all the time';
      return isRecountLate(outcome, nowMs)
        ? problem(`the last recount is ${age} old`, remedy, 'Drift')
        : ok(`agreed with the records ${age} ago`);
    }),

  sweep: ({ accessToken, scope, nowMs }) =>
    known(scope, (read) => {
      if (read === undefined)
        return unknown(
          'the sweep was not told the controller: gitlab.controllerId in cdk/tollgate.config.ts',
        );
      const asked = `asked GitLab ${span(nowMs - read.readAtMs)} ago`;
      if (nowMs - read.readAtMs <= SCOPE_OLD_MS) return ok(asked);
      if (!accessToken.known && accessToken.cause === 'unauthorised')
        return unknown(`${asked}; it may have the same token: see access token`);
      return alarmed(`the sweep last ${asked}: what no webhook reported stays held`, 'SweepFailing');
    }),

  coverage: ({ coverage }) =>
    known(coverage, ({ days, ran, bypass, bypassingRunnerIds, bypassingRunners }) => {
      const span = `in ${counted(days, 'day')}`;
      if (ran === 0) return unknown(`no job has ended ${span}`);
      if (bypass === 0) return ok(`GitLab asked about all of ${counted(ran, 'job')} ${span}`);
      const more = bypassingRunners > bypassingRunnerIds.length ? ' …' : '';
      const on =
        bypassingRunners === 0
          ? ''
          : `, on ${counted(bypassingRunners, 'runner')}: ${bypassingRunnerIds.join(', ')}${more}`;
      const text = `${bypass} of ${counted(ran, 'job')} ${span} passed by${on}`;
      const remedy = 'tollgate coverage lists them with what to do at each runner';
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
  beats: 'signs of life',
  directoryListedAtMs: 'the directory',
  limitsLiveAtMs: 'limits',
  recount: 'the recount',
  scope: 'the scope',
  coverage: 'usage',
} as const satisfies Partial<Record<keyof HealthEvidence, string>>;

const ACTION = /not authorized to perform: ([\w:]+)/;

/** Each cause is reported once. */
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
