/** Lists next to usage: dearest projects, latest rejections, run histories. Failures are logged: no charge depends on them. */
import { type JobRun, withRuns } from '../../../policies/run-history.ts';
import { errorName, type Log } from '../environment/environment.ts';
import type { Consistency } from '../ledger/store.ts';
import type { UsageChange } from './contribution.ts';
import type { RollupStore } from './rollup-store.ts';
import { type UsageKey, usageName } from './usage.ts';

export interface ListDeps {
  readonly store: RollupStore;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}

const TRIES_MAX = 3;

/** The first read may be stale and costs half; a try after a refused write reads consistently. */
async function updateLists<Key, Change, List>(
  what: string,
  changes: ReadonlyMap<Key, Change>,
  log: Log,
  read: (left: ReadonlyMap<Key, Change>, consistency: Consistency) => Promise<readonly List[]>,
  write: (list: List, change: Change, key: Key) => Promise<boolean>,
): Promise<void> {
  let left = changes;
  try {
    for (let tries = 1; tries <= TRIES_MAX && left.size > 0; tries += 1) {
      const lists = await read(left, tries === 1 ? 'eventual' : 'consistent');
      const again = new Map<Key, Change>();
      for (const [index, [key, change]] of [...left].entries())
        if (!(await write(lists[index] as List, change, key))) again.set(key, change);
      left = again;
    }
    if (left.size > 0) log.warn(what, { lists: left.size, error: 'contended' });
  } catch (error) {
    log.warn(what, { lists: left.size, error: errorName(error) });
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Pages show twenty projects; the others wait in case one above them shrinks. */
const TOP_MAX = 50;
const PROJECT = 'project/';

/** Totals, not differences. A project that fell off a list comes back with its next job. */
export function updateTopProjects(
  changes: readonly UsageChange[],
  { store, log }: Pick<ListDeps, 'store' | 'log'>,
): Promise<void> {
  const totals = new Map<string, number>();
  return updateLists(
    'top projects not updated',
    changedLists(changes),
    log,
    async (lists, consistency) => {
      // The lists first: a total read later is never older than one that is in the list already.
      const tops = await store.readTop(
        [...lists.values()].map(({ key }) => key),
        consistency,
      );
      const projects = new Map<string, UsageKey>();
      for (const { key, projects: changed } of lists.values())
        for (const subject of changed) projects.set(usageName({ ...key, subject }), { ...key, subject });
      const tallies = await store.readUsage([...projects.values()]);
      for (const [index, name] of [...projects.keys()].entries()) {
        const tally = tallies[index];
        totals.set(name, (tally?.get('settledMicros') ?? 0) + (tally?.get('heldMicros') ?? 0));
      }
      return tops;
    },
    async (top, { key, projects }) => {
      const all = new Map(top.projects.map(({ projectId, micros }) => [projectId, micros]));
      for (const subject of projects)
        all.set(Number(subject.slice(PROJECT.length)), totals.get(usageName({ ...key, subject })) ?? 0);
      const after = [...all]
        .map(([projectId, micros]) => ({ projectId, micros }))
        .filter(({ micros }) => micros > 0)
        .sort((a, b) => b.micros - a.micros || a.projectId - b.projectId)
        .slice(0, TOP_MAX);
      return isSame(after, top.projects) || store.writeTop({ ...top, projects: after });
    },
  );
}

function changedLists(changes: readonly UsageChange[]) {
  const lists = new Map<string, { readonly key: UsageKey; readonly projects: Set<string> }>();
  for (const { before, after } of changes) {
    for (const { day, subjects } of before ? [before, after] : [after]) {
      const project = subjects.find((subject) => subject.startsWith(PROJECT));
      if (project === undefined) continue;
      for (const subject of subjects) {
        if (subject !== 'instance' && !subject.startsWith('group/')) continue;
        const key = { subject, day };
        const list = lists.get(usageName(key)) ?? { key, projects: new Set() };
        lists.set(usageName(key), list);
        list.projects.add(project);
      }
    }
  }
  return lists;
}

/** Pages show twenty rejections; a job that was admitted later, or whose record is gone, leaves a gap. */
const REJECTIONS_MAX = 50;

/** Latest first; a job that was rejected again appears only with the last time. */
export const noteRejections = (
  changes: readonly UsageChange[],
  {
    store,
    log,
  }: { readonly store: Pick<RollupStore, 'readRejections' | 'writeRejections'>; readonly log: Log },
): Promise<void> => {
  const rejected = changes
    .filter(({ record }) => record.state === 'REJECTED')
    .flatMap(({ record: { jobId, decidedAtMs }, after }) =>
      after.subjects
        .filter((subject) => !subject.startsWith('runner-class/'))
        .map((subject) => ({ subject, job: { jobId, atMs: decidedAtMs } })),
    );
  return updateLists(
    'rejections not listed',
    Map.groupBy(rejected, ({ subject }) => subject),
    log,
    (bySubject, consistency) => store.readRejections([...bySubject.keys()], consistency),
    async (list, jobs) => {
      const byId = new Map(list.jobs.map((job) => [job.jobId, job]));
      for (const { job } of jobs)
        if ((byId.get(job.jobId)?.atMs ?? Number.NEGATIVE_INFINITY) < job.atMs) byId.set(job.jobId, job);
      const latest = [...byId.values()].sort((a, b) => b.atMs - a.atMs || b.jobId - a.jobId);
      const after = latest.slice(0, REJECTIONS_MAX);
      return isSame(after, list.jobs) || store.writeRejections({ ...list, jobs: after });
    },
  );
};

/** A run is learned at most once, when its settlement is first counted; a lost one is one of twenty. */
export const learnRuns = (changes: readonly UsageChange[], { store, clock, log }: ListDeps): Promise<void> =>
  updateLists(
    'runs not learned',
    Map.groupBy(changes.flatMap(learnableRuns), ({ projectId }) => projectId),
    log,
    (runs, consistency) => store.readEstimates([...runs.keys()], consistency),
    ({ history, rev }, runs, projectId) =>
      store.writeEstimates(projectId, { history: withRuns(history, runs), rev }, clock.nowMs()),
  );

function learnableRuns({
  record,
  before,
  after,
}: UsageChange): readonly (JobRun & { readonly projectId: number })[] {
  const { jobName, projectId, runnerClass } = record.facts;
  const { durationSeconds: seconds = 0, endedAtMs = record.decidedAtMs } = record;
  if (!after.settled || before?.settled === true || seconds <= 0) return [];
  if (jobName === undefined || projectId === undefined) return [];
  return [{ projectId, jobName, runnerClass, seconds, endedAtMs }];
}
