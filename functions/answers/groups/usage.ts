/** Use of a subject over days. */

import type { Directory } from '../../../policies/directory.ts';
import { calendarDay, dayNumber } from '../../../policies/limits/calendar.ts';
import type { Policy } from '../../../policies/policy.ts';
import { runnerClassNames } from '../../../policies/price.ts';
import { estimateOfRuns } from '../../../policies/run-history.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { addSumTo, type SheetSum } from '../../core/sheets/sheet-rows.ts';
import { type Caller, placesFor, type ReadContext } from '../reading/context.ts';
import { readSums } from '../reading/read-sums.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { type DaySpan, type DayUsage, dayText, readDays, today } from '../reading/usage-days.ts';
import { classRowsOf } from '../report/candidate-rows.ts';
import { figuresOf } from '../report/read-spend.ts';
import { COUNTED, type Rejections, type UsageDaysView, type UsageQuery, type UsageView } from './model.ts';

const DAYS_DEFAULT = 31;
const DAYS_MAX = 92;

/** One read a day. Undefined: the subject is not visible. @throws {LedgerError} */
export const usageDaysOf =
  (reading: ReadContext) =>
  async ({ subject, days }: UsageQuery, caller: Caller): Promise<UsageDaysView | undefined> => {
    const { directory, scope } = await placesFor(reading, caller);
    if (!scope.sees(subject)) return undefined;
    const { zone, policy } = reading;
    const to = today(zone, reading.clock.nowMs());
    const length = Math.min(DAYS_MAX, Math.max(1, days ?? DAYS_DEFAULT));
    const usage = await readDays([subject], { from: to - length + 1, to }, reading.usage);
    return {
      ...{ subject, path: subjectLabelOf(subject, directory), currency: policy.currency, zone },
      days: (usage.get(subject) ?? []).map(({ day, admitted, ...counts }) => ({
        ...{ day, admitted },
        ...countsOf([counts]),
      })),
    };
  };

type Counts = Pick<DayUsage, (typeof COUNTED)[number]>;

const countsOf = (days: readonly Counts[]): Counts =>
  Object.fromEntries(COUNTED.map((name) => [name, days.reduce((sum, day) => sum + day[name], 0)])) as Counts;

const costOf = (days: readonly Counts[]): number =>
  days.reduce((sum, { settledMicros, heldMicros }) => sum + settledMicros + heldMicros, 0);

/** A day's list has fifty projects: their sums over these days are right for those at the top. */
const TOP_MAX = 20;
/** Projects whose job names are read. */
const PROJECTS_WITH_JOBS_MAX = 5;
/** Lists are read per day; a quarter is enough. */
const TOP_DAYS_MAX = 92;
/** Policies have few classes. */
const CLASSES_MAX = 20;

type UsageReading = Pick<ReadContext, 'usage' | 'sheets' | 'policy'>;

/**
 * Reads a list a day (of groups and the instance), five projects' run histories and, of the instance, every class's days; of
 * a group or project the sheets of four months at most.
 *
 * @param days - the subject's days, which include the span
 * @throws {LedgerError}
 */
export async function usageView(
  subject: string,
  days: readonly DayUsage[],
  span: DaySpan,
  directory: Directory,
  reading: UsageReading,
): Promise<Omit<UsageView, 'rejections'> & { readonly rejections: Omit<Rejections, 'latest'> }> {
  const { policy } = reading;
  const inSpan = days.filter(({ number }) => number >= span.from && number <= span.to);
  const topProjects = await topProjectsOf(subject, span, directory, reading);
  const itself = {
    projectId: Number(subject.split('/')[1]),
    path: subjectLabelOf(subject, directory),
    micros: 0,
  };
  const [topJobs, runnerClasses] = await Promise.all([
    topJobsOf(subject.startsWith('project/') ? [itself] : topProjects, reading),
    // A runner class has no classes.
    subject.startsWith('runner-class/') ? undefined : classesOf(subject, span, reading),
  ]);
  const micros = costOf(inSpan);
  const rest = (rows: readonly { readonly micros: number }[]): number =>
    rows.reduce((left, row) => left - row.micros, micros);
  return {
    ...{ fromDay: dayText(span.from), toDay: dayText(span.to), ...countsOf(inSpan) },
    ...{ topProjects, topJobs, otherProjectsMicros: rest(topProjects), topFromDay: dayText(topFrom(span)) },
    runnerClasses: runnerClasses ?? [],
    otherClassesMicros: runnerClasses === undefined ? 0 : rest(runnerClasses),
    rejections: {
      byRule: jobsByRuleOf('rejectedBy', inSpan, policy),
      watchedByRule: jobsByRuleOf('watchedBy', inSpan, policy),
    },
  };
}

