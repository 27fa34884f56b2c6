/** Share of jobs with an admission request, from the days of usage: one read per group and day, and no record. */

import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { RunnerDetail } from '../../core/gitlab/cached-answers.ts';
import { fallsBack, type RouterAccess, routerAccess } from '../../core/gitlab/runners.ts';
import { type CoverageCounts, sumCoverage } from '../../core/usage/sums.ts';
import { type Caller, pageOf, type ReadContext, readPlaces } from '../reading/context.ts';
import { formatSubjectLabel, type Places, type Scope } from '../reading/scope.ts';
import { dayTexts, lastDays, readTallies } from '../reading/usage-days.ts';
import type { CoverageQuery, CoverageView, CoveredGroup, CoveredRunnerRow } from './model.ts';

/** `100 %` only if every job had a request: rounded down, to a tenth. */
export function coverageShareText(share: number | undefined): string {
  if (share === undefined) return '–';
  const tenths = Math.floor(share * 1_000 + 1e-9);
  return `${tenths % 10 === 0 ? tenths / 10 : (tenths / 10).toFixed(1)} %`;
}

export const COVERAGE_DAYS_MAX = 31;
const DAYS = { usual: 7, max: COVERAGE_DAYS_MAX };
const GROUPS_MAX = 500;
export const COVERED_RUNNERS_MAX = 1_000;
const RUNNERS = { usual: 100, max: COVERED_RUNNERS_MAX };

/** Undefined: the group does not exist or is not visible. @throws {LedgerError} */
export const coverageViewOf =
  (reading: Pick<ReadContext, 'places' | 'usage' | 'zone' | 'clock' | 'runnerDetails'>) =>
  async (query: CoverageQuery, caller: Pick<Caller, 'roles'>): Promise<CoverageView | undefined> => {
    const { places, directory, scope } = await readPlaces(reading, caller);
    const of = subjectsOf(query.group, places, scope);
    if (of === undefined) return undefined;
    const span = lastDays(reading.zone, reading.clock.nowMs(), query.days, DAYS);
    const tallies = await readTallies([...of.tops, ...of.rows], span, reading.usage);
    const coverageOfAll = (subjects: readonly string[]) =>
      sumCoverage(subjects.flatMap((subject) => tallies.get(subject) ?? []));

    const { ranRejected, ...whole } = coverageOfAll(of.tops);
    const total = countsOf(whole);
    const groups = of.rows
      .map((subject): CoveredGroup => {
        const coverage = coverageOfAll([subject]);
        const path = formatSubjectLabel(subject, directory);
        return { subject, path, ...countsOf(coverage), ranRejected: coverage.ranRejected };
      })
      .filter((group) => group.ran > 0 || group.ranRejected > 0)
      .sort(mostBypassFirst);
    // The instance has only runners of jobs without a group; others are listed with their groups.
    const { runners } = coverageOfAll(of.tops[0] === 'instance' ? [...of.tops, ...of.rows] : of.tops);
    const unknownRunner = jobsOf(runners.get('unknown'));
    const named = [...runners]
      .flatMap(([runner, counts]) =>
        typeof runner === 'number' ? [{ runnerId: runner, ...countsOf(counts) }] : [],
      )
      .sort((a, b) => mostBypassFirst(a, b) || a.runnerId - b.runnerId);
    return {
      ...(of.tops.length === 1 && of.tops[0] !== undefined && { subject: of.tops[0] }),
      path: of.tops.map((subject) => formatSubjectLabel(subject, directory)).join(', '),
      ...dayTexts(span),
      total: { ...total, ranRejected },
      ...(total.ran > 0 && total.asked === 0 && { note: NO_REQUESTS }),
      groups,
      otherGroups: without(total, of.rowsAreTops ? [total] : groups),
      ...(await shownRunners(named, query, reading)),
      unknownRunner,
      otherRunners: without(total, [...named, unknownRunner]),
    };
  };

const NO_REQUESTS =
  'GitLab asked about no job at all. Before any runner is changed: `tollgate controller status` shows the connection and the scope of the controller; GitLab needs the feature flags job_router, job_router_instance_runners and job_router_admission_control.';

