/** A subject's use over days, with details. */

import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { runnerClassNames } from '../../../policies/prices/price.ts';
import { estimateOfRuns, type ProjectHistory } from '../../../policies/run-history.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { RollupStore } from '../../core/usage/index.ts';
import type { SumSource } from '../reading/read-sums.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { type DaySpan, type DayUsage, dayText, readDays } from '../reading/usage-days.ts';
import type { UsageView } from './model.ts';
import { packedClasses } from './packed-classes.ts';
import { rejectedByRule, watchedByRule } from './rejections.ts';

/** A day's list has fifty projects: their sums over these days are right for those at the top. */
const TOP_MAX = 20;
/** Projects whose job names are looked at, and names kept of each. */
const PROJECTS_WITH_JOBS_MAX = 5;
/** Lists are read per day; a quarter is enough. */
const TOP_DAYS_MAX = 92;
/** Classes of a policy are few; if there are more, these are shown. */
const CLASSES_MAX = 20;

interface UsageFrom {
  readonly directory: Directory;
  readonly policy: Policy;
  readonly store: Pick<RollupStore, 'readUsage' | 'readTop' | 'readEstimates'>;
  /** Absent: usage is not packed, and classes of groups are unknown. */
  readonly sheets?: SumSource['sheets'];
}

/**
 * Reads a list a day (of groups and the instance), five projects' run histories and, of the instance, every class's days; of a group
 * or project the sheets of four months at most.
 * @param days - of the span, read already.
 * @throws {LedgerError}
 */
export async function usageView(
  subject: string,
  days: readonly DayUsage[],
  span: DaySpan,
  { directory, policy, store, sheets }: UsageFrom,
): Promise<Omit<UsageView, 'rejections'> & { readonly rejections: Omit<UsageView['rejections'], 'latest'> }> {
  const inSpan = days.filter(({ number }) => number >= span.from && number <= span.to);
  const sum = (of: (day: DayUsage) => number): number => inSpan.reduce((total, day) => total + of(day), 0);
  const topProjects = await topProjectsOf(subject, span, directory, store);
  const [topJobs, runnerClasses] = await Promise.all([
    topJobsOf(topProjects.length > 0 ? topProjects : projectItself(subject, directory), store),
    classesOf(subject, span, { policy, store, ...withoutAbsent({ sheets }) }),
  ]);
  const micros = sum((day) => day.settledMicros + day.heldMicros);
  const listed = (rows: readonly { readonly micros: number }[]): number =>
    rows.reduce((total, row) => total + row.micros, 0);
  return {
    fromDay: dayText(span.from),
    toDay: dayText(span.to),
    jobs: sum((day) => day.jobs),
    rejected: sum((day) => day.rejected),
    ranRejected: sum((day) => day.ranRejected),
    unmetered: sum((day) => day.unmetered),
    bypass: sum((day) => day.bypass),
    exempt: sum((day) => day.exempt),
    settledMicros: sum((day) => day.settledMicros),
    heldMicros: sum((day) => day.heldMicros),
    seconds: sum((day) => day.seconds),
    topProjects,
    otherProjectsMicros: micros - listed(topProjects),
    topFromDay: dayText(topFrom(span)),
    topJobs,
    runnerClasses,
    otherClassesMicros: hasClasses(subject) ? micros - listed(runnerClasses) : 0,
    rejections: { byRule: rejectedByRule(inSpan, policy), watchedByRule: watchedByRule(inSpan, policy) },
  };
}

const topFrom = ({ from, to }: DaySpan): number => Math.max(from, to - TOP_DAYS_MAX + 1);

async function topProjectsOf(
  subject: string,
  span: DaySpan,
  directory: Directory,
  store: UsageFrom['store'],
): Promise<UsageView['topProjects']> {
  if (subject !== 'instance' && !subject.startsWith('group/')) return [];
  const first = topFrom(span);
  const keys = Array.from({ length: span.to - first + 1 }, (_, index) => ({
    subject,
    day: dayText(first + index),
  }));
  const micros = new Map<number, number>();
  for (const { projects } of await store.readTop(keys))
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

function projectItself(subject: string, directory: Directory): UsageView['topProjects'] {
  const [kind, id] = subject.split('/');
  return kind === 'project'
    ? [{ projectId: Number(id), path: subjectLabelOf(subject, directory), micros: 0 }]
    : [];
}

async function topJobsOf(
  projects: UsageView['topProjects'],
  store: UsageFrom['store'],
): Promise<UsageView['topJobs']> {
  const some = projects.slice(0, PROJECTS_WITH_JOBS_MAX);
  if (some.length === 0) return [];
  const stored = await store.readEstimates(some.map(({ projectId }) => projectId));
  return some
    .flatMap(({ projectId, path }, index) =>
      jobsOf(stored[index]?.history).map((job) => ({ projectId, path, ...job })),
    )
    .sort((a, b) => b.usualSeconds * b.runs - a.usualSeconds * a.runs)
    .slice(0, TOP_MAX);
}

function jobsOf(history: ProjectHistory | undefined) {
  return [...(history ?? [])].flatMap(([key, each]) => {
    const usualSeconds = estimateOfRuns(each);
    // The class comes first, then the name.
    const job = key.slice(key.indexOf('\n') + 1);
    return usualSeconds === undefined ? [] : [{ job, runs: each.runs, usualSeconds }];
  });
}

/** A runner class is one itself. */
const hasClasses = (subject: string): boolean => !subject.startsWith('runner-class/');

async function classesOf(
  subject: string,
  span: DaySpan,
  { policy, store, sheets }: Omit<UsageFrom, 'directory'>,
): Promise<UsageView['runnerClasses']> {
  if (!hasClasses(subject)) return [];
  const classes =
    subject === 'instance'
      ? await countedClasses(span, policy, store)
      : await packedClasses(subject, span, topFrom(span), {
          usage: store,
          today: span.to,
          ...withoutAbsent({ sheets }),
        });
  return classes
    .filter(({ jobs }) => jobs > 0)
    .sort((a, b) => b.micros - a.micros)
    .slice(0, CLASSES_MAX);
}

async function countedClasses(
  span: DaySpan,
  { prices }: Policy,
  store: UsageFrom['store'],
): Promise<UsageView['runnerClasses']> {
  const names = [...runnerClassNames(prices)].slice(0, CLASSES_MAX);
  const subjects = names.map((name) => `runner-class/${name}`);
  const first = topFrom(span);
  const usage = await readDays(subjects, { from: first, to: span.to }, store);
  return names.map((name) => {
    const days = usage.get(`runner-class/${name}`) ?? [];
    const sum = (of: (day: DayUsage) => number): number => days.reduce((total, day) => total + of(day), 0);
    return {
      name,
      micros: sum((day) => day.settledMicros + day.heldMicros),
      seconds: sum((day) => day.seconds),
      jobs: sum((day) => day.jobs),
    };
  });
}