/** Adds up the jobs of each rule, most first. */
export function jobsByRuleOf(
  field: 'rejectedBy' | 'ranRejectedBy' | 'watchedBy',
  days: readonly DayUsage[],
  { rules }: Policy,
): Rejections['byRule'] {
  const jobs = new Map<string, number>();
  for (const day of days)
    for (const [rule, count] of day[field]) jobs.set(rule, (jobs.get(rule) ?? 0) + count);
  return [...jobs]
    .filter(([, count]) => count > 0)
    .sort(([ruleA, a], [ruleB, b]) => b - a || (ruleA < ruleB ? -1 : 1))
    .map(([rule, count]) => {
      const kind = rules.find(({ id }) => id === rule)?.kind;
      return { rule, ...withoutAbsent({ kind }), jobs: count };
    });
}

const topFrom = ({ from, to }: DaySpan): number => Math.max(from, to - TOP_DAYS_MAX + 1);

async function topProjectsOf(
  subject: string,
  span: DaySpan,
  directory: Directory,
  { usage }: UsageReading,
): Promise<UsageView['topProjects']> {
  if (subject !== 'instance' && !subject.startsWith('group/')) return [];
  const first = topFrom(span);
  const keys = Array.from({ length: span.to - first + 1 }, (_, index) => ({
    subject,
    day: dayText(first + index),
  }));
  const micros = new Map<number, number>();
  for (const { projects } of await usage.readTop(keys))
    for (const each of projects) micros.set(each.projectId, (micros.get(each.projectId) ?? 0) + each.micros);
  return [...micros]
    .sort(([idA, a], [idB, b]) => b - a || idA - idB)
    .slice(0, TOP_MAX)
    .map(([projectId, cost]) => ({
      projectId,
      path: subjectLabelOf(`project/${projectId}`, directory),
      micros: cost,
    }));
}

async function topJobsOf(
  projects: UsageView['topProjects'],
  { usage }: UsageReading,
): Promise<UsageView['topJobs']> {
  const some = projects.slice(0, PROJECTS_WITH_JOBS_MAX);
  if (some.length === 0) return [];
  const stored = await usage.readEstimates(some.map(({ projectId }) => projectId));
  return some
    .flatMap(({ projectId, path }, index) =>
      [...(stored[index]?.history ?? [])].flatMap(([key, each]) => {
        const usualSeconds = estimateOfRuns(each);
        // The class comes first, then the name.
        const job = key.slice(key.indexOf('\n') + 1);
        return usualSeconds === undefined ? [] : [{ projectId, path, job, runs: each.runs, usualSeconds }];
      }),
    )
    .sort((a, b) => b.usualSeconds * b.runs - a.usualSeconds * a.runs)
    .slice(0, TOP_MAX);
}

async function classesOf(
  subject: string,
  span: DaySpan,
  reading: UsageReading,
): Promise<UsageView['runnerClasses']> {
  const classes = await (subject === 'instance'
    ? liveClasses(span, reading)
    : packedClasses(subject, span, reading));
  return classes
    .filter(({ jobs }) => jobs > 0)
    .sort((a, b) => b.micros - a.micros)
    .slice(0, CLASSES_MAX);
}

async function liveClasses(
  span: DaySpan,
  { policy, usage }: UsageReading,
): Promise<UsageView['runnerClasses']> {
  const names = [...runnerClassNames(policy.prices)].slice(0, CLASSES_MAX);
  const subjects = names.map((name) => `runner-class/${name}`);
  const read = await readDays(subjects, { from: topFrom(span), to: span.to }, usage);
  return names.map((name) => {
    const days = read.get(`runner-class/${name}`) ?? [];
    const { seconds, jobs } = countsOf(days);
    return { name, micros: costOf(days), seconds, jobs };
  });
}

/** Classes of a group or project, from the records of the nightly runs; jobs without a class are left out. */
async function packedClasses(
  subject: string,
  { from, to }: DaySpan,
  { usage, sheets }: UsageReading,
): Promise<UsageView['runnerClasses']> {
  const { kind = 'subject-class', named, nameOf } = classRowsOf(subject);
  const sums = new Map<number, SheetSum>();
  // A whole month is one read, and so is each day of another.
  const firstOfItsMonth = dayNumber({ ...calendarDay(topFrom({ from, to })), day: 1 });
  await readSums(
    {
      ...{ from: Math.max(from, firstOfItsMonth), to, kind, byDay: false, neverLive: true },
      ...withoutAbsent({ named }),
    },
    { usage, today: to, ...withoutAbsent({ sheets }) },
    (id, sum) => addSumTo(sums, id, sum),
  );
  return [...sums].flatMap(([id, sum]) => {
    const { micros, heldMicros, seconds, jobs } = figuresOf(sum);
    return nameOf(id) === '' ? [] : [{ name: nameOf(id), micros: micros + heldMicros, seconds, jobs }];
  });
}
