import { type BooksReport, checkBooks } from '../../../../functions/core/books/check-books.ts';
import { dynamoCounterMemory } from '../../../../functions/core/books/counter-memory.ts';
import { dynamoSumLog } from '../../../../functions/core/books/sum-log.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { EPOCH_MS } from '../../../../functions/core/ledger/slots.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { keyOf } from '../../../../functions/core/store/operation.ts';
import type { ItemChange } from '../../../../functions/core/store/table-evaluation.ts';
import { counterName } from '../../../../policies/claim.ts';
import { anAsk, claim, counter } from '../../../support/ledger/asks.ts';
import { INSTANCE, rollupBench, type StreamRecord } from '../../../support/ledger/rollup-bench.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

export const SHARDS = 3;
export const MINUTE_MS = 60_000;
/** Where the schedule starts the check within an epoch. */
export const TICK_MS = 8 * MINUTE_MS;
/** After these every slot was met once. */
export const BEGUN_MINUTES = 90;

/** A table with its stream, the rollup that reads it, and the check by its schedule. */
export function books(onChecked: (found: BooksReport) => Promise<void> = async () => {}) {
  const clock = manualClock();
  // The beginning of an epoch.
  clock.advance(EPOCH_MS - (clock.nowMs() % EPOCH_MS));
  const shards: StreamRecord[][] = Array.from({ length: SHARDS }, () => []);
  let sequence = 0;
  const onWritten = (changes: readonly ItemChange[]): void => {
    for (const { before, after } of changes) {
      if (after === undefined) continue;
      const { pk, sk } = keyOf(after);
      if (sk !== 'record' && sk !== 'counter') continue;
      sequence += 1;
      // Attributes go with the stream as they were written then.
      shards[[...pk].reduce((sum, each) => sum + each.charCodeAt(0), 0) % SHARDS]?.push({
        eventName: before === undefined ? 'INSERT' : 'MODIFY',
        dynamodb: {
          SequenceNumber: String(sequence).padStart(8, '0'),
          NewImage: after,
          ...(before && { OldImage: before }),
        },
      });
    }
  };
  const table = new MemoryTable({ nowMs: clock.nowMs, onWritten });
  const deps = { table, instance: INSTANCE, clock, random: () => 0 };
  const ledger = createLedger({ store: new DynamoStore(deps), clock, random: () => 0 });
  const log = dynamoSumLog(deps);
  const { deliver } = rollupBench({ sums: log, clock: { ...clock, sleep: async () => {} } });
  const checks: BooksReport[] = [];
  const check = async (): Promise<BooksReport> => {
    const found = await checkBooks({ ...deps, log, memory: dynamoCounterMemory(deps) });
    checks.push(found);
    await onChecked(found);
    return found;
  };
  /** Lets time pass, with the checks that are due meanwhile. */
  const pass = async (ms: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; ) {
      const toTick = (EPOCH_MS + TICK_MS - (clock.nowMs() % EPOCH_MS)) % EPOCH_MS || EPOCH_MS;
      const step = Math.min(leftMs, toTick);
      clock.advance(step);
      leftMs -= step;
      if (clock.nowMs() % EPOCH_MS === TICK_MS) await check();
    }
  };
  /** So many records of one shard's head; what was delivered before may come again with them. */
  const deliverSome = async (shard: number, count: number, again: boolean): Promise<void> => {
    const batch = (shards[shard % SHARDS] ?? []).slice(0, count);
    if (batch.length === 0) return;
    await deliver(batch);
    if (again) await deliver(batch.slice(0, Math.ceil(batch.length / 2)));
    shards[shard % SHARDS]?.splice(0, count);
  };
  const deliverAll = async (): Promise<void> => {
    for (let shard = 0; shard < SHARDS; shard += 1) await deliverSome(shard, Number.POSITIVE_INFINITY, false);
  };
  let jobs = 0;
  /** Jobs of a group, each on the group's counters and everybody's; every second one ends at once. */
  const run = async (group: number, count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) {
      jobs += 1;
      const jobId = jobs;
      const claims = [`group/${group}`, 'instance'].map((subject) => claim(subject, 100, 1_000_000));
      const slots = counter('instance', 'jobs', 'now');
      const all = [...claims, claim('instance', 1, 100_000, { counter: slots, unit: 'jobs' })];
      await ledger.hold([anAsk(jobId, all)], Number.POSITIVE_INFINITY);
      if (jobId % 2 === 0) await end(jobId);
    }
  };
  const end = (jobId: number) =>
    ledger.settle([{ jobId, durationSeconds: 30 + (jobId % 90), endedAtMs: clock.nowMs() }]);
  const drifting = (): readonly string[] => checks.flatMap((each) => each.drifting.map(counterName));
  return {
    ...{
      clock,
      table,
      deps,
      log,
      ledger,
      shards,
      checks,
      check,
      pass,
      deliverSome,
      deliverAll,
      run,
      end,
      drifting,
    },
    jobs: () => jobs,
  };
}

export type House = ReturnType<typeof books>;