function subjectsOf(group: number | undefined, { directory, childrenOf, roots }: Places, scope: Scope) {
  const subjects = (some: readonly { readonly id: number }[]): readonly string[] =>
    some.slice(0, GROUPS_MAX).map(({ id }) => `group/${id}`);
  if (group !== undefined) {
    if (!directory.groupById.has(group) || !scope.seesGroup(group)) return undefined;
    return { tops: [`group/${group}`], rows: subjects(childrenOf.get(group) ?? []), rowsAreTops: false };
  }
  if (scope.seesAll) {
    // Each user has a personal namespace: they come last.
    const ordered = roots.toSorted((a, b) => Number(a.personal) - Number(b.personal));
    return { tops: ['instance'], rows: subjects(ordered), rowsAreTops: false };
  }
  const seen = scope.topGroupIds.filter((id) => directory.groupById.has(id));
  const tops = subjects(seen.map((id) => ({ id })));
  return { tops, rows: tops, rowsAreTops: true };
}

type JobCounts = Pick<CoveredGroup, 'ran' | 'asked' | 'bypass'>;

const jobsOf = ({ ran, unasked }: CoverageCounts = { ran: 0, unasked: 0 }): JobCounts => ({
  ran,
  asked: ran - unasked,
  bypass: unasked,
});

function countsOf(counts: CoverageCounts) {
  const jobs = jobsOf(counts);
  const share = jobs.ran > 0 ? jobs.asked / jobs.ran : undefined;
  return { ...jobs, ...withoutAbsent({ share, lastBypassDay: counts.lastUnaskedDay }) };
}

const without = (total: JobCounts, parts: readonly JobCounts[]): JobCounts => {
  const rest = (name: keyof JobCounts): number =>
    parts.reduce((left, part) => left - part[name], total[name]);
  return { ran: rest('ran'), asked: rest('asked'), bypass: rest('bypass') };
};

async function shownRunners(
  rows: readonly CoveredRunnerRow[],
  query: CoverageQuery,
  { runnerDetails }: Pick<ReadContext, 'runnerDetails'>,
): Promise<Pick<CoverageView, 'runners' | 'next' | 'runnersTotal' | 'runnersBypassing'>> {
  const page = pageOf(rows, query, RUNNERS);
  const details: ReadonlyMap<number, RunnerDetail> =
    (await runnerDetails?.(page.rows.map(({ runnerId }) => runnerId))) ?? new Map();
  return {
    runners: page.rows.map((row): CoveredRunnerRow => {
      const detail = details.get(row.runnerId) ?? {};
      return { ...row, ...detail, ...withoutAbsent({ remedy: bypassRemedy(row, detail) }) };
    }),
    ...page.next,
    runnersTotal: rows.length,
    runnersBypassing: rows.filter(({ bypass }) => bypass > 0).length,
  };
}

const mostBypassFirst = (a: JobCounts, b: JobCounts): number => b.bypass - a.bypass || b.ran - a.ran;

/** Returns the remedy for a runner whose jobs bypass Tollgate; GitLab reports no cause. Undefined: all had an admission request. */
export function bypassRemedy(
  { asked, bypass }: Pick<CoveredRunnerRow, 'asked' | 'bypass'>,
  { version }: RunnerDetail,
): string | undefined {
  if (bypass === 0) return undefined;
  const access = routerAccess(version);
  if (access === 'none') return `${version} ${TOO_OLD} ${IN_CONFIG}`;
  if (asked === 0) return REMEDIES[access];
  return access === 'unknown' || fallsBack(version) ? `${AT_TIMES} ${FALLS_BACK}` : AT_TIMES;
}

const lower = (sentence: string): string => `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
const IN_ENVIRONMENT =
  'Set the environment variable FF_USE_JOB_ROUTER=true for the gitlab-runner process, and restart it.';
const IN_CONFIG = 'Set FF_USE_JOB_ROUTER = true under [runners.feature_flags] of this runner in config.toml.';
const TOO_OLD = 'does not know the job router: upgrade GitLab Runner to 18.11 or later.';
const REMEDIES: Readonly<Record<Exclude<RouterAccess, 'none'>, string>> = {
  environment: IN_ENVIRONMENT,
  feature_flag: IN_CONFIG,
  unknown: `Its version is not known. From 18.11: ${lower(IN_CONFIG)} 18.9 and 18.10: ${lower(IN_ENVIRONMENT)} Before 18.9: upgrade.`,
};
const AT_TIMES =
  'Some of its jobs were asked about: look for a host that shares its token and has no FF_USE_JOB_ROUTER, or an older version.';
const FALLS_BACK =
  'From about 19.2 a runner also goes past the job router while that does not answer: its metric gitlab_runner_job_router_fallbacks_total counts that.';
