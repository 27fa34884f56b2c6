/** Asked ÷ ran, from the days of usage: one read per group and day, and no record. */
import type { RunnerDetail } from '../../core/gitlab/index.ts';
import {
  type CoverageCounts,
  type CoveredRunner,
  coverageOfDays,
  type RollupStore,
  type UsageTally,
} from '../../core/usage/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, type Places, type Scope, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { type DaySpan, dayText, today } from '../reading/usage-days.ts';
import type { Viewer } from '../reading/viewer.ts';
import { bypassRemedy } from './bypass-remedy.ts';
import type { CoverageQuery, CoverageView, CoveredGroup, CoveredRunnerRow } from './model.ts';

const DAYS_DEFAULT = 7;
export const COVERAGE_DAYS_MAX = 31;
const GROUPS_MAX = 500;
const RUNNERS_DEFAULT = 100;
export const COVERED_RUNNERS_MAX = 1_000;

/** Undefined: there is no such group, or it is not theirs to see. @throws {LedgerError} */
export const coverageViewOf =
  (reading: Pick<ReadContext, 'places' | 'usage' | 'zone' | 'clock' | 'runnerDetails'>) =>
  async (asked: CoverageQuery, viewer: Viewer): Promise<CoverageView | undefined> => {
    const places = (await reading.places()) ?? NOWHERE;
    const scope = scopeOf(viewer.roles, places.directory);
    const of = subjectsOf(asked.group, places, scope);
    if (of === undefined) return undefined;
    const days = Math.min(COVERAGE_DAYS_MAX, Math.max(1, asked.days ?? DAYS_DEFAULT));
    const to = today(reading.zone, reading.clock.nowMs());
    const span = { from: to - days + 1, to };
    const tallies = await readTallies([...of.tops, ...of.rows], span, reading.usage);
    const coverageOfAll = (subjects: readonly string[]) =>
      coverageOfDays(subjects.flatMap((subject) => tallies.get(subject) ?? []));

    const { ranRejected, ...whole } = coverageOfAll(of.tops);
    const total = countsOf(whole);
    const groups = of.rows
      .map((subject): CoveredGroup => {
        const coverage = coverageOfAll([subject]);
        const path = subjectLabelOf(subject, places.directory);
        return { subject, path, ...countsOf(coverage), ranRejected: coverage.ranRejected };
      })
      .filter(({ ran, ranRejected }) => ran > 0 || ranRejected > 0)
      .sort(mostBypassFirst);
    // The instance lists only runners of jobs without a group; others are listed with their groups.
    const { runners } = coverageOfAll(of.tops[0] === 'instance' ? [...of.tops, ...of.rows] : of.tops);
    const shown = await shownRunners(runners, asked, reading);
    const unknownRunner = jobsOf(runners.get('unknown'));
    const named = [...runners].flatMap(([runner, counts]) =>
      typeof runner === 'number' ? [jobsOf(counts)] : [],
    );
    return {
      ...(of.tops.length === 1 && of.tops[0] !== undefined && { subject: of.tops[0] }),
      path: of.tops.map((subject) => subjectLabelOf(subject, places.directory)).join(', '),
      fromDay: dayText(span.from),
      toDay: dayText(span.to),
      total: { ...total, ranRejected },
      ...(total.ran > 0 && total.asked === 0 && { note: NOBODY_ASKS }),
      groups,
      otherGroups: without(total, of.rowsAreTops ? [total] : groups),
      ...shown,
      unknownRunner,
      otherRunners: without(total, [...named, unknownRunner]),
    };
  };

const NOBODY_ASKS =
  'GitLab asked about no job at all. Before any runner is changed: `tollgate controller status` tells whether the controller is connected and in whose scope; GitLab needs the feature flags job_router, job_router_instance_runners and job_router_admission_control.';

interface DayTally {
  readonly day: string;
  readonly tally: UsageTally;
}

/** Twenty parallel requests of a hundred keys. */
const PART_KEYS = 2_000;

