/**
 * A table of plain objects, for the columns that are only compared with: the same conditions as the in-memory table of the
 * ledger, without encoding every item, which is half of that one's time. A test says that a month on it is the same.
 */
import type {
  Announcement,
  CorrectionEntry,
  Counter,
  CounterWrite,
  JobRecord,
  LedgerStore,
  MemoryStoreOptions,
  ReadOptions,
  Refusal,
  StoredItem,
  TransactOptions,
  TransactOutcome,
  UncheckedCause,
  Write,
} from '../../../functions/core/ledger/index.ts';
import { LedgerError } from '../../../functions/core/store/index.ts';
import { type CounterKey, counterName } from '../../../policies/claim.ts';

/** A token is asked about again within the same call, so the last few are enough. */
const TOKENS_MAX = 1_000;

export class ObjectLedgerStore implements Omit<LedgerStore, 'due'> {
  readonly #options: MemoryStoreOptions;
  readonly #records = new Map<number, JobRecord>();
  readonly #counters = new Map<string, Counter>();
  readonly #entries = new Map<number, CorrectionEntry[]>();
  readonly #tokens = new Set<string>();

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
  }

  async transact(writes: readonly Write[], { token }: TransactOptions): Promise<TransactOutcome> {
    const fault = this.#options.fault?.('transact');
    if (fault?.kind === 'lost-before') throw lost();
    if (fault?.kind === 'conflict') return { outcome: 'conflict' };
    if (fault?.kind === 'throttle') return { outcome: 'throttled' };
    if (!this.#tokens.has(token)) {
      const refusals = writes.map((write) => this.#refusal(write));
      if (refusals.some((refusal) => refusal !== undefined)) return { outcome: 'refused', refusals };
      for (const write of writes) this.#apply(write);
      this.#remember(token);
      this.#options.onCommit?.(writes);
    }
    if (fault?.kind === 'lost-after') throw lost();
    return { outcome: 'committed' };
  }

  async readCounters(
    keys: readonly CounterKey[],
    _options: ReadOptions,
  ): Promise<readonly (Counter | undefined)[]> {
    this.#beforeRead('readCounters');
    return keys.map((key) => this.#counters.get(counterName(key)));
  }

  async readRecords(
    jobIds: readonly number[],
    _options: ReadOptions,
  ): Promise<readonly (JobRecord | undefined)[]> {
    this.#beforeRead('readRecords');
    return jobIds.map((jobId) => this.#records.get(jobId));
  }

  async readEntries(jobId: number, _options: ReadOptions): Promise<readonly CorrectionEntry[]> {
    this.#beforeRead('readEntries');
    return this.#entries.get(jobId) ?? [];
  }

  async announce(_announcement: Announcement, _options: ReadOptions): Promise<boolean> {
    throw new LedgerError('ledger_misuse', 'nothing is announced in a simulated month');
  }

  async *scan(): AsyncGenerator<StoredItem> {
    yield* this.dump();
  }

  *dump(): Generator<StoredItem> {
    for (const record of this.#records.values()) yield { kind: 'record', record };
    for (const counter of this.#counters.values()) yield { kind: 'counter', counter };
    for (const entries of this.#entries.values()) for (const entry of entries) yield { kind: 'entry', entry };
  }

  #refusal(write: Write): Refusal | undefined {
    switch (write.kind) {
      case 'record': {
        const record = this.#records.get(write.record.jobId);
        return record?.rev === write.replaces?.rev
          ? undefined
          : { kind: 'record', ...(record && { record }) };
      }
      case 'counter': {
        const counter = this.#counters.get(counterName(write.key));
        return fits(write, counter) ? undefined : { kind: 'counter', ...(counter && { counter }) };
      }
      case 'entry':
        return (this.#entries.get(write.entry.jobId)?.length ?? 0) === write.entry.number - 1
          ? undefined
          : { kind: 'entry' };
      case 'reset':
      case 'closing':
        break;
    }
    throw new LedgerError('ledger_misuse', 'a simulated month repairs and closes nothing');
  }

  #apply(write: Write): void {
    if (write.kind === 'record') this.#records.set(write.record.jobId, write.record);
    if (write.kind === 'counter') {
      const name = counterName(write.key);
      this.#counters.set(name, added(write, this.#counters.get(name)));
    }
    if (write.kind !== 'entry') return;
    const entries = this.#entries.get(write.entry.jobId);
    if (entries === undefined) this.#entries.set(write.entry.jobId, [write.entry]);
    else entries.push(write.entry);
  }

  #beforeRead(operation: 'readCounters' | 'readRecords' | 'readEntries'): void {
    if (this.#options.fault?.(operation) !== undefined) throw lost();
  }

  #remember(token: string): void {
    this.#tokens.add(token);
    const [oldest] = this.#tokens.size > TOKENS_MAX ? this.#tokens : [];
    if (oldest !== undefined) this.#tokens.delete(oldest);
  }
}

const lost = (): LedgerError => new LedgerError('ledger_unavailable', 'no answer (injected fault)');

const fits = (write: CounterWrite, counter: Counter | undefined): boolean =>
  (counter?.committed ?? 0) <= (write.maxCommitted ?? Number.POSITIVE_INFINITY) &&
  (counter?.fitted ?? 0) <= (write.maxFitted ?? Number.POSITIVE_INFINITY);

function added(write: CounterWrite, counter: Counter | undefined): Counter {
  const sum = (cause: UncheckedCause): number =>
    (counter?.unchecked[cause] ?? 0) + (write.unchecked[cause] ?? 0);
  return {
    key: write.key,
    committed: (counter?.committed ?? 0) + write.committed,
    fitted: (counter?.fitted ?? 0) + write.fitted,
    settled: (counter?.settled ?? 0) + write.settled,
    unchecked: { exempt: sum('exempt'), unmetered: sum('unmetered'), bypass: sum('bypass') },
    rev: (counter?.rev ?? 0) + 1,
  };
}
