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
  /** They run, and nobody admitted them as far as the ledger knows: to be charged at their end. */
  readonly strangers: readonly JobTruth[];
  /** The table did not answer for all of them: they must come again. */
  readonly undecided: boolean;
}

/** GitLab's lists have a hundred jobs a page; strangers come many at once. */
const BATCH = 100;

/**
 * Jobs the search meets for the first time, and strangers at their end. What is over is charged what GitLab says, if the
 * ledger does not say so already: also a lost webhook is healed here, whenever it is met. What runs and is held is seen:
 * its end belongs to whoever looks after live holds.
 *
 * @param isFirst - whether this process meets it for the first time for certain; otherwise it counts only if it makes a
 *   difference.
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
  // What never ran is nobody's bypass; what holds for it is found with the live holds.
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

/** Whether somebody let it run; a fallback's answer that was posted later counts. In dry run nobody's answer does. */
function fateOf(record: JobRecord | undefined, scope: ControllerScope | undefined): Fate {
  if (record === undefined) return 'unadmitted';
  if (wasRejected(record)) return followsNoAnswer(scope) ? 'ranRejected' : 'unadmitted';
  return record.unchecked === 'bypass' ? 'unadmitted' : 'admitted';
}
