import { BATCH_BYTES_MAX, REQUESTS_MAX, type UnmeteredAnswer } from '../functions/admit/contract.ts';
import type { Observe } from './events.ts';
import type { RelayClock } from './exchange.ts';
import type { Forwarder } from './forward.ts';

/** An hour of three fallbacks a second, some 20 MB. What is lost beyond turns up as bypass at settlement. */
export const UNMETERED_MAX = 10_000;
/** The first post waits this long, so that one outage makes few batches. */
const GATHER_MS = 1_000;
const RETRY_MS_MAX = 60_000;
/** Nobody waits for these answers. */
const POST_TIMEOUT_MS = 5_000;

export interface UnmeteredDeps {
  readonly post: Forwarder['postUnmetered'];
  readonly clock: RelayClock;
  readonly random: () => number;
  readonly observe: Observe;
  /** @default UNMETERED_MAX */
  readonly capacity?: number;
}

/** Answers given without the ledger, kept until it can be told. */
export interface Unmetered {
  add(answer: UnmeteredAnswer): void;
  /** Posts what is there, within `withinMs`; then gives up. */
  flush(withinMs: number): Promise<void>;
  readonly queued: number;
}

export function createUnmetered(deps: UnmeteredDeps): Unmetered {
  const { clock, observe } = deps;
  const capacity = deps.capacity ?? UNMETERED_MAX;
  /** JSON, oldest first. */
  let waiting: string[] = [];
  let failures = 0;
  let posting: Promise<void> | undefined;
  let cancelNext: (() => void) | undefined;
  let closed = false;

  function add(answer: UnmeteredAnswer): void {
    waiting.push(JSON.stringify(answer));
    if (waiting.length > capacity) {
      // The newest are worth more: their jobs still run.
      waiting.shift();
      tell(0, 1);
    } else {
      tell(0, 0);
    }
    plan(GATHER_MS);
  }

  function plan(delayMs: number): void {
    if (cancelNext !== undefined || posting !== undefined || closed) return;
    cancelNext = clock.after(delayMs, () => {
      cancelNext = undefined;
      posting = postAll(clock.monotonicMs() + POST_TIMEOUT_MS).finally(() => {
        posting = undefined;
        const backoffMs = Math.min(RETRY_MS_MAX, GATHER_MS * 2 ** Math.min(failures, 6));
        if (waiting.length > 0) plan(failures === 0 ? 0 : backoffMs * (0.5 + deps.random() / 2));
      });
    });
  }

  /** Posts batch after batch until all is told, the service fails or time is up. */
  async function postAll(deadlineMs: number): Promise<void> {
    while (waiting.length > 0) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      const batch = nextBatch(waiting);
      waiting = waiting.slice(batch.length);
      const results = await deps.post(batch, leftMs);
      const again =
        results === undefined ? batch : batch.filter((_, index) => results[index]?.outcome === 'undecided');
      failures = again.length === 0 ? 0 : failures + 1;
      // In front, where they came from; what came meanwhile may have filled the place.
      waiting = [...again, ...waiting];
      const dropped = Math.max(0, waiting.length - capacity);
      if (dropped > 0) waiting = waiting.slice(dropped);
      tell(batch.length - again.length, dropped);
      if (failures > 0) return;
    }
  }

  async function flush(withinMs: number): Promise<void> {
    closed = true;
    cancelNext?.();
    cancelNext = undefined;
    const deadlineMs = clock.monotonicMs() + withinMs;
    let cancelWait = (): void => {};
    const timeUp = new Promise<void>((resolve) => {
      cancelWait = clock.after(withinMs, resolve);
    });
    // A post on its way is waited for: its batch is not in the queue.
    await Promise.race([posting, timeUp]);
    await Promise.race([postAll(deadlineMs), timeUp]);
    cancelWait();
  }

  const tell = (posted: number, dropped: number): void =>
    observe({ type: 'unmetered', queued: waiting.length, posted, dropped });

  return {
    add,
    flush,
    get queued() {
      return waiting.length;
    },
  };
}

/** As many of the oldest as the contract takes at once; one always fits. */
function nextBatch(waiting: readonly string[]): readonly string[] {
  let bytes = 0;
  let count = 0;
  for (const json of waiting.slice(0, REQUESTS_MAX)) {
    bytes += Buffer.byteLength(json);
    if (count > 0 && bytes > BATCH_BYTES_MAX) break;
    count += 1;
  }
  return waiting.slice(0, count);
}
