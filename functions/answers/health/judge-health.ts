/** Judges each program by its traces in the table. Pure. */
import { MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { isRecountLate } from '../../core/ledger/checkpoints.ts';
import type { DecisionCounts, HealthEvidence, HealthFinding } from './evidence.ts';
import { GITLAB_CHECKS } from './judge-gitlab.ts';
import { RELAY_CHECKS } from './judge-relays.ts';
import { counted, DIRECTORY_OLD_MS, type HealthChecks, judged, known, span } from './judged.ts';

const { ok, unknown, warning, problem } = judged;

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

const shareOf = ({ decided, rejected }: DecisionCounts): number => (decided === 0 ? 0 : rejected / decided);
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
      const ageMs = nowMs - listedAtMs;
      return ageMs > DIRECTORY_OLD_MS
        ? problem(
            `GitLab's groups were last listed ${span(ageMs)} ago`,
            'runbook: DirectoryStale',
            'DirectoryStale',
          )
        : ok(`all groups listed ${span(ageMs)} ago`);
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
      const { drifting, unlisted, recountedAtMs } = outcome;
      const many = drifting.length + unlisted;
      if (many > 0)
        return problem(
          `${counted(many, 'counter')} showed something else than the records in the last recount`,
          'runbook: Drift; tollgate rebuild shows them',
          'Drift',
        );
      const ageMs = nowMs - recountedAtMs;
      return isRecountLate(outcome, nowMs)
        ? problem(
            `the last recount is ${span(ageMs)} old`,
            'look at the log of the function drift: it recounts all the time',
            'Drift',
          )
        : ok(`agreed with the records ${span(ageMs)} ago`);
    }),

  sweep: ({ accessToken, scope, nowMs }) =>
    known(scope, (read) => {
      if (read === undefined)
        return unknown(
          'the sweep was not told the controller: gitlab.controllerId in cdk/tollgate.config.ts',
        );
      const ageMs = nowMs - read.readAtMs;
      const refused = !accessToken.known && accessToken.cause === 'unauthorised';
      if (ageMs > SCOPE_OLD_MS && refused)
        return unknown(`asked GitLab ${span(ageMs)} ago; it may have the same token: see access token`);
      return ageMs > SCOPE_OLD_MS
        ? problem(
            `the sweep last asked GitLab ${span(ageMs)} ago: what no webhook reported stays held`,
            'runbook: SweepFailing',
            'SweepFailing',
          )
        : ok(`asked GitLab ${span(ageMs)} ago`);
    }),

  coverage: ({ coverage }) =>
    known(coverage, ({ days, ran, bypass, bypassingRunnerIds, bypassingRunners }) => {
      if (ran === 0) return unknown(`no job has ended in the last ${counted(days, 'day')}`);
      if (bypass === 0)
        return ok(`GitLab asked about all of ${counted(ran, 'job')} in ${counted(days, 'day')}`);
      const listed = bypassingRunnerIds.join(', ');
      const named = bypassingRunners === 0 ? '' : `, on ${counted(bypassingRunners, 'runner')}: ${listed}`;
      const more = bypassingRunners > bypassingRunnerIds.length ? ' …' : '';
      const text = `${bypass} of ${counted(ran, 'job')} in ${counted(days, 'day')} passed by${named}${more}`;
      const remedy = 'tollgate coverage lists them with what to do at each runner';
      if (bypass <= ran * (1 - COVERAGE_MIN)) return warning(text, remedy);
      const busy = ran > JOBS_PER_HOUR_MIN * 24 * days;
      return busy ? problem(text, remedy, 'UnadmittedShare') : problem(text, remedy);
    }),

  rejections: ({ rejections, deployed, nowMs }) =>
    known(rejections, ({ recent, week, edits, policyBefore }) => {
      const [share, usual] = [shareOf(recent), shareOf(week)];
      if (recent.decided < DECIDED_MIN || share < usual + JUMP_MIN || share < 2 * usual)
        return ok(
          `${percent(share)} of ${counted(recent.decided, 'decision')} rejected, ${percent(usual)} in the week before`,
        );
      const policy = deployed.known ? deployed.value.policyVersion : undefined;
      const changes = [
        ...(policy !== policyBefore && policyBefore !== undefined ? [`policy ${policy} was deployed`] : []),
        ...edits.map(({ edit, atMs, actor }) => `edit ${edit} by ${actor} ${span(nowMs - atMs)} ago`),
      ];
      return problem(
        `${percent(share)} of ${counted(recent.decided, 'decision')} were rejected, ${percent(usual)} in the week before. Changes before it: ${changes.join(', ') || 'none'}`,
        'runbook: RejectedShare',
        share > 0.5 ? 'RejectedShare' : undefined,
      );
    }),

  rights: (evidence) => {
    const failed = Object.entries(READS_OF).flatMap(([name, what]) => {
      const read = evidence[name as keyof typeof READS_OF];
      return read.known ? [] : [{ ...read, what }];
    });
    const refused = failed.filter(({ cause }) => cause === 'denied');
    if (refused.length > 0)
      return problem(
        `AWS refuses ${[...new Set(refused.map(({ why }) => ACTION.exec(why)?.[1] ?? 'a read'))].join(', ')}: ${refused.map(({ what }) => what).join(', ')}`,
        'the hourly look has its rights from cdk/constructs/table-rights.ts: deploy again; at a terminal, take a role that may read the table',
      );
    if (failed.some(({ cause }) => cause === 'throttled'))
      return problem(
        `DynamoDB throttles: ${failed.map(({ what }) => what).join(', ')}`,
        'runbook: TableThrottled',
        'TableThrottled',
      );
    const readable = Object.keys(READS_OF).length - failed.length;
    return ok(`${readable} of ${Object.keys(READS_OF).length} reads of the table were answered`);
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

// Judges a deployment by its traces and GitLab's side. Pure; each cause is reported once.

export const judgeHealth = (evidence: HealthEvidence): readonly HealthFinding[] =>
  Object.entries({ ...RELAY_CHECKS, ...PART_CHECKS, ...GITLAB_CHECKS }).map(([about, check]) => ({
    about,
    ...check(evidence),
  }));
