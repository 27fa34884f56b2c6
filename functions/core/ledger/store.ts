/** The ledger's interface to a table. `DynamoStore` implements it over any table; every call may throw `ledger_unavailable`. */
import type { CounterKey } from '../../../policies/claim.ts';
import type { ItemsOutcome, PageEnd, ScanSegment } from '../store/operation.ts';
import type {
  ClosingEntry,
  CorrectionEntry,
  Counter,
  CounterAmounts,
  DueJob,
  JobRecord,
  ReservedPipeline,
  UncheckedCause,
} from './ledger.ts';

export interface LedgerStore {
  /** All or nothing. The same writes with the same token within ten minutes apply once. */
  transact(writes: readonly Write[], options: TransactOptions): Promise<TransactOutcome>;
  readCounters(keys: readonly CounterKey[], options: ReadOptions): Promise<readonly (Counter | undefined)[]>;
  readRecords(jobIds: readonly number[], options: ReadOptions): Promise<readonly (JobRecord | undefined)[]>;
  readEntries(jobId: number, options: ReadOptions): Promise<readonly CorrectionEntry[]>;
  /** Not a snapshot. An `eventual` scan costs half, and may show items as they were a moment before it began. */
  scan(consistency?: Consistency): AsyncIterable<StoredItem>;
  /** Live jobs of one shard whose due time is before `beforeMs`, oldest first. The index may lag behind the table. */
  due(shard: number, beforeMs: number, limit: number, options: ReadOptions): Promise<readonly DueJob[]>;
  /** Marks a notice as sent: true for the first caller until `untilMs`. */
  announce(announcement: Announcement, options: ReadOptions): Promise<boolean>;
}

export type Consistency = 'consistent' | 'eventual';

export interface SegmentStore {
  /** Not a snapshot, and at half the price of a consistent one. */
  scanSegment(ask: SegmentAsk): Promise<SegmentPage>;
}

export interface SegmentAsk {
  readonly segment: ScanSegment;
  readonly from?: PageEnd;
}

export interface SegmentPage {
  readonly items: readonly StoredItem[];
  readonly next?: PageEnd;
}

export interface InboxStore {
  /** True for the first of its id. No scan yields it; its reader is the table's stream. */
  receive(item: InboxItem, options: ReadOptions): Promise<boolean>;
}

export interface ClosingStore {
  /** Counters of one shard that are to be closed before `beforeMs`, oldest first. The index may lag behind the table. */
  dueClosings(
    shard: number,
    beforeMs: number,
    limit: number,
    options: ReadOptions,
  ): Promise<readonly CounterKey[]>;
  /** Consistent: the counter and its closing entry. @throws {LedgerError} `ledger_unavailable` */
  readPeriod(key: CounterKey, options: ReadOptions): Promise<readonly StoredItem[]>;
}

/** Rewrites stored texts of a job without a change to any amount. */
export interface RewriteStore {
  /** Keeps the record's `rev`, so that readers of the stream see no change. False: it was changed concurrently. */
  rewrite(record: JobRecord, entries: readonly CorrectionEntry[], options: ReadOptions): Promise<boolean>;
}

export interface InboxItem {
  readonly id: string;
  readonly body: string;
  readonly receivedAtMs: number;
  /** From then on garbage collection may take it, and a repetition would be new. Unix ms, rounded up to a second. */
  readonly untilMs: number;
}

export interface TransactOptions {
  readonly token: string;
  readonly timeoutMs: number;
}

export interface ReadOptions {
  readonly timeoutMs: number;
}

export type Write = RecordWrite | CounterWrite | EntryWrite | CounterReset | ClosingWrite;

interface RecordWrite {
  readonly kind: 'record';
  readonly record: JobRecord;
  /** The record it replaces (compared by `rev`); absent: there must be none. */
  readonly replaces?: JobRecord;
}

export interface CounterWrite {
  readonly kind: 'counter';
  readonly key: CounterKey;
  readonly committed: number;
  readonly fitted: number;
  readonly settled: number;
  readonly unchecked: Readonly<Partial<Record<UncheckedCause, number>>>;
  /** Condition: `committed` before the write is at most this. Negative: even an absent counter refuses. */
  readonly maxCommitted?: number;
  readonly maxFitted?: number;
  /** Condition: refused at this instant (Unix ms) while a member of the cohort reclaims its own amount. */
  readonly borrowedAtMs?: number;
  /** A member reclaims its own amount: borrowers are refused until then, Unix ms. */
  readonly reclaimUntilMs?: number;
  /** Notes that a part of it is kept for the retry of a job of this pipeline. */
  readonly reserves?: ReservedPipeline;
  readonly unreserves?: readonly number[];
  /** When garbage collection may take the counter, Unix seconds; absent: never. */
  readonly expiresAtSeconds?: number;
  /** When its period is to be closed, Unix ms; absent: never. */
  readonly closeAtMs?: number;
}

interface EntryWrite {
  readonly kind: 'entry';
  readonly entry: CorrectionEntry;
}

export interface CounterReset {
  readonly kind: 'reset';
  readonly key: CounterKey;
  readonly amounts: CounterAmounts;
  /** The counter's `rev` when it was read; 0: there must be none. */
  readonly rev: number;
  readonly expiresAtSeconds?: number;
  /** As of a {@link CounterWrite}; absent: it is closed, or never is. */
  readonly closeAtMs?: number;
  readonly drifts?: true;
}

interface ClosingWrite {
  readonly kind: 'closing';
  readonly closing: ClosingEntry;
  /** Compared by `closedAtMs`; absent: there must be none. */
  readonly replaces?: ClosingEntry;
}

export type TransactOutcome =
  | { readonly outcome: 'committed' }
  /** One per write, same order; `undefined` where the condition held. Nothing was written. */
  | { readonly outcome: 'refused'; readonly refusals: readonly (Refusal | undefined)[] }
  | Extract<ItemsOutcome, { readonly outcome: 'conflict' | 'throttled' }>;

/** The item as it was when its condition failed; absent: there was none. */
export type Refusal =
  | { readonly kind: 'record'; readonly record?: JobRecord }
  | { readonly kind: 'counter'; readonly counter?: Counter }
  | { readonly kind: 'entry' }
  | { readonly kind: 'closing' };

export type StoredItem =
  | { readonly kind: 'record'; readonly record: JobRecord }
  | { readonly kind: 'counter'; readonly counter: Counter }
  | { readonly kind: 'entry'; readonly entry: CorrectionEntry }
  | { readonly kind: 'closing'; readonly closing: ClosingEntry }
  | { readonly kind: 'retired' }
  /** A kind or form that a newer program wrote: counted, and passed over. */
  | { readonly kind: 'unknown'; readonly sk: string };

/** Something that is said once to people, e.g. that a pipeline's job was rejected. No scan yields it. */
export interface Announcement {
  readonly key: string;
  readonly atMs: number;
  readonly untilMs: number;
}
