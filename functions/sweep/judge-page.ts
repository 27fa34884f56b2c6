import { isTerminal, type JobTruth } from '../core/gitlab/index.ts';
import {
  type ControllerScope,
  followsNoAnswer,
  isLive,
  isOutOfScope,
  type JobRecord,
  wasRejected,
} from '../core/ledger/index.ts';
import { concludeAll, endOfJob, type JobVerdict, verdictOn } from '../core/truth/index.ts';
import { rememberSeen } from './sweep-memory.ts';
import type { SweepRun } from './sweep-run.ts';

interface Judged {
  /** Running jobs without an admission: charged at their end. */
  readonly strangers: readonly JobTruth[];
  /** The table did not answer for all; repeat the rest. */
  readonly undecided: boolean;
}

/** GitLab's lists have a hundred jobs per page; untracked jobs come in groups. */
const BATCH = 100;

/**
 * Judges jobs that the search meets first, and untracked jobs at their end. Ended jobs are charged by
 * GitLab's outcome if the ledger lacks it, which also repairs lost webhooks. Running, held jobs belong to
 * the check of live holds.
 *
 * @param isFirst - true if this process certainly meets it first; otherwise it counts only if it makes a
 * difference.
 */
export async function judgePage(
  truths: readonly JobTruth[],
  run: SweepRun,
  isFirst: (truth: JobTruth) => boolean,
): Promise<Judged> {
  const strangers: JobTruth[] = [];
  let undecided = false;
  for (let start = 0; start < truths.length; start += BATCH) {
    const judged = await judgeBatch(truths.slice(start, start + BATCH), run, isFirst);
    strangers.push(...judged.strangers);
    undecided ||= judged.undecided;
  }
  return { strangers, undecided };
}

async function judgeBatch(
  truths: readonly JobTruth[],
  run: SweepRun,
  isFirst: (truth: JobTruth) => boolean,
): Promise<Judged> {
  const { ledger, clock, memory, tally, liveIds, scope } = run;
  const nowMs = clock.nowMs();
  const held = truths.filter((truth) => isUnderWay(truth) && liveIds.has(truth.jobId));
  // A job that never ran is not a bypass; its hold is found with the live holds.
  const asked = truths.filter((truth) =>
    isUnderWay(truth) ? !liveIds.has(truth.jobId) : endOfJob(truth, nowMs).kind === 'ran',
  );
  const records = asked.length === 0 ? [] : await ledger.readRecords(asked.map(({ jobId }) => jobId));

  const strangers: JobTruth[] = [];
  const over: { readonly truth: JobTruth; readonly verdict: JobVerdict; readonly fate: Fate }[] = [];
  asked.forEach((truth, index) => {
    const record = records[index];
    if (record === undefined && isOutOfScope(truth, scope, nowMs)) {
      // Counted once, and never charged: neither while it runs nor at its end.
      rememberSeen(memory, truth.jobId, nowMs);
      tally.outOfScope += 1;
    } else if (isTerminal(truth.status)) {
      over.push({ truth, verdict: verdictOn(record, truth, nowMs), fate: fateOf(record, scope) });
    } else if (record !== undefined && isLive(record)) held.push(truth);
    else strangers.push(truth);
  });
  const decided = await concludeAll(
    over.map(({ verdict }) => verdict),
    run.concludeDeps,
  );
  if (!decided) return { strangers, undecided: true };
  for (const truth of held) {
    rememberSeen(memory, truth.jobId, nowMs);
    if (isFirst(truth)) tally.ran += 1;
  }
  for (const { truth, verdict, fate } of over) {
    rememberSeen(memory, truth.jobId, nowMs);
    if (!isFirst(truth) && verdict.do === 'keep') continue;
    tally.ran += 1;
    if (fate !== 'admitted') tally[fate] += 1;
  }
  return { strangers, undecided: false };
}

/** A runner has it. */
export const isUnderWay = ({ status }: JobTruth): boolean => status === 'running' || status === 'canceling';

type Fate = 'admitted' | 'ranRejected' | 'unadmitted';

/** Classifies a running job's record; later fallback decisions count. In dry run no decision counts. */
function fateOf(record: JobRecord | undefined, scope: ControllerScope | undefined): Fate {
  if (record === undefined) return 'unadmitted';
  if (wasRejected(record)) return followsNoAnswer(scope) ? 'ranRejected' : 'unadmitted';
  return record.unchecked === 'bypass' ? 'unadmitted' : 'admitted';
}
