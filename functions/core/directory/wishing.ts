import type { Log } from '../environment/index.ts';
import { type DirectoryTable, type DirectoryWish, WISH_AGAIN_MS } from './directory-table.ts';

interface WishingDeps {
  readonly table: Pick<DirectoryTable, 'putWish'>;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}

/** Ids per process in ten minutes. Thousands of unknown ids mean that the sync has stopped. */
const WISHES_MAX = 100;
const TIMEOUT_MS = 500;

/**
 * Stores ids that were not found, each once in ten minutes. It runs in the background and ignores failures,
 * because the listing finds the id later. (Lambda may freeze a write; it continues with the next batch.)
 */
export class WishWriter {
  readonly #deps: WishingDeps;
  readonly #since = new Map<string, number>();
  readonly #underway = new Set<Promise<void>>();

  constructor(deps: WishingDeps) {
    this.#deps = deps;
  }

  wish(wish: DirectoryWish): void {
    const { table, clock, log } = this.#deps;
    const nowMs = clock.nowMs();
    for (const [name, atMs] of this.#since) if (atMs <= nowMs - WISH_AGAIN_MS) this.#since.delete(name);
    const name = `${wish.kind}/${wish.id}`;
    if (this.#since.has(name) || this.#since.size >= WISHES_MAX) return;
    this.#since.set(name, nowMs);
    const write = table
      .putWish(wish, nowMs, { timeoutMs: TIMEOUT_MS })
      .catch((error: unknown) => {
        log.warn('unknown id not written down', {
          wish: name,
          cause: error instanceof Error ? error.message : '',
        });
      })
      .finally(() => this.#underway.delete(write));
    this.#underway.add(write);
  }

  /** For tests: when everything is written. */
  async settled(): Promise<void> {
    await Promise.all(this.#underway);
  }
}
