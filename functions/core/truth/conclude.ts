/** Verdicts into the ledger, some dozens at a time. The ledger decides what is still true: others end the same jobs. */
import { type JobTruth, REJECTED_BY_ROUTER } from '../gitlab/index.ts';
import type { EndOutcome, GoneJob, JobEnd, Ledger } from '../ledger/index.ts';
import type { TruthOutcome } from './settle-truths.ts';
import type { JobVerdict } from './verdict.ts';

/** Small enough to share hot counters with admissions, large enough that ten thousand ends take seconds. */
const BATCH = 25;

export interface ConcludeDeps {
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'expire' | 'postpone'>;
  readonly chargeBypass: ChargeBypass;
  readonly tally: ConcludeTally;
  /** Decides if a job that GitLab no longer knows is charged its hold. */
  readonly chargeUnknown: 'hold' | 'nothing';
}

/** Counts of the results. */
export interface ConcludeTally {
  settled: number;
  released: number;
  /** Ids of jobs among the released. */
  readonly admittedYetFailed: number[];
  expired: number;
  postponed: number;
  corrected: number;
  unchanged: number;
  undecided: number;
  bypass: number;
}

/** Takes verdicts one by one and writes them when a batch is full; `flush` writes the rest. */
export interface VerdictWriter {
  take(verdict: JobVerdict): Promise<void>;
  flush(): Promise<void>;
}

export function createVerdictWriter(deps: ConcludeDeps): VerdictWriter {
  let batch: JobVerdict[] = [];
  const flush = async (): Promise<void> => {
    const full = batch;
    batch = [];
    if (full.length > 0) await conclude(full, deps);
  };
  return {
    take: async (verdict) => {
      if (verdict.do === 'keep') return;
      batch.push(verdict);
      if (batch.length >= BATCH) await flush();
    },
    flush,
  };
}

/** @returns false if the table left one undecided. */
export async function concludeAll(verdicts: readonly JobVerdict[], deps: ConcludeDeps): Promise<boolean> {
  const acting = verdicts.filter((verdict) => verdict.do !== 'keep');
  let decided = true;
  for (let start = 0; start < acting.length; start += BATCH) {
    if (!(await conclude(acting.slice(start, start + BATCH), deps))) decided = false;
  }
  return decided;
}

/** @returns false if the table left one undecided. */
async function conclude(
  verdicts: readonly JobVerdict[],
  { ledger, tally, chargeBypass, chargeUnknown: charge }: ConcludeDeps,
): Promise<boolean> {
  const ends: JobEnd[] = [];
  const released: GoneJob[] = [];
  const expired: (GoneJob & { readonly charge: 'hold' | 'nothing' })[] = [];
  const postponed: { jobId: number; dueAtMs: number }[] = [];
  const unknown: JobTruth[] = [];
  for (const verdict of verdicts) {
    switch (verdict.do) {
      case 'settle':
        ends.push(verdict.end);
        break;
      case 'release':
        released.push(verdict.gone);
        break;
      case 'expire':
        expired.push({ ...verdict.gone, charge });
        break;
      case 'postpone':
        postponed.push({ jobId: verdict.jobId, dueAtMs: verdict.dueAtMs });
        break;
      case 'charge':
        unknown.push(verdict.truth);
        break;
      case 'keep':
        break;
    }
  }
  const before = tally.undecided;
  if (ends.length > 0) count(await ledger.settle(ends), 'settled', tally);
  if (released.length > 0) {
    const outcomes = await ledger.release(released);
    count(outcomes, 'released', tally);
    released.forEach(({ jobId, cause }, index) => {
      // Only admitted jobs held amounts, and only the first release reports it.
      if (outcomes[index] === 'applied' && cause === REJECTED_BY_ROUTER) tally.admittedYetFailed.push(jobId);
    });
  }
  if (expired.length > 0) count(await ledger.expire(expired), 'expired', tally);
  if (postponed.length > 0) count(await ledger.postpone(postponed), 'postponed', tally);
  if (unknown.length > 0) {
    const charged = await chargeBypass(unknown);
    tally.bypass += charged.filter((outcome) => outcome === 'bypass').length;
    tally.undecided += charged.filter((outcome) => outcome === 'undecided').length;
  }
  return tally.undecided === before;
}

function count(
  outcomes: readonly EndOutcome[],
  applied: 'settled' | 'released' | 'expired' | 'postponed',
  tally: ConcludeTally,
): void {
  for (const outcome of outcomes) {
    if (outcome === 'applied') tally[applied] += 1;
    else if (outcome !== 'unknown') tally[outcome] += 1;
  }
}

/** Charges bypassed jobs. One result per outcome, same order; repeats are allowed. */
export type ChargeBypass = (truths: readonly JobTruth[]) => Promise<readonly TruthOutcome[]>;
