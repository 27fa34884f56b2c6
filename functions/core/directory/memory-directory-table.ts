import { DirectoryError } from './directory-error.ts';
import {
  type ChunkAddress,
  type DirectoryPointer,
  type DirectoryTable,
  type ReadOptions,
  WISH_AGAIN_MS,
  type Wish,
} from './directory-table.ts';

export type DirectoryOperation = keyof DirectoryTable;
export type DirectoryFault = 'lost-before' | 'lost-after' | undefined;

/** The table in memory, for tests and local runs. */
export class MemoryDirectoryTable implements DirectoryTable {
  #pointer: DirectoryPointer | undefined;
  readonly #chunks = new Map<string, Uint8Array>();
  readonly #expiries = new Map<string, number>();
  readonly #wishes = new Map<string, { readonly wish: Wish; readonly atMs: number; open: boolean }>();
  readonly #fault: (operation: DirectoryOperation) => DirectoryFault;

  /** @param fault - asked once per operation; `lost-after` applies it and loses the answer. */
  constructor(fault: (operation: DirectoryOperation) => DirectoryFault = () => undefined) {
    this.#fault = fault;
  }

  /** Names of the chunks that are stored, live or not. */
  get stored(): readonly string[] {
    return [...this.#chunks.keys()];
  }

  getPointer(_options: ReadOptions): Promise<DirectoryPointer | undefined> {
    return this.#answer('getPointer', () => this.#pointer);
  }

  putChunk(at: ChunkAddress, bytes: Uint8Array, _options: ReadOptions): Promise<void> {
    return this.#answer('putChunk', () => {
      this.#chunks.set(nameOf(at), Uint8Array.from(bytes));
    });
  }

  readChunks(
    at: readonly ChunkAddress[],
    _options: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#answer('readChunks', () => at.map((address) => this.#chunks.get(nameOf(address))));
  }

  expireChunk(at: ChunkAddress, atMs: number, _options: ReadOptions): Promise<void> {
    return this.#answer('expireChunk', () => {
      if (this.#chunks.has(nameOf(at))) this.#expiries.set(nameOf(at), atMs);
    });
  }

  /** What DynamoDB does by the way: chunks whose time is up are gone. */
  collectGarbage(nowMs: number): void {
    for (const [name, atMs] of this.#expiries) {
      if (atMs <= nowMs && this.#expiries.delete(name)) this.#chunks.delete(name);
    }
  }

  flip(to: DirectoryPointer, _options: ReadOptions): Promise<'flipped' | 'stale'> {
    return this.#answer('flip', () => {
      if ((this.#pointer?.edit ?? 0) !== to.edit - 1) return 'stale';
      this.#pointer = to;
      return 'flipped';
    });
  }

  putWish(wish: Wish, atMs: number, _options: ReadOptions): Promise<void> {
    return this.#answer('putWish', () => {
      const before = this.#wishes.get(`${wish.kind}/${wish.id}`);
      if (before !== undefined && before.atMs > atMs - WISH_AGAIN_MS) return;
      this.#wishes.set(`${wish.kind}/${wish.id}`, { wish, atMs, open: true });
    });
  }

  readWishes(limit: number, _options: ReadOptions): Promise<readonly Wish[]> {
    return this.#answer('readWishes', () =>
      [...this.#wishes.values()]
        .filter(({ open }) => open)
        .slice(0, limit)
        .map(({ wish }) => wish),
    );
  }

  grantWish(wish: Wish, _options: ReadOptions): Promise<void> {
    return this.#answer('grantWish', () => {
      const entry = this.#wishes.get(`${wish.kind}/${wish.id}`);
      if (entry !== undefined) entry.open = false;
    });
  }

  async #answer<T>(operation: DirectoryOperation, apply: () => T): Promise<T> {
    const fault = this.#fault(operation);
    if (fault === 'lost-before') throw lost(operation);
    const answer = apply();
    if (fault === 'lost-after') throw lost(operation);
    return answer;
  }
}

const nameOf = ({ version, name }: ChunkAddress): string => `${version} ${name}`;

const lost = (operation: DirectoryOperation): DirectoryError =>
  new DirectoryError(
    'directory_unavailable',
    `${operation}: no answer from the in-memory table (injected fault)`,
  );
