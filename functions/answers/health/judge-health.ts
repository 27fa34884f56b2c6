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
/** With fewer decisions a single pipeline is a large share. */
const DECIDED_MIN = 20;
/** A rise of ten points, and to twice the usual share at least: what owners would call a jump. */
const JUMP_MIN = 0.1;

const shareOf = ({ decided, rejected }: { readonly decided: number; readonly rejected: number }): number =>
  decided === 0 ? 0 : rejected / decided;
const percent = (share: number): string => `${Math.round(share * 100)} %`;

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

  rejections: ({ rejections, deployed, nowMs }) =>
    known(rejections, ({ recent, week, edits, policyBefore }) => {
      const [share, usual] = [shareOf(recent), shareOf(week)];
      const text = `${percent(share)} of ${counted(recent.decided, 'decision')} were rejected, ${percent(usual)} in the week before`;
      if (recent.decided < DECIDED_MIN || share < usual + JUMP_MIN || share < 2 * usual) return ok(text);
      const policy = deployed.known ? deployed.value.policyVersion : undefined;
      const changes = [
        ...(policy !== policyBefore && policyBefore !== undefined ? [`policy ${policy} was deployed`] : []),
        ...edits.map(({ edit, atMs, actor }) => `edit ${edit} by ${actor} ${span(nowMs - atMs)} ago`),
      ];
      return problem(
        `${text}. Changes before it: ${changes.join(', ') || 'none'}`,
        'runbook: RejectedShare',
        share > 0.5 ? 'RejectedShare' : undefined,
      );
    }),

  rights: (evidence) => {
    const failed = Object.entries(READS_OF).flatMap(([name, what]) => {
      const read = evidence[name as keyof typeof READS_OF];
      return read.known ? [] : [{ ...read, what }];
    });
    const listOf = (cause: string): string =>
      failed.flatMap((each) => (each.cause === cause ? [each.what] : [])).join(', ');
    const [denied, throttled] = [listOf('denied'), listOf('throttled')];
    if (denied !== '') {
      const actions = new Set(failed.flatMap(({ why }) => ACTION.exec(why)?.[1] ?? []));
      return problem(
        `AWS refuses ${[...actions].join(', ') || 'a read'}: ${denied}`,
        'the hourly look has its rights from cdk/constructs/table-rights.ts: deploy again; at a terminal, take a role that may read the table',
      );
    }
    if (throttled !== '') return alarmed(`DynamoDB throttles: ${throttled}`, 'TableThrottled');
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
  rejections: 'edits of limits',
} as const satisfies Partial<Record<keyof HealthEvidence, string>>;

/** As IAM names what it refuses. */
const ACTION = /not authorized to perform: ([\w:]+)/;

/** Each cause is reported once. */
export const judgeHealth = (evidence: HealthEvidence): readonly HealthFinding[] =>
  Object.entries({ ...RELAY_CHECKS, ...PART_CHECKS, ...GITLAB_CHECKS }).map(([about, check]) => ({
    about,
    ...check(evidence),
  }));

export async function readHealth(deps: HealthReadDeps): Promise<HealthView> {
  const evidence = await readEvidence(deps);
  const { nowMs, rejections } = evidence;
  const findings = judgeHealth(evidence);
  return {
    checkedAtMs: nowMs,
    problems: findings.filter(({ severity }) => severity === 'problem').length,
    findings,
    ...(rejections.known && { decisions: rejections.value.today }),
  };
}
