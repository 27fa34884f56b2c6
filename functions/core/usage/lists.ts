/** Lists next to usage: dearest projects, latest rejections, run histories. Failures are logged: no charge depends on them. */
import { type JobRun, withRuns } from '../../../policies/run-history.ts';
import type { Log } from '../environment/environment.ts';
import type { Consistency } from '../ledger/store.ts';
import type { UsageChange } from './contribution.ts';
import type { LatestRejections, RollupStore, TopProjects } from './rollup-store.ts';
import { type UsageKey, usageName } from './usage.ts';

export interface ListDeps {
  readonly store: RollupStore;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}

const TRIES_MAX = 3;

/** The first read may be stale and costs half; a try after a refused write reads consistently. */
async function withTries<Key, Value>(
  what: string,
  all: ReadonlyMap<Key, Value>,
  log: Log,
  work: (left: ReadonlyMap<Key, Value>, consistency: Consistency) => Promise<ReadonlyMap<Key, Value>>,
): Promise<void> {
  let left = all;
  try {
    for (let tries = 1; tries <= TRIES_MAX && left.size > 0; tries += 1)
      left = await work(left, tries === 1 ? 'eventual' : 'consistent');
    if (left.size > 0) log.warn(what, { lists: left.size, error: 'contended' });
  } catch (error) {
    log.warn(what, { lists: left.size, error: error instanceof Error ? error.name : 'unknown' });
  }
}

function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Pages show twenty projects; the others wait in case one above them shrinks. */
const TOP_MAX = 50;
const PROJECT = 'project/';

interface ChangedList {
  readonly key: UsageKey;
  readonly projectIds: ReadonlySet<number>;
}

/** Totals, not differences. A project that fell off a list comes back with its next job. */
export const updateTopProjects = (
  changes: readonly UsageChange[],
  { store, log }: Pick<ListDeps, 'store' | 'log'>,
): Promise<void> =>
  withTries('top projects not updated', changedLists(changes), log, async (lists, consistency) => {
    const keys = [...lists.values()].map(({ key }) => key);
    // The lists first: a total read later is never older than one that is in the list already.
    const tops = await store.readTop(keys, consistency);
    const projects = new Map<string, UsageKey>();
    for (const { key, projectIds } of lists.values())
      for (const id of projectIds) {
        const project = { subject: `${PROJECT}${id}`, day: key.day };
        projects.set(usageName(project), project);
      }
    const tallies = await store.readUsage([...projects.values()]);
    const totals = new Map(
      [...projects.keys()].map((name, index) => {
        const tally = tallies[index];
        return [name, (tally?.get('settledMicros') ?? 0) + (tally?.get('heldMicros') ?? 0)];
      }),
    );
    const left = new Map<string, ChangedList>();
    for (const [index, [name, list]] of [...lists].entries()) {
      const top = tops[index];
      if (top === undefined) continue;
      const changed = [...list.projectIds].map((projectId) => ({
        projectId,
        micros: totals.get(usageName({ subject: `${PROJECT}${projectId}`, day: list.key.day })) ?? 0,
      }));
      const after = withTotals(top, changed);
      if (!isSame(after.projects, top.projects) && !(await store.writeTop(after))) left.set(name, list);
    }
    return left;
  });

function withTotals(top: TopProjects, totals: TopProjects['projects']): TopProjects {
  const all = new Map([...top.projects, ...totals].map(({ projectId, micros }) => [projectId, micros]));
  const projects = [...all]
    .map(([projectId, micros]) => ({ projectId, micros }))
    .filter(({ micros }) => micros > 0)
    .sort((a, b) => b.micros - a.micros || a.projectId - b.projectId)
    .slice(0, TOP_MAX);
  return { ...top, projects };
}

