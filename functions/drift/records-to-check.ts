import {
  type Counter,
  type JobRecord,
  namesNeedlessly,
  type RecordVisit,
  type UsageLook,
} from '../core/ledger/index.ts';

/** Some 1 KB each. */
const ITEMS_MAX = 20_000;

interface VisitWork {
  /** Records of jobs that were decided or ended since `sinceMs`. */
  readonly mend: (recent: readonly JobRecord[]) => Promise<UsageLook>;
  /** Ids of jobs whose records name a user and need not any more. */
  readonly replaceUserIds: (jobIds: readonly number[]) => Promise<void>;
  readonly keepCounters: (counters: readonly Counter[]) => Promise<void>;
}

/** Further work of the recount on the items it reads, some at a time. Times are Unix ms. */
export function recordVisit(
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
  { mend, replaceUserIds, keepCounters }: VisitWork,
): RecordVisit {
  let recent: JobRecord[] = [];
  let aged: number[] = [];
  let counters: Counter[] = [];
  return {
    see(record) {
      const { decidedAtMs, endedAtMs = 0 } = record;
      if (decidedAtMs >= sinceMs || endedAtMs >= sinceMs) recent.push(record);
      if (namesNeedlessly(record, nowMs)) aged.push(record.jobId);
    },
    seeCounter: (counter) => counters.push(counter),
    isFull: () => [recent, aged, counters].some(({ length }) => length >= ITEMS_MAX),
    async work() {
      const [records, jobIds, met] = [recent, aged, counters];
      [recent, aged, counters] = [[], [], []];
      const usage = records.length > 0 ? await mend(records) : undefined;
      if (jobIds.length > 0) await replaceUserIds(jobIds);
      if (met.length > 0) await keepCounters(met);
      return usage;
    },
  };
}
