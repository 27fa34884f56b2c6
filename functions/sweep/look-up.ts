/**
 * What GitLab says about many jobs, at as few calls as its REST API allows: the lists of runners that have several
 * of them, then one by one. The router does not always tell the runner; each job asked about tells one, whose list may
 * show the next hundred.
 */

import { atOnce } from '../core/environment/index.ts';
import type { JobTruth } from '../core/gitlab/index.ts';
import type { SweepGitLab } from './asking.ts';
import { type AskableJob, type FoundHandler, listRecent, listRunning } from './list-runner.ts';

interface LookUpOptions {
  /** Lists a runner's running jobs before its recent ones: for jobs that most likely still run. */
  readonly runningFirst: boolean;
  /** Runners whose running jobs were listed already; added to. */
  readonly listed?: Set<number>;
  readonly onOther?: (truth: JobTruth) => void;
}

/** GitLab answers in some 100 ms: sixteen at once are 160 calls a second at most, and no flood. */
export const CALLS_AT_ONCE = 16;
/** So many jobs are asked about before the runners they told are listed. */
const BATCH = 32;
/** So many lists in a row that showed nothing: a fleet with a runner per job. */
const VAIN_MAX = 8;

/**
 * Calls `found` once for every hold that GitLab said something about or failed at. The order of `holds` is kept where
 * jobs are asked about one by one.
 *
 * @returns holds that were not asked about: out of time or calls, or `askable` says no.
 */
export async function lookUp<Job extends AskableJob>(
  holds: readonly Job[],
  asking: SweepGitLab,
  found: FoundHandler<Job>,
  options: LookUpOptions,
): Promise<readonly Job[]> {
  const left = new Map(holds.map((hold) => [hold.jobId, hold]));
  const listed = new Set<number>();

  const list = async (runnerId: number, wanted: Map<number, Job>): Promise<number> => {
    listed.add(runnerId);
    const taken: FoundHandler<Job> = async (hold, answer) => {
      left.delete(hold.jobId);
      await found(hold, answer);
    };
    let count = 0;
    if (options.runningFirst && options.listed?.has(runnerId) !== true) {
      options.listed?.add(runnerId);
      count += await listRunning(runnerId, wanted, asking, taken, options.onOther);
    }
    if (wanted.size > 1) count += await listRecent(runnerId, wanted, asking, taken);
    return count;
  };

  await atOnce([...byRunner(holds)], CALLS_AT_ONCE, async ([runnerId, wanted]) => {
    if (wanted.size > 1) await list(runnerId, wanted);
  });

  for (let vain = 0; ; ) {
    const batch = [...left.values()].filter(isAskable).slice(0, BATCH);
    if (batch.length === 0 || !asking.mayAsk()) break;
    const told = await askOneByOne(batch, left, asking, found);
    for (const runnerId of told) {
      const wanted = new Map([...left].filter(([, hold]) => hold.runnerId === undefined));
      if (listed.has(runnerId) || wanted.size < 2 || vain >= VAIN_MAX) continue;
      vain = (await list(runnerId, wanted)) === 0 ? vain + 1 : 0;
    }
  }
  return [...left.values()];
}

const isAskable = ({ projectId }: AskableJob): boolean => projectId !== undefined;

function byRunner<Job extends AskableJob>(holds: readonly Job[]): Map<number, Map<number, Job>> {
  const groups = new Map<number, Map<number, Job>>();
  for (const hold of holds) {
    if (hold.runnerId === undefined) continue;
    const group = groups.get(hold.runnerId) ?? new Map<number, Job>();
    groups.set(hold.runnerId, group.set(hold.jobId, hold));
  }
  return groups;
}

/** @returns the runners that GitLab named. */
async function askOneByOne<Job extends AskableJob>(
  batch: readonly Job[],
  left: Map<number, Job>,
  asking: SweepGitLab,
  found: FoundHandler<Job>,
): Promise<ReadonlySet<number>> {
  const told = new Set<number>();
  await atOnce(batch, CALLS_AT_ONCE, async (hold) => {
    if (hold.projectId === undefined) return;
    const answer = await asking.job(hold.projectId, hold.jobId);
    if (answer.kind === 'unasked') return;
    left.delete(hold.jobId);
    if (answer.kind === 'said' && answer.value?.runnerId !== undefined) told.add(answer.value.runnerId);
    await found(hold, answer);
  });
  return told;
}
