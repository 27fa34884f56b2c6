/** How a pool leaves: by attrition, so that no question is lost which the router has sent or is about to send. */
import type { RelayClock } from '../exchange.ts';
import { Timers } from './entrance.ts';
import type { Stream } from './stream.ts';

/**
 * How long waiting streams are left to the router. Under load each goes by its own question; a stream that is cancelled
 * while its question is on the way is a failed job.
 */
const ATTRITION_MS = 3_000;
/** Less than the 10 s a container has to stop, with room to flush what follows. */
const CUT_MS = 7_000;
/** What is cut ends within moments, or its connection is dead. */
const CUT_GRACE_MS = 250;

interface DepartureDeps {
  readonly clock: RelayClock;
  /** @default 3 s */
  readonly attritionMs: number | undefined;
  /** Runs once what has arrived by now is read. */
  readonly defer: (run: () => void) => void;
  /** Those that have not ended. */
  readonly streams: ReadonlySet<Stream>;
  readonly left: () => void;
}

export class Departure {
  readonly #deps: DepartureDeps;
  readonly #timers: Timers<'attrition' | 'cut' | 'grace'>;
  readonly #done = Promise.withResolvers<void>();

  constructor(deps: DepartureDeps) {
    this.#deps = deps;
    this.#timers = new Timers(deps.clock);
  }

  begin(): void {
    const deps = this.#deps;
    const { attritionMs = ATTRITION_MS } = deps;
    this.#timers.after('attrition', attritionMs, () => deps.defer(() => this.#cancel(({ free }) => free)));
    this.#timers.after('cut', CUT_MS, () => {
      this.#timers.after('grace', CUT_GRACE_MS, () => this.#leave());
      this.#cancel(() => true);
    });
    // The router knows nothing of these.
    this.#cancel(({ state }) => state === 'opening');
    this.ended();
  }

  /** Resolves when all streams have ended, after 7.25 s at the latest. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** A stream has ended, and maybe it was the last. */
  ended(): void {
    if (this.#deps.streams.size === 0) this.#leave();
  }

  #cancel(which: (stream: Stream) => boolean): void {
    for (const stream of [...this.#deps.streams]) if (which(stream)) stream.cancel();
  }

  #leave(): void {
    this.#timers.cancelAll();
    this.#deps.left();
    this.#done.resolve();
  }
}
