/** Jobs that run without an admission: they can only be charged at their end, wherever lists show it, or nowhere. */

import { atOnce } from '../core/environment/index.ts';
import { isTerminal, type JobTruth } from '../core/gitlab/index.ts';
import { isUnderWay, judgePage } from './judge-page.ts';
import { CALLS_AT_ONCE } from './look-up.ts';
import type { SweepRun } from './sweep-run.ts';

/**
 * About 25 KB of the checkpoints. More means that GitLab does not ask at all; then checkpoints wait until
 * some have ended.
 */
const OPEN_MAX = 2_000;
/** Those that no list shows cost a call each; the others of a run can wait a minute. */
const ASKED_MAX = 100;

export class OpenStrangers {
  /** Project's id by job id, longest not asked about first. */
  readonly open: Map<number, number>;
  changed = false;
  readonly #shown = new Set<number>();

  constructor(before: ReadonlyMap<number, number>) {
    this.open = new Map(before);
  }

  has(jobId: number): boolean {
    return this.open.has(jobId);
  }

  /** Stores running, unadmitted jobs of a list. */
  async meet(truths: readonly JobTruth[], run: SweepRun): Promise<void> {
    const unknown = truths.filter(
      (truth) =>
        !run.memory.seenAtMs.has(truth.jobId) && (!this.has(truth.jobId) || this.show(truth, run) === 'over'),
    );
    if (unknown.length === 0) return;
    const { strangers } = await judgePage(unknown, run, () => true);
    // If there is no space, its runner's checkpoint or the next list brings it again.
    this.add(strangers);
  }

  /** A list shows one of these: it need not be asked about. */
  show({ jobId, status }: JobTruth, run: SweepRun): 'open' | 'over' {
    if (isTerminal(status)) return 'over';
    this.#shown.add(jobId);
    if (!run.liveIds.has(jobId)) return 'open';
    // GitLab calls it running a moment before the router asks about it, and we said yes.
    run.tally.ran += 1;
    this.remove(jobId);
    return 'open';
  }

  /** @returns false if there is no space for all. */
  add(truths: readonly JobTruth[]): boolean {
    for (const { jobId, projectId } of truths) {
      this.#shown.add(jobId);
      if (this.has(jobId)) continue;
      if (this.open.size >= OPEN_MAX) return false;
      this.open.set(jobId, projectId);
      this.changed = true;
    }
    return true;
  }

  remove(jobId: number): void {
    if (this.open.delete(jobId)) this.changed = true;
  }

  /** @param seesEverything - the token lists all runners: to one that does not, everything looks removed. */
  async askAboutUnshown(run: SweepRun, seesEverything: boolean): Promise<void> {
    const unshown = [...this.open].filter(([jobId]) => !this.#shown.has(jobId));
    const over: JobTruth[] = [];
    await atOnce(unshown.slice(0, ASKED_MAX), CALLS_AT_ONCE, async ([jobId, projectId]) => {
      const answer = await run.asking.job(projectId, jobId);
      if (answer.kind === 'unasked') return;
      const truth = answer.kind === 'said' ? answer.value : undefined;
      if (truth !== undefined && isTerminal(truth.status)) over.push(truth);
      // Its project is deleted and cannot be charged; a job that waits again will start again.
      else if (answer.kind === 'said' && (truth === undefined ? seesEverything : !isUnderWay(truth)))
        this.remove(jobId);
      else this.#putLast(jobId, projectId);
    });
    if (over.length === 0) return;
    const { undecided } = await judgePage(over, run, () => true);
    if (!undecided) for (const { jobId } of over) this.remove(jobId);
  }

  #putLast(jobId: number, projectId: number): void {
    this.open.delete(jobId);
    this.open.set(jobId, projectId);
    this.changed = true;
  }
}
