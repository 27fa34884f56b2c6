import { counterName } from '../../policies/claim.ts';
import type { Log } from '../core/environment/environment.ts';
import { type RecountOutcomes, recountOutcome } from '../core/ledger/checkpoints.ts';
import type { Counter, Drift, JobRecord, RebuildReport } from '../core/ledger/ledger.ts';
import type { RecordVisit, UsageLook } from '../core/ledger/recount-round.ts';
import { namesNeedlessly } from '../core/ledger/user-ids.ts';
import { type CountRecordsDeps, rebuildUsage, type UsageRebuild } from '../core/usage/count-records.ts';

interface TellDriftDeps {
  readonly outcomes: Pick<RecountOutcomes, 'write'>;
  readonly log: Log;
}

/** More lines do not help; `tollgate rebuild` lists all. */
const LINES_MAX = 20;

/** Reports and stores the result. It repairs nothing: find the cause of drift first. */
export async function tellDrift(
  found: Omit<RebuildReport, 'repaired'> & { readonly usage?: UsageLook },
  recountedAtMs: number,
  { outcomes, log }: TellDriftDeps,
) {
  const { records, counters, drift, unproven, passedOver, unclosed } = found;
  for (const each of drift.slice(0, LINES_MAX)) log.error('counter drifts', fieldsOf(each));
  const report = {
    ...{ records, counters },
    drifting: drift.length,
    unclosed,
    /** Differing counters whose records may have expired: the correct amount is unknown. */
    unproven: unproven.length,
    /** Items a newer program wrote. Above 0, the run proves nothing: it found no drift because it could not. */
    passedOver,
  };
  if (passedOver > 0)
    log.error('items of a newer program passed over, nothing proven', { items: passedOver });
  if (unclosed > 0) log.warn('periods not closed yet', { periods: unclosed });
  if (drift.length > 0) log.error('drift: look with `tollgate rebuild`', report);
  else if (passedOver === 0) log.info('no drift', report);
  try {
    await outcomes.write(recountOutcome({ records, drift, unproven }, recountedAtMs, found.usage));
  } catch (error) {
    // Only pages lack the result; the alarm still works.
    log.error('outcome of the recount not written', { error: String(error) });
  }
  return report;
}

const fieldsOf = ({ key, counter, recount }: Drift) => ({
  counter: counterName(key),
  committed: counter.committed,
  committedRecount: recount.committed,
  settled: counter.settled,
  settledRecount: recount.settled,
  fitted: counter.fitted,
  fittedRecount: recount.fitted,
});

const ITEMS_MAX = 20_000;

interface VisitWork {
  readonly mend: (recent: readonly JobRecord[]) => Promise<UsageLook>;
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

/** Adds to usage what the stream never delivered of these records; says so only where something was missing. */
export async function mendUsage(
  records: readonly JobRecord[],
  deps: CountRecordsDeps,
): Promise<UsageRebuild> {
  const mended = await rebuildUsage(
    records.map((record) => ({ kind: 'record' as const, record })),
    deps,
  );
  if (mended.changed + mended.failed > 0) deps.log.warn('usage mended', { ...mended });
  return mended;
}
