import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type {
  FlipOutcome,
  LimitChunk,
  LimitPointer,
  LimitTable,
  LogItem,
  OpeningEntry,
  ReadOptions,
  RequestItem,
} from './limit-table.ts';
import { LimitsError } from './limits-error.ts';

export type LimitOperation = keyof LimitTable;

/** The table in memory, for tests and local runs. */
export class MemoryLimitTable implements LimitTable {
  #pointer: LimitPointer | undefined;
  readonly #chunks = new Map<string, Uint8Array>();
  readonly #openings = new Map<string, OpeningEntry>();
  readonly #log = new Map<number, LogItem>();
  readonly #requests = new Map<string, RequestItem>();
  /** Expiry per set, Unix seconds. Nothing is taken away here: the service does that some time later, too. */
  readonly retired = new Map<string, number>();
  readonly #fault: (operation: LimitOperation) => 'lost-before' | 'lost-after' | undefined;

  /** @param fault - asked once per operation; `lost-after` applies it and loses the answer. */
  constructor(
    fault: (operation: LimitOperation) => 'lost-before' | 'lost-after' | undefined = () => undefined,
  ) {
    this.#fault = fault;
  }

  getPointer(_options: ReadOptions): Promise<LimitPointer | undefined> {
    return this.#answer('getPointer', () => this.#pointer);
  }

  putChunk(set: string, chunk: LimitChunk, _options: ReadOptions): Promise<void> {
    return this.#answer('putChunk', () => {
      this.#chunks.set(`${set} ${chunk.name}`, Uint8Array.from(chunk.bytes));
    });
  }

  readChunks(
    set: string,
    names: readonly string[],
    _options: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#answer('readChunks', () => names.map((name) => this.#chunks.get(`${set} ${name}`)));
  }

  flip(
    to: LimitPointer,
    base: string | undefined,
    _options: ReadOptions,
    entry?: LogItem,
  ): Promise<FlipOutcome> {
    return this.#answer('flip', () => {
      if (this.#pointer?.set !== base) return { outcome: 'stale', live: this.#pointer };
      this.#pointer = to;
      if (entry !== undefined) this.#log.set(entry.edit, entry);
      return { outcome: 'flipped' };
    });
  }

  readLog(before: number | undefined, max: number, _options: ReadOptions): Promise<readonly LogItem[]> {
    return this.#answer('readLog', () =>
      [...this.#log.values()]
        .filter(({ edit }) => before === undefined || edit < before)
        .sort((a, b) => b.edit - a.edit)
        .slice(0, max),
    );
  }

  putRequest(item: RequestItem, _options: ReadOptions): Promise<boolean> {
    return this.#answer('putRequest', () => {
      if ((this.#requests.get(item.id)?.rev ?? 0) !== item.rev - 1) return false;
      this.#requests.set(item.id, item);
      return true;
    });
  }

  readRequests(max: number, _options: ReadOptions): Promise<readonly RequestItem[]> {
    return this.#answer('readRequests', () =>
      [...this.#requests.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, max),
    );
  }

  retire(set: string, atSeconds: number, _options: ReadOptions): Promise<void> {
    return this.#answer('retire', () => {
      this.retired.set(set, atSeconds);
    });
  }

  readOpenings(
    keys: readonly CounterKey[],
    _options: ReadOptions,
  ): Promise<readonly (OpeningEntry | undefined)[]> {
    return this.#answer('readOpenings', () => keys.map((key) => this.#openings.get(counterName(key))));
  }

  putOpening(opening: OpeningEntry, _options: ReadOptions): Promise<OpeningEntry> {
    return this.#answer('putOpening', () => {
      const name = counterName(opening.key);
      const standing = this.#openings.get(name) ?? opening;
      this.#openings.set(name, standing);
      return standing;
    });
  }

  async #answer<T>(operation: LimitOperation, apply: () => T): Promise<T> {
    const fault = this.#fault(operation);
    if (fault === 'lost-before') throw lost(operation);
    const answer = apply();
    if (fault === 'lost-after') throw lost(operation);
    return answer;
  }
}

const lost = (operation: LimitOperation): LimitsError =>
  new LimitsError('limits_unavailable', `${operation}: no answer from the in-memory table (injected fault)`);