/** The days of each subject, for {@link coverageOfDays}: one read per subject and day. @throws {LedgerError} */
async function readTallies(
  subjects: readonly string[],
  { from, to }: DaySpan,
  store: Pick<RollupStore, 'readUsage'>,
): Promise<ReadonlyMap<string, readonly DayTally[]>> {
  const days = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => dayText(from + index));
  const keys = [...new Set(subjects)].flatMap((subject) => days.map((day) => ({ subject, day })));
  const tallies = new Map<string, DayTally[]>();
  for (let start = 0; start < keys.length; start += PART_KEYS) {
    const part = keys.slice(start, start + PART_KEYS);
    const read = await store.readUsage(part);
    for (const [index, { subject, day }] of part.entries()) {
      const tally = read[index];
      if (tally === undefined || tally.size === 0) continue;
      const known = tallies.get(subject) ?? [];
      tallies.set(subject, known);
      known.push({ day, tally });
    }
  }
  return tallies;
}

interface CoveredSubjects {
  /** Parts of the total; none is below another. */
  readonly tops: readonly string[];
  readonly rows: readonly string[];
  readonly rowsAreTops: boolean;
}

function subjectsOf(
  group: number | undefined,
  { directory, childrenOf, groups }: Places,
  scope: Scope,
): CoveredSubjects | undefined {
  const subjects = (ids: readonly number[]): readonly string[] =>
    ids.slice(0, GROUPS_MAX).map((id) => `group/${id}`);
  if (group !== undefined) {
    if (!directory.groupById.has(group) || !scope.seesGroup(group)) return undefined;
    const rows = subjects((childrenOf.get(group) ?? []).map(({ id }) => id));
    return { tops: [`group/${group}`], rows, rowsAreTops: false };
  }
  if (scope.seesAll) {
    const roots = groups.filter(({ parentId }) => parentId === undefined);
    // There is a personal namespace for each user: they come last.
    const ordered = [
      ...roots.filter(({ personal }) => !personal),
      ...roots.filter(({ personal }) => personal),
    ];
    return { tops: ['instance'], rows: subjects(ordered.map(({ id }) => id)), rowsAreTops: false };
  }
  const seen = [...scope.groupIds].filter((id) => directory.groupById.has(id));
  const isBelowAnother = (id: number): boolean =>
    (directory.chainById.get(id) ?? []).some((above) => above.id !== id && scope.groupIds.has(above.id));
  const tops = subjects(seen.filter((id) => !isBelowAnother(id)));
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
  const { lastUnaskedDay } = counts;
  return {
    ...jobs,
    ...(jobs.ran > 0 && { share: jobs.asked / jobs.ran }),
    ...(lastUnaskedDay !== undefined && { lastBypassDay: lastUnaskedDay }),
  };
}

const without = (total: JobCounts, parts: readonly JobCounts[]): JobCounts => {
  const rest = (name: keyof JobCounts): number =>
    parts.reduce((left, part) => left - part[name], total[name]);
  return { ran: rest('ran'), asked: rest('asked'), bypass: rest('bypass') };
};

async function shownRunners(
  runners: ReadonlyMap<CoveredRunner, CoverageCounts>,
  { cursor, max }: CoverageQuery,
  { runnerDetails }: Pick<ReadContext, 'runnerDetails'>,
): Promise<Pick<CoverageView, 'runners' | 'next' | 'runnersTotal' | 'runnersBypassing'>> {
  const rows = [...runners]
    .flatMap(([runner, counts]) =>
      typeof runner === 'number' ? [{ runnerId: runner, ...countsOf(counts) }] : [],
    )
    .sort((a, b) => mostBypassFirst(a, b) || a.runnerId - b.runnerId);
  const start = cursor !== undefined && /^\d{1,7}$/.test(cursor) ? Number(cursor) : 0;
  const length = Math.min(COVERED_RUNNERS_MAX, Math.max(1, max ?? RUNNERS_DEFAULT));
  const page = rows.slice(start, start + length);
  const details: ReadonlyMap<number, RunnerDetail> =
    (await runnerDetails?.(page.map(({ runnerId }) => runnerId))) ?? new Map();
  return {
    runners: page.map((row): CoveredRunnerRow => {
      const detail = details.get(row.runnerId) ?? {};
      return { ...row, ...detail, ...bypassRemedy(row, detail) };
    }),
    ...(start + length < rows.length && { next: String(start + length) }),
    runnersTotal: rows.length,
    runnersBypassing: rows.filter(({ bypass }) => bypass > 0).length,
  };
}

const mostBypassFirst = (a: JobCounts, b: JobCounts): number => b.bypass - a.bypass || b.ran - a.ran;
