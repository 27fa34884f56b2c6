import { atOnce } from '../core/environment/environment.ts';
import { type GitLabJob, isTerminal } from '../core/gitlab/gitlab.ts';
import { actionForJob, endOfJob, type JobAction } from '../core/job-ends/actions.ts';
import { concludeAll } from '../core/job-ends/conclude.ts';
import { type ControllerScope, followsNoAnswer, isOutOfScope } from '../core/ledger/controller.ts';
import type { JobRecord } from '../core/ledger/ledger.ts';
import { isLive, wasRejected } from '../core/ledger/settle.ts';
import { CALLS_AT_ONCE } from './look-up.ts';
import { rememberSeen, type SweepRun } from './run.ts';

/**
 * Charges ended jobs by GitLab's outcome if the ledger lacks it, which also repairs lost webhooks.
 * @param isFirst - true if no run has counted the job; else it counts only if it changes the ledger
 */
export async function judgePage(
  gitlabJobs: readonly GitLabJob[],
  run: SweepRun,
  isFirst: (gitlabJob: GitLabJob) => boolean,
): Promise<{ readonly untracked: readonly GitLabJob[]; readonly undecided: boolean }> {
  const { ledger, clock, memory, tally, liveIds, scope } = run;
  const nowMs = clock.nowMs();
  const held = gitlabJobs.filter((gitlabJob) => isUnderWay(gitlabJob) && liveIds.has(gitlabJob.jobId));
  // A job that never ran is not a bypass; its hold is found with the live holds.
  const unknown = gitlabJobs.filter((gitlabJob) =>
    isUnderWay(gitlabJob) ? !liveIds.has(gitlabJob.jobId) : endOfJob(gitlabJob, nowMs).kind === 'ran',
  );
  const records = unknown.length === 0 ? [] : await ledger.readRecords(unknown.map(({ jobId }) => jobId));

  const untracked: GitLabJob[] = [];
  const over: { readonly gitlabJob: GitLabJob; readonly action: JobAction; readonly runClass: RunClass }[] =
    [];
  unknown.forEach((gitlabJob, index) => {
    const record = records[index];
    if (record === undefined && isOutOfScope(gitlabJob, scope, nowMs)) {
      // Counted once, and never charged: neither while it runs nor at its end.
      rememberSeen(memory, gitlabJob.jobId, nowMs);
      tally.outOfScope += 1;
    } else if (isTerminal(gitlabJob.status)) {
      over.push({
        gitlabJob,
        action: actionForJob(record, gitlabJob, nowMs),
        runClass: classify(record, scope),
      });
    } else if (record !== undefined && isLive(record)) held.push(gitlabJob);
    else untracked.push(gitlabJob);
  });
  const decided = await concludeAll(
    over.map(({ action }) => action),
    run,
  );
  if (!decided) return { untracked, undecided: true };
  for (const gitlabJob of held) {
    rememberSeen(memory, gitlabJob.jobId, nowMs);
    if (isFirst(gitlabJob)) tally.ran += 1;
  }
  for (const { gitlabJob, action, runClass } of over) {
    rememberSeen(memory, gitlabJob.jobId, nowMs);
    if (!isFirst(gitlabJob) && action.do === 'keep') continue;
    tally.ran += 1;
    if (runClass !== 'admitted') tally[runClass] += 1;
  }
  return { untracked, undecided: false };
}

export const isUnderWay = ({ status }: GitLabJob): boolean => status === 'running' || status === 'canceling';

type RunClass = 'admitted' | 'ranRejected' | 'unadmitted';

/** Classifies a running job's record; later fallback decisions count. In dry run no decision counts. */
function classify(record: JobRecord | undefined, scope: ControllerScope | undefined): RunClass {
  if (record === undefined) return 'unadmitted';
  if (wasRejected(record)) return followsNoAnswer(scope) ? 'ranRejected' : 'unadmitted';
  return record.unchecked === 'bypass' ? 'unadmitted' : 'admitted';
}

// Jobs that run without an admission: they are charged at their end, which a list or a single call shows.

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

  async meet(gitlabJobs: readonly GitLabJob[], run: SweepRun): Promise<void> {
    const unknown = gitlabJobs.filter(
      (gitlabJob) =>
        !run.memory.seenAtMs.has(gitlabJob.jobId) &&
        (!this.has(gitlabJob.jobId) || this.show(gitlabJob, run) === 'over'),
    );
    if (unknown.length === 0) return;
    const { untracked } = await judgePage(unknown, run, () => true);
    // If there is no space, its runner's checkpoint or the next list brings it again.
    this.add(untracked);
  }

  show({ jobId, status }: GitLabJob, run: SweepRun): 'open' | 'over' {
    if (isTerminal(status)) return 'over';
    this.#shown.add(jobId);
    if (!run.liveIds.has(jobId)) return 'open';
    // GitLab calls it running a moment before the router asks about it, and we said yes.
    run.tally.ran += 1;
    this.remove(jobId);
    return 'open';
  }

  add(gitlabJobs: readonly GitLabJob[]): boolean {
    for (const { jobId, projectId } of gitlabJobs) {
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
    const over: GitLabJob[] = [];
    await atOnce(unshown.slice(0, ASKED_MAX), CALLS_AT_ONCE, async ([jobId, projectId]) => {
      const answer = await run.boundedGitLab.job(projectId, jobId);
      if (answer.kind === 'unsent') return;
      const gitlabJob = answer.kind === 'answered' ? answer.value : undefined;
      if (gitlabJob !== undefined && isTerminal(gitlabJob.status)) over.push(gitlabJob);
      // Its project is deleted and cannot be charged; a job that waits again will start again.
      else if (
        answer.kind === 'answered' &&
        (gitlabJob === undefined ? seesEverything : !isUnderWay(gitlabJob))
      )
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
