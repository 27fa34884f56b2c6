/**
 * What jobs cost by branch and the like is packed here as in a deployment, by the program that does it there, when the run starts. Groups and
 * projects are few, and are read live.
 */
import type { LedgerClock } from '../../functions/core/environment/index.ts';
import { packJobs } from '../../functions/drift/pack-jobs.ts';
import type { LocalLedger } from './ledger-source.ts';
import { PAST_DAYS } from './past-month.ts';

interface LocalPacking {
  readonly ledger: Pick<LocalLedger, 'sheets' | 'store'>;
  /** IANA zone of the days of usage. */
  readonly zone: string;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  /** Ids of jobs decided lately. */
  readonly knownJobIds: readonly number[];
  readonly onTrouble: (text: string) => void;
}

/** What is not packed by then is in no row until the next start. */
const PACKING_MS_MAX = 2_000;
const READ_TIMEOUT_MS = 5_000;

export async function packLocalJobs({
  ledger: { sheets, store },
  zone,
  clock,
  knownJobIds,
  onTrouble,
}: LocalPacking): Promise<void> {
  try {
    await packJobs(clock.monotonicMs() + PACKING_MS_MAX, {
      ...{ sheets, zone, clock, daysBack: PAST_DAYS, recentJobIds: async () => knownJobIds },
      readRecords: (jobIds) => store.readRecords(jobIds, { timeoutMs: READ_TIMEOUT_MS }),
    });
  } catch (error) {
    onTrouble(`jobs are not packed for reports (${String(error)}); the next start tries again`);
  }
}
