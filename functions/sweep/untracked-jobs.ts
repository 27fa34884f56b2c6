import { atOnce } from '../core/environment/environment.ts';
import { isTerminal, type JobTruth } from '../core/gitlab/gitlab.ts';
import { type ControllerScope, followsNoAnswer, isOutOfScope } from '../core/ledger/controller.ts';
import type { JobRecord } from '../core/ledger/ledger.ts';
import { isLive, wasRejected } from '../core/ledger/settle.ts';
import { concludeAll } from '../core/truth/conclude.ts';
import { endOfJob, type JobVerdict, verdictOn } from '../core/truth/verdict.ts';
import { CALLS_AT_ONCE } from './look-up.ts';
import { rememberSeen, type SweepRun } from './run.ts';

/**
 * Charges ended jobs by GitLab's outcome if the ledger lacks it, which also repairs lost webhooks.
 * @param isFirst - this process certainly meets it first; otherwise it counts only if it makes a difference
 */
export async function judgePage(
  truths: readonly JobTruth[],
  run: SweepRun,
  isFirst: (truth: JobTruth) => boolean,
): Promise<{ readonly untracked: readonly JobTruth[]; readonly undecided: boolean }> {
  const { ledger, clock, memory, tally, liveIds, scope } = run;
  const nowMs = clock.nowMs();
  const held = truths.filter((truth) => isUnderWay(truth) && liveIds.has(truth.jobId));
  // A job that never ran is not a bypass; its hold is found with the live holds.
  const unknown = truths.filter((truth) =>
    isUnderWay(truth) ? !liveIds.has(truth.jobId) : endOfJob(truth, nowMs).kind === 'ran',
  );
  const records = unknown.length === 0 ? [] : await ledger.readRecords(unknown.map(({ jobId }) => jobId));

  const untracked: JobTruth[] = [];
  const over: { readonly truth: JobTruth; readonly verdict: JobVerdict; readonly runClass: RunClass }[] = [];
  unknown.forEach((truth, index) => {
    const record = records[index];
    if (record === undefined && isOutOfScope(truth, scope, nowMs)) {
      // Counted once, and never charged: neither while it runs nor at its end.
      rememberSeen(memory, truth.jobId, nowMs);
      tally.outOfScope += 1;
    } else if (isTerminal(truth.status)) {
      over.push({ truth, verdict: verdictOn(record, truth, nowMs), runClass: classify(record, scope) });
    } else if (record !== undefined && isLive(record)) held.push(truth);
    else untracked.push(truth);
  });
  const decided = await concludeAll(
    over.map(({ verdict }) => verdict),
    run,
  );
  if (!decided) return { untracked, undecided: true };
  for (const truth of held) {
    rememberSeen(memory, truth.jobId, nowMs);
    if (isFirst(truth)) tally.ran += 1;
  }
  for (const { truth, verdict, runClass } of over) {
    rememberSeen(memory, truth.jobId, nowMs);
    if (!isFirst(truth) && verdict.do === 'keep') continue;
    tally.ran += 1;
    if (runClass !== 'admitted') tally[runClass] += 1;
  }
  return { untracked, undecided: false };
}

export const isUnderWay = ({ status }: JobTruth): boolean => status === 'running' || status === 'canceling';

type RunClass = 'admitted' | 'ranRejected' | 'unadmitted';

/** Classifies a running job's record; later fallback decisions count. In dry run no decision counts. */
function classify(record: JobRecord | undefined, scope: ControllerScope | undefined): RunClass {
  if (record === undefined) return 'unadmitted';
  if (wasRejected(record)) return followsNoAnswer(scope) ? 'ranRejected' : 'unadmitted';
  return record.unchecked === 'bypass' ? 'unadmitted' : 'admitted';
}

// Jobs that run without an admission: they can only be charged at their end, wherever lists show it, or nowhere.

/** About 25 KB of the checkpoints. More means that GitLab does not ask at all. */
const OPEN_MAX = 2_000;
/** Those that no list shows cost a call each; the others of a run can wait a minute. */
const ASKED_MAX = 100;

export class UntrackedJobs {
  readonly open: Map<number, number>;
  changed = false;
  readonly #shown = new Set<number>();

  constructor(before: ReadonlyMap<number, number>) {
    this.open = new Map(before);
  }

  has(jobId: number): boolean {
    return this.open.has(jobId);
  }

  async meet(truths: readonly JobTruth[], run: SweepRun): Promise<void> {
    const unknown = truths.filter(
      (truth) =>
        !run.memory.seenAtMs.has(truth.jobId) && (!this.has(truth.jobId) || this.show(truth, run) === 'over'),
    );
    if (unknown.length === 0) return;
    const { untracked } = await judgePage(unknown, run, () => true);
    // If there is no space, its runner's checkpoint or the next list brings it again.
    this.add(untracked);
  }

  show({ jobId, status }: JobTruth, run: SweepRun): 'open' | 'over' {
    if (isTerminal(status)) return 'over';
    this.#shown.add(jobId);
    if (!run.liveIds.has(jobId)) return 'open';
    // GitLab calls it running a moment before the router asks about it, and we said yes.
    run.tally.ran += 1;
    this.remove(jobId);
    return 'open';
  }

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
      if (answer.kind === 'unsent') return;
      const truth = answer.kind === 'answered' ? answer.value : undefined;
      if (truth !== undefined && isTerminal(truth.status)) over.push(truth);
      // Its project is deleted and cannot be charged; a job that waits again will start again.
      else if (answer.kind === 'answered' && (truth === undefined ? seesEverything : !isUnderWay(truth)))
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
