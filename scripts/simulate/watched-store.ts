/** A table, watched at every commit: no checked claim may leave its counter above the limit. */

import type { DueJob } from '../../functions/ledger/due-job.ts';
import type { CorrectionEntry } from '../../functions/ledger/entry.ts';
import { ledgerKeys } from '../../functions/ledger/keys.ts';
import type { Counter, JobRecord, LedgerClock } from '../../functions/ledger/ledger.ts';
import { MemoryStore, type MemoryStoreOptions } from '../../functions/ledger/memory-store.ts';
import type {
  Announcement,
  LedgerStore,
  ReadOptions,
  StoredItem,
  TransactOptions,
  TransactOutcome,
  Write,
} from '../../functions/ledger/store.ts';
import { counterName } from '../../policies/claim.ts';
import { limitOfCounter } from '../../policies/limits/limit-of-counter.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import type { Directory } from '../../policies/place/directory.ts';
import { ObjectStore } from './object-store.ts';
import { faultAt, isSilent } from './table-faults.ts';

export type CounterSums = Pick<Counter, 'committed' | 'settled'>;

export interface WatchedStoreOptions {
  readonly clock: LedgerClock;
  readonly limits: LimitSet;
  /** Tells which groups have which limits by default. */
  readonly directory: Directory | undefined;
  /** [0, 1), for the table's faults. */
  readonly random: () => number;
  /** Told of every record as it is written. */
  readonly onRecord: (record: JobRecord) => void;
  readonly table: TableKind;
}

const INSTANCE = 'gitlab.example.com';
/** More than are in flight at the busiest hour. */
const RECENT_MAX = 20_000;

export type TableKind = 'memory' | 'objects';

export class WatchedStore implements LedgerStore {
  /** Due times of live jobs by shard and job id. */
  readonly #live = new Map<string, Map<number, number>>();
  readonly counters = new Map<string, CounterSums>();
  /** Counters that a checked claim left above their limit: must stay empty. */
  readonly heldPastLimit: string[] = [];
  commits = 0;
  readonly #rules: Pick<WatchedStoreOptions, 'limits' | 'directory'>;
  /** By `subject|limit`: looked up for every claim of every commit. */
  readonly #limitOf = new Map<string, number | undefined>();
  readonly #recent = new Map<number, JobRecord>();
  readonly #clock: LedgerClock;
  readonly #onRecord: (record: JobRecord) => void;

  readonly #table: MemoryStore | ObjectStore;
  readonly #keys = ledgerKeys(INSTANCE);

  constructor({ clock, limits, directory, random, onRecord, table }: WatchedStoreOptions) {
    const options: MemoryStoreOptions = {
      instance: INSTANCE,
      clock,
      fault: (operation) => faultAt(operation, clock.nowMs(), random),
      onCommit: (writes) => this.#watch(writes),
    };
    this.#table = table === 'memory' ? new MemoryStore(options) : new ObjectStore(options);
    this.#rules = { limits, directory };
    this.#clock = clock;
    this.#onRecord = onRecord;
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

  /** The amount enforced on a counter, by `subject|limit`. */
  limitOf({ subject, limit }: Pick<Counter['key'], 'subject' | 'limit'>): number | undefined {
    const name = `${subject}|${limit}`;
    if (!this.#limitOf.has(name)) this.#limitOf.set(name, this.#enforced({ subject, limit }));
    return this.#limitOf.get(name);
  }

  /** Limits of the month have no dates and no grants: they are the same at any instant. */
  #enforced(counter: Pick<Counter['key'], 'subject' | 'limit'>): number | undefined {
    const { limits, directory } = this.#rules;
    const limit = limitOfCounter(counter, limits, directory, this.#clock.nowMs());
    return limit?.mode === 'enforce' && limit.amount !== 'unlimited' ? limit.amount : undefined;
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
    const due: DueJob[] = [];
    for (const [jobId, dueAtMs] of this.#live.get(this.#keys.dueShardPk(shard)) ?? []) {
      if (dueAtMs < beforeMs) due.push({ jobId, dueAtMs });
    }
    return due.sort((a, b) => a.dueAtMs - b.dueAtMs).slice(0, limit);
  }

  get liveLeft(): number {
    return [...this.#live.values()].reduce((sum, { size }) => sum + size, 0);
  }

  #watch(writes: readonly Write[]): void {
    this.commits += 1;
    const raised = new Set<string>();
    for (const write of writes) {
      if (write.kind === 'record') this.#watchRecord(write.record);
      if (write.kind !== 'counter') continue;
      const name = counterName(write.key);
      const { committed, settled } = this.counters.get(name) ?? { committed: 0, settled: 0 };
      this.counters.set(name, { committed: committed + write.committed, settled: settled + write.settled });
      if (write.committed > 0) raised.add(name);
    }
    for (const write of writes) if (write.kind === 'record') this.#checkHold(write.record, raised);
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

  #checkHold(record: JobRecord, raised: ReadonlySet<string>): void {
    if (record.state !== 'HELD' || record.unchecked !== undefined) return;
    for (const { counter, checked } of record.claims) {
      const name = counterName(counter);
      const limit = this.limitOf(counter);
      if (!checked || limit === undefined || !raised.has(name)) continue;
      if ((this.counters.get(name)?.committed ?? 0) > limit) this.heldPastLimit.push(name);
    }
  }
}
