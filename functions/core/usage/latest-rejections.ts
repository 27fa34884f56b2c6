/** Which jobs of a group, a project or the instance were rejected last: one bounded list each, of ids. */
import type { Log } from '../environment/index.ts';
import type { Consistency } from '../ledger/index.ts';
import type { UsageChange } from './apply-records.ts';
import { type LatestRejections, type RollupStore, readAt } from './rollup-store.ts';

/** Pages show twenty; a job that was let in later, or whose record is gone, leaves a gap. */
export const REJECTIONS_MAX = 50;
const TRIES_MAX = 3;

interface RejectionsDeps {
  readonly store: Pick<RollupStore, 'readRejections' | 'writeRejections'>;
  readonly log: Log;
}

type Job = LatestRejections['jobs'][number];

/** Puts jobs that were rejected into the lists of all they count for. Doing it twice changes nothing; nothing fails here. */
export async function noteRejections(
  changes: readonly UsageChange[],
  { store, log }: RejectionsDeps,
): Promise<void> {
  let left = jobsBySubject(changes);
  try {
    for (let tries = 1; tries <= TRIES_MAX && left.size > 0; tries += 1)
      left = await noteOnce(left, readAt(tries), store);
    if (left.size > 0) log.warn('rejections not listed', { lists: left.size, error: 'contended' });
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    log.warn('rejections not listed', { lists: left.size, error: name });
  }
}

async function noteOnce(
  bySubject: ReadonlyMap<string, readonly Job[]>,
  consistency: Consistency,
  store: RejectionsDeps['store'],
): Promise<Map<string, readonly Job[]>> {
  const left = new Map<string, readonly Job[]>();
  for (const list of await store.readRejections([...bySubject.keys()], consistency)) {
    const jobs = bySubject.get(list.subject) ?? [];
    const after = withRejected(list, jobs);
    if (JSON.stringify(after.jobs) === JSON.stringify(list.jobs)) continue;
    if (!(await store.writeRejections(after))) left.set(list.subject, jobs);
  }
  return left;
}

/** Latest first; a job that was rejected again appears only with the last time. Pure. */
export function withRejected(list: LatestRejections, jobs: readonly Job[]): LatestRejections {
  const byId = new Map(list.jobs.map((job) => [job.jobId, job]));
  for (const job of jobs) {
    if ((byId.get(job.jobId)?.atMs ?? Number.NEGATIVE_INFINITY) < job.atMs) byId.set(job.jobId, job);
  }
  const latest = [...byId.values()].sort((a, b) => b.atMs - a.atMs || b.jobId - a.jobId);
  return { ...list, jobs: latest.slice(0, REJECTIONS_MAX) };
}

function jobsBySubject(changes: readonly UsageChange[]): Map<string, readonly Job[]> {
  const bySubject = new Map<string, Job[]>();
  for (const { record, after } of changes) {
    if (record.state !== 'REJECTED') continue;
    for (const subject of after.subjects) {
      if (subject.startsWith('runner-class/')) continue;
      const jobs = bySubject.get(subject) ?? [];
      bySubject.set(subject, jobs);
      jobs.push({ jobId: record.jobId, atMs: record.decidedAtMs });
    }
  }
  return bySubject;
}
