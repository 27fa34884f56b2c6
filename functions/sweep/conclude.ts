/** Verdicts into the ledger, some dozens at a time. The ledger decides what is still true: others end the same jobs. */
import type { EndOutcome, JobEnd, JobGone, Ledger } from '../ledger/ledger.ts';
import type { Tally } from './report.ts';
import type { Verdict } from './verdict.ts';

/** Small enough to share hot counters with admissions, large enough that ten thousand ends take seconds. */
const BATCH = 25;

export interface ConcludeDeps {
  readonly ledger: Pick<Ledger, 'settle' | 'release' | 'expire' | 'postpone'>;
  readonly tally: Tally;
  /** Whether a job that GitLab does not know (any more) is charged what it held. */
  readonly chargeUnknown: 'hold' | 'nothing';
}

/** Takes verdicts one by one and writes them when a batch is full; `flush` writes the rest. */
export interface Concluding {
  take(verdict: Verdict): Promise<void>;
  flush(): Promise<void>;
}

export function newConcluding(deps: ConcludeDeps): Concluding {
  let batch: Verdict[] = [];
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

async function conclude(
  verdicts: readonly Verdict[],
  { ledger, tally, chargeUnknown: charge }: ConcludeDeps,
): Promise<void> {
  const ends: JobEnd[] = [];
  const released: JobGone[] = [];
  const expired: (JobGone & { readonly charge: 'hold' | 'nothing' })[] = [];
  const postponed: { jobId: number; dueAtMs: number }[] = [];
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
      case 'keep':
        break;
    }
  }
  if (ends.length > 0) count(await ledger.settle(ends), 'settled', tally);
  if (released.length > 0) count(await ledger.release(released), 'released', tally);
  if (expired.length > 0) count(await ledger.expire(expired), 'expired', tally);
  if (postponed.length > 0) count(await ledger.postpone(postponed), 'postponed', tally);
}

export function count(
  outcomes: readonly EndOutcome[],
  applied: 'settled' | 'released' | 'expired' | 'postponed',
  tally: Tally,
): void {
  for (const outcome of outcomes) {
    if (outcome === 'applied') tally[applied] += 1;
    else if (outcome !== 'unknown') tally[outcome] += 1;
  }
}
