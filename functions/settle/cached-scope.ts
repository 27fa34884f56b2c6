import type { Log } from '../core/environment/index.ts';
import type { ControllerScope, ControllerScopeStore } from '../core/ledger/index.ts';

/** The sweep writes it every five minutes. */
const FRESH_MS = 60_000;

/**
 * The scope that the sweep left beside the books, read at most once a minute. Where the table does not answer, the last one
 * goes on; nothing waits for it, since a job in the wrong place is judged again by nobody.
 */
export function cachedScope({
  store,
  clock,
  log,
}: {
  readonly store: Pick<ControllerScopeStore, 'read'>;
  readonly clock: { nowMs(): number };
  readonly log: Log;
}): () => Promise<ControllerScope | undefined> {
  let known: ControllerScope | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.nowMs() - readAtMs < FRESH_MS) return known;
    try {
      known = await store.read();
      readAtMs = clock.nowMs();
    } catch (error) {
      log.warn('scope not read, the last one goes on', { error: error instanceof Error ? error.name : '' });
    }
    return known;
  };
}
