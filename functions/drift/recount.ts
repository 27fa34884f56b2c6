import { counterName } from '../../policies/claim.ts';
import type { Log } from '../core/environment/environment.ts';
import { type RecountOutcomes, recountOutcome } from '../core/ledger/checkpoints.ts';
import type { Counter, JobRecord, RebuildReport } from '../core/ledger/ledger.ts';
import { COUNTERS_MAX } from '../core/ledger/recount.ts';
import type { RecordVisit, UsageCheck } from '../core/ledger/recount-round.ts';
import { namesNeedlessly } from '../core/ledger/user-ids.ts';
import { type CountRecordsDeps, rebuildUsage } from '../core/usage/count-records.ts';

const LINES_MAX = 20;

/** Reports and stores the result, and repairs nothing: find the cause of drift first. @returns the number of drifting counters */
export async function reportDrift(
  { drift, unproven, ...counts }: Omit<RebuildReport, 'repaired'>,
  { startedAtMs, usage }: { readonly startedAtMs: number; readonly usage?: UsageCheck },
  { outcomes, log }: { readonly outcomes: Pick<RecountOutcomes, 'write'>; readonly log: Log },
): Promise<number> {
  for (const { key, counter, recount } of drift.slice(0, LINES_MAX))
    log.error('counter drifts', {
      counter: counterName(key),
      committed: counter.committed,
      recount: recount.committed,
    });
  const { records, counters, passedOver } = counts;
  const report = { records, counters, drifting: drift.length, unproven: unproven.length };
  // It found no drift because it could not.
  if (passedOver > 0)
    log.error('items of a newer program passed over, nothing proven', { items: passedOver });
  if (counters >= COUNTERS_MAX)
    log.warn('more counters than a round compares: run `tollgate rebuild`', { compared: counters });
  if (drift.length > 0) log.error('drift: look with `tollgate rebuild`', report);
  else if (passedOver === 0) log.info('no drift', report);
  try {
    await outcomes.write(recountOutcome({ records, drift, unproven }, startedAtMs, usage));
  } catch (error) {
    // Only pages lack the result; the alarm still works.
    log.error('outcome of the recount not written', { error: String(error) });
  }
  return drift.length;
}

const ITEMS_MAX = 20_000;

interface VisitWork {
  readonly mend: (recent: readonly JobRecord[]) => Promise<UsageCheck>;
  readonly replaceUserIds: (jobIds: readonly number[]) => Promise<void>;
  readonly keepCounters: (counters: readonly Counter[]) => Promise<void>;
}

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
      if (Math.max(decidedAtMs, endedAtMs) >= sinceMs) recent.push(record);
      if (namesNeedlessly(record, nowMs)) aged.push(record.jobId);
    },
    seeCounter: (counter) => void counters.push(counter),
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

/** Adds to usage what the stream never delivered of these records; says so only where something was missing. */
export async function mendUsage(records: readonly JobRecord[], deps: CountRecordsDeps): Promise<UsageCheck> {
  const items = records.map((record) => ({ kind: 'record' as const, record }));
  const { records: jobs, changed: mended, failed } = await rebuildUsage(items, deps);
  if (mended + failed > 0) deps.log.warn('usage mended', { jobs, mended, failed });
  return { jobs, mended, failed };
}
