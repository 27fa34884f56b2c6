/** A table that tells of every commit, what its counters then show, and how often it failed. */

import type { LedgerClock } from '../../../functions/core/environment/index.ts';
import {
  type Announcement,
  type CorrectionEntry,
  type Counter,
  type DueJob,
  type JobRecord,
  type LedgerStore,
  MemoryStore,
  type MemoryStoreOptions,
  type ReadOptions,
  type StoredItem,
  type StoreFault,
  type StoreOperation,
  type TransactOptions,
  type TransactOutcome,
  type Write,
} from '../../../functions/core/ledger/index.ts';
import { DUE_SHARDS, ledgerKeys } from '../../../functions/core/store/index.ts';
import { counterName } from '../../../policies/claim.ts';
import { type CounterSums, NO_SUMS } from './expected/verdict.ts';
import { ObjectLedgerStore } from './object-store.ts';
import { TABLE_FAULTS, TABLE_SILENT } from './workload.ts';

interface WatchedStoreOptions {
  readonly clock: LedgerClock;
  /** [0, 1), for the table's faults. */
  readonly random: () => number;
  /** Told of every record as it is written. */
  readonly onRecord: (record: JobRecord) => void;
  /** Told of every commit, once the counters show it. */
  readonly onCommit: (writes: readonly Write[]) => void;
  readonly table: TableKind;
}

export const SIMULATED_INSTANCE = 'gitlab.example.com';
/** More than are in flight at the busiest hour. */
const RECENT_MAX = 20_000;

export type TableKind = 'memory' | 'objects';

export class WatchedStore implements LedgerStore {
  /** Due times of live jobs by shard and job id. */
  readonly #live = new Map<string, Map<number, number>>();
  readonly #counters = new Map<string, { -readonly [Sum in keyof CounterSums]: number }>();
  commits = 0;
  /** Operations that went wrong. */
  faults = 0;
  readonly #recent = new Map<number, JobRecord>();
  readonly #clock: LedgerClock;
  readonly #onRecord: (record: JobRecord) => void;
  readonly #onCommit: (writes: readonly Write[]) => void;

  readonly #table: MemoryStore | ObjectLedgerStore;
  readonly #keys = ledgerKeys(SIMULATED_INSTANCE);
  /** By shard: a month of sweeps asks for each of them every minute. */
  readonly #duePks = Array.from({ length: DUE_SHARDS }, (_, shard) => this.#keys.dueShardPk(shard));

  constructor({ clock, random, onRecord, onCommit, table }: WatchedStoreOptions) {
    const options: MemoryStoreOptions = {
      instance: SIMULATED_INSTANCE,
      clock,
      fault: (operation) => {
        const fault = faultAt(operation, clock.nowMs(), random);
        if (fault !== undefined) this.faults += 1;
        return fault;
      },
      onCommit: (writes) => this.#watch(writes),
    };
    this.#table = table === 'memory' ? new MemoryStore(options) : new ObjectLedgerStore(options);
    this.#clock = clock;
    this.#onRecord = onRecord;
    this.#onCommit = onCommit;
  }

  transact(writes: readonly Write[], options: TransactOptions): Promise<TransactOutcome> {
    return this.#table.transact(writes, options);
  }

  readCounters(
    keys: readonly Counter['key'][],
    options: ReadOptions,
  ): Promise<readonly (Counter | undefined)[]> {
    return this.#table.readCounters(keys, options);
  }

  readEntries(jobId: number, options: ReadOptions): Promise<readonly CorrectionEntry[]> {
    return this.#table.readEntries(jobId, options);
  }

  announce(announcement: Announcement, options: ReadOptions): Promise<boolean> {
    return this.#table.announce(announcement, options);
  }

  scan(): AsyncIterable<StoredItem> {
    return this.#table.scan();
  }

  dump(): Iterable<StoredItem> {
    return this.#table.dump();
  }

  /** Records written lately as they were written: a sweep reads the same few thousand every minute. */
  async readRecords(
    jobIds: readonly number[],
    options: ReadOptions,
  ): Promise<readonly (JobRecord | undefined)[]> {
    const recent = jobIds.map((jobId) => this.#recent.get(jobId));
    if (isSilent(this.#clock.nowMs()) || recent.includes(undefined))
      return this.#table.readRecords(jobIds, options);
    return recent;
  }

  /** From the live holds; the in-memory table walks every item of the table, which a month of sweeps cannot afford. */
  async due(
    shard: number,
    beforeMs: number,
    limit: number,
    _options: ReadOptions,
  ): Promise<readonly DueJob[]> {
    const live = this.#live.get(this.#duePks[shard] ?? '');
    if (live === undefined || live.size === 0) return NONE_DUE;
    const due: DueJob[] = [];
    for (const [jobId, dueAtMs] of live) if (dueAtMs < beforeMs) due.push({ jobId, dueAtMs });
    return due.sort((a, b) => a.dueAtMs - b.dueAtMs).slice(0, limit);
  }

  /** What the commits so far add up to, by counter name. */
  get counters(): ReadonlyMap<string, CounterSums> {
    return this.#counters;
  }

  get liveLeft(): number {
    return [...this.#live.values()].reduce((sum, { size }) => sum + size, 0);
  }

  #watch(writes: readonly Write[]): void {
    this.commits += 1;
    for (const write of writes) {
      if (write.kind === 'record') this.#watchRecord(write.record);
      if (write.kind !== 'counter') continue;
      const name = counterName(write.key);
      let sums = this.#counters.get(name);
      if (sums === undefined) {
        sums = { ...NO_SUMS };
        this.#counters.set(name, sums);
      }
      const { committed, fitted, settled, unchecked } = write;
      sums.committed += committed;
      sums.fitted += fitted;
      sums.settled += settled;
      sums.exempt += unchecked.exempt ?? 0;
      sums.unmetered += unchecked.unmetered ?? 0;
      sums.bypass += unchecked.bypass ?? 0;
    }
    this.#onCommit(writes);
  }

  #watchRecord(record: JobRecord): void {
    this.#recent.delete(record.jobId);
    this.#recent.set(record.jobId, record);
    const [oldest] = this.#recent.size > RECENT_MAX ? this.#recent.keys() : [];
    if (oldest !== undefined) this.#recent.delete(oldest);
    const { jobId, state, decidedAtMs, dueAtMs } = record;
    this.#onRecord(record);
    const shard = this.#keys.duePk(jobId);
    if (state !== 'HELD' && state !== 'RUNNING') {
      this.#live.get(shard)?.delete(jobId);
      return;
    }
    const jobs = this.#live.get(shard) ?? new Map<number, number>();
    this.#live.set(shard, jobs.set(jobId, dueAtMs ?? decidedAtMs));
  }
}

const NONE_DUE: readonly DueJob[] = [];

const isSilent = (nowMs: number): boolean => nowMs >= TABLE_SILENT.fromMs && nowMs < TABLE_SILENT.untilMs;

/** The table does not do what it is asked: now and then by chance, and for ten minutes altogether. */
function faultAt(operation: StoreOperation, nowMs: number, random: () => number): StoreFault | undefined {
  if (isSilent(nowMs)) return { kind: 'lost-before' };
  if (operation !== 'transact') return undefined;
  const share = random();
  if (share < TABLE_FAULTS.conflict) return { kind: 'conflict' };
  if (share < TABLE_FAULTS.conflict + TABLE_FAULTS.throttle) return { kind: 'throttle' };
  const lost = TABLE_FAULTS.conflict + TABLE_FAULTS.throttle + TABLE_FAULTS.lostAnswer;
  return share < lost ? { kind: 'lost-after' } : undefined;
}
