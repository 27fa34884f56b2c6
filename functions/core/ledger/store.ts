/**
 * The ledger's interface to a table: all-or-nothing writes with conditions, consistent reads, a scan and the
 * due index. DynamoDB and the in-memory table implement it.
 */
import type { CounterKey } from '../../../policies/claim.ts';
import type { PageEnd, ScanSegment } from '../store/operation.ts';
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
  /**
   * Applies every write or none; no item may appear twice. Repeating the same writes with the same token within ten
   * minutes applies them once.
   *
   * @throws {LedgerError} `ledger_unavailable`: no answer; the writes may or may not have been applied.
   */
  transact(writes: readonly Write[], options: TransactOptions): Promise<TransactOutcome>;
  /** Consistent. One per key, same order. @throws {LedgerError} `ledger_unavailable` */
  readCounters(keys: readonly CounterKey[], options: ReadOptions): Promise<readonly (Counter | undefined)[]>;
  /** Consistent. One per job id, same order. @throws {LedgerError} `ledger_unavailable` */
  readRecords(jobIds: readonly number[], options: ReadOptions): Promise<readonly (JobRecord | undefined)[]>;
  /** In the order of their numbers. @throws {LedgerError} `ledger_unavailable` */
  readEntries(jobId: number, options: ReadOptions): Promise<readonly CorrectionEntry[]>;
  /**
   * Every item of this instance; not a snapshot: what changes meanwhile is seen before or after. An `eventual` scan costs
   * half of a `consistent` one (the default), and of some items it may show what they were a moment before it began.
   */
  scan(consistency?: Consistency): AsyncIterable<StoredItem>;
  /** Live jobs of one shard whose due time is before `beforeMs`, oldest first. The index may lag behind the table. */
  due(shard: number, beforeMs: number, limit: number, options: ReadOptions): Promise<readonly DueJob[]>;
  /**
   * Marks a notice as sent: true for the first caller until `untilMs`.
   *
   * @throws {LedgerError} `ledger_unavailable`: no answer; the mark may or may not exist.
   */
  announce(announcement: Announcement, options: ReadOptions): Promise<boolean>;
}

export type Consistency = 'consistent' | 'eventual';

/** The same scan in parts, so that several programs or runs share it. */
export interface SegmentStore {
  /** A page of a segment. @throws {LedgerError} `ledger_unavailable` */
  scanSegment(ask: SegmentAsk): Promise<SegmentPage>;
}

export interface SegmentAsk {
  readonly segment: ScanSegment;
  readonly consistency: Consistency;
  /** End of the previous page, from this or another process. Absent: start of the segment. */
  readonly from?: PageEnd;
}

export interface SegmentPage {
  readonly items: readonly StoredItem[];
  /** Absent: this was the segment's last. */
  readonly next?: PageEnd;
}

/** Stores webhooks before they are acknowledged. */
export interface InboxStore {
  /**
   * Writes the item unless one with its id was written before: true for the first. No scan yields it; its reader is
   * the table's stream.
   * @throws {LedgerError} `ledger_unavailable`: no answer; it may or may not be written.
   */
  receive(item: InboxItem, options: ReadOptions): Promise<boolean>;
}

/** Periods that are to be closed, and what one is made of. */
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
  /**
   * Keeps the record's `rev`, so that readers of the stream see no change.
   *
   * @param entries - correction entries of the job to rewrite as well.
   * @returns false if the record was changed or deleted concurrently.
   * @throws {LedgerError} `ledger_unavailable`
   */
  rewrite(record: JobRecord, entries: readonly CorrectionEntry[], options: ReadOptions): Promise<boolean>;
}

export interface InboxItem {
  /** Any text; the same for every repetition of one delivery. */
  readonly id: string;
  /** Any text, of a few KB at most. */
  readonly body: string;
  /** Unix ms. */
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

/** Puts a job's record if it is still as it was read. */
interface RecordWrite {
  readonly kind: 'record';
  readonly record: JobRecord;
  /** The record it replaces (compared by `rev`); absent: there must be none. */
  readonly replaces?: JobRecord;
}

/** Adds to a counter if it then stays within its bounds. An absent counter is one of zeros. */
export interface CounterWrite {
  readonly kind: 'counter';
  readonly key: CounterKey;
  readonly committed: number;
  readonly fitted: number;
  readonly settled: number;
  readonly unchecked: Readonly<Partial<Record<UncheckedCause, number>>>;
  /** Condition: `committed` before the write is at most this. Negative: even an absent counter refuses. */
  readonly maxCommitted?: number;
  /** The same for `fitted`. */
  readonly maxFitted?: number;
  /**
   * Condition: refuses borrowers at this instant (Unix ms) while a member of the cohort reclaims its own
   * amount.
   */
  readonly borrowedAtMs?: number;
  /** A member reclaims its own amount: borrowers are refused until then, Unix ms. */
  readonly reclaimUntilMs?: number;
  /** Notes that a part of it is kept for the retry of a job of this pipeline. */
  readonly reserves?: ReservedPipeline;
  /** Jobs whose reservation notes are removed. */
  readonly unreserves?: readonly number[];
  /** When garbage collection may take the counter, Unix seconds; absent: never. */
  readonly expiresAtSeconds?: number;
  /** When its period is to be closed, Unix ms; absent: never. */
  readonly closeAtMs?: number;
}

/** Puts a correction entry that must not exist yet. */
interface EntryWrite {
  readonly kind: 'entry';
  readonly entry: CorrectionEntry;
}

/** Sets a counter's amounts if it did not change since it was read. */
export interface CounterReset {
  readonly kind: 'reset';
  readonly key: CounterKey;
  readonly amounts: CounterAmounts;
  /** The counter's `rev` when it was read; 0: there must be none. */
  readonly rev: number;
  /** As of a {@link CounterWrite}. */
  readonly expiresAtSeconds?: number;
  /** As of a {@link CounterWrite}; absent: it is closed, or never is. */
  readonly closeAtMs?: number;
  /** As of a {@link Counter}. */
  readonly drifts?: true;
}

/** Puts a closing entry, if none is there but the one it replaces. */
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
  /** Another transaction held one of the items. Nothing was written. */
  | { readonly outcome: 'conflict'; readonly contended?: readonly number[] }
  /** Nothing was written. `contended`: indexes of the writes in conflict, if the table named them. */
  | { readonly outcome: 'throttled'; readonly contended?: readonly number[] };

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
  /** A kind that only older versions wrote. */
  | { readonly kind: 'retired' }
  /** A kind or form that a newer program wrote: counted, and passed over. */
  | { readonly kind: 'unknown'; readonly sk: string };

/** Something that is said once to people, e.g. that a pipeline's job was rejected. No scan yields it. */
export interface Announcement {
  /** Any text. */
  readonly key: string;
  /** Unix ms. */
  readonly atMs: number;
  /** Unix ms, rounded up to a second. */
  readonly untilMs: number;
}
