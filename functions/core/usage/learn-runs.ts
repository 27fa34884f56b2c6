/** Settled jobs into the run histories of their projects, from which admission estimates. */
import { type JobRun, withRuns } from '../../../policies/run-history.ts';
import type { Log } from '../environment/index.ts';
import type { Consistency } from '../ledger/index.ts';
import type { UsageChange } from './apply-records.ts';
import { type RollupStore, readAt } from './rollup-store.ts';

export interface LearnDeps {
  readonly store: RollupStore;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}

const TRIES_MAX = 3;

/**
 * A run is learned at most once, when its settlement is first counted; one that is lost on the way is one of twenty. So
 * nothing fails here: what does not work is logged and left out.
 */
export async function learnRuns(changes: readonly UsageChange[], deps: LearnDeps): Promise<void> {
  let left = runsByProject(changes);
  for (let tries = 1; tries <= TRIES_MAX && left.size > 0; tries += 1) {
    try {
      left = await learnOnce(left, readAt(tries), deps);
    } catch (error) {
      deps.log.warn('runs not learned', { projects: left.size, error: nameOf(error) });
      return;
    }
  }
  if (left.size > 0) deps.log.warn('runs not learned', { projects: left.size, error: 'contended' });
}

/** @returns entries with a concurrent write */
async function learnOnce(
  runs: ReadonlyMap<number, readonly JobRun[]>,
  consistency: Consistency,
  { store, clock }: LearnDeps,
): Promise<Map<number, readonly JobRun[]>> {
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
}

function runsByProject(changes: readonly UsageChange[]): Map<number, readonly JobRun[]> {
  const runs = new Map<number, readonly JobRun[]>();
  for (const { record, before, after } of changes) {
    const { jobName, projectId, runnerClass } = record.facts;
    const seconds = record.durationSeconds ?? 0;
    if (!after.settled || before?.settled === true || seconds <= 0) continue;
    if (jobName === undefined || projectId === undefined) continue;
    const run = { jobName, runnerClass, seconds, endedAtMs: record.endedAtMs ?? record.decidedAtMs };
    runs.set(projectId, [...(runs.get(projectId) ?? []), run]);
  }
  return runs;
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');