function changedLists(changes: readonly UsageChange[]): ReadonlyMap<string, ChangedList> {
  const lists = new Map<string, { readonly key: UsageKey; readonly projectIds: Set<number> }>();
  for (const { before, after } of changes) {
    for (const { day, subjects } of before ? [before, after] : [after]) {
      const project = subjects.find((subject) => subject.startsWith(PROJECT));
      if (project === undefined) continue;
      for (const subject of subjects) {
        if (subject !== 'instance' && !subject.startsWith('group/')) continue;
        const key = { subject, day };
        const list = lists.get(usageName(key)) ?? { key, projectIds: new Set() };
        lists.set(usageName(key), list);
        list.projectIds.add(Number(project.slice(PROJECT.length)));
      }
    }
  }
  return lists;
}

/** Pages show twenty rejections; a job that was admitted later, or whose record is gone, leaves a gap. */
const REJECTIONS_MAX = 50;

type RejectedJob = LatestRejections['jobs'][number];

export const noteRejections = (
  changes: readonly UsageChange[],
  {
    store,
    log,
  }: { readonly store: Pick<RollupStore, 'readRejections' | 'writeRejections'>; readonly log: Log },
): Promise<void> =>
  withTries('rejections not listed', rejectedBySubject(changes), log, async (bySubject, consistency) => {
    const left = new Map<string, readonly RejectedJob[]>();
    for (const list of await store.readRejections([...bySubject.keys()], consistency)) {
      const jobs = bySubject.get(list.subject) ?? [];
      const after = withRejected(list, jobs);
      if (!isSame(after.jobs, list.jobs) && !(await store.writeRejections(after)))
        left.set(list.subject, jobs);
    }
    return left;
  });

/** Latest first; a job that was rejected again appears only with the last time. */
function withRejected(list: LatestRejections, jobs: readonly RejectedJob[]): LatestRejections {
  const byId = new Map(list.jobs.map((job) => [job.jobId, job]));
  for (const job of jobs) {
    if ((byId.get(job.jobId)?.atMs ?? Number.NEGATIVE_INFINITY) < job.atMs) byId.set(job.jobId, job);
  }
  const latest = [...byId.values()].sort((a, b) => b.atMs - a.atMs || b.jobId - a.jobId);
  return { ...list, jobs: latest.slice(0, REJECTIONS_MAX) };
}

function rejectedBySubject(changes: readonly UsageChange[]): ReadonlyMap<string, readonly RejectedJob[]> {
  const bySubject = new Map<string, RejectedJob[]>();
  for (const { record, after } of changes) {
    if (record.state !== 'REJECTED') continue;
    for (const subject of after.subjects)
      if (!subject.startsWith('runner-class/'))
        addTo(bySubject, subject, { jobId: record.jobId, atMs: record.decidedAtMs });
  }
  return bySubject;
}

/** A run is learned at most once, when its settlement is first counted; a lost one is one of twenty. */
export const learnRuns = (changes: readonly UsageChange[], { store, clock, log }: ListDeps): Promise<void> =>
  withTries('runs not learned', runsByProject(changes), log, async (runs, consistency) => {
    const left = new Map<number, readonly JobRun[]>();
    const projectIds = [...runs.keys()];
    const stored = await store.readEstimates(projectIds, consistency);
    for (const [index, projectId] of projectIds.entries()) {
      const { history, rev } = stored[index] ?? { history: new Map(), rev: 0 };
      const mine = runs.get(projectId) ?? [];
      const after = { history: withRuns(history, mine), rev };
      if (!(await store.writeEstimates(projectId, after, clock.nowMs()))) left.set(projectId, mine);
    }
    return left;
  });

function runsByProject(changes: readonly UsageChange[]): ReadonlyMap<number, readonly JobRun[]> {
  const runs = new Map<number, JobRun[]>();
  for (const { record, before, after } of changes) {
    const { jobName, projectId, runnerClass } = record.facts;
    const seconds = record.durationSeconds ?? 0;
    if (!after.settled || before?.settled === true || seconds <= 0) continue;
    if (jobName === undefined || projectId === undefined) continue;
    addTo(runs, projectId, {
      ...{ jobName, runnerClass, seconds },
      endedAtMs: record.endedAtMs ?? record.decidedAtMs,
    });
  }
  return runs;
}
