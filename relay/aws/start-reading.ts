import type { RelayClock } from '../exchange.ts';

export interface StartReadingDeps {
  readonly clock: RelayClock;
  readonly random: () => number;
  /** Told of every failure but the last. */
  readonly failed: (error: unknown) => void;
}

/** A task that starts often meets a role or a network a moment before they work; after this its platform should know. */
export const START_MS_MAX = 120_000;
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 10_000;

/**
 * Reads what the relay cannot start without, again and again for two minutes.
 *
 * @throws what the last read threw.
 */
export async function startReading<T>(read: () => Promise<T>, deps: StartReadingDeps): Promise<T> {
  const { clock, random } = deps;
  const endMs = clock.monotonicMs() + START_MS_MAX;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** attempt) * (0.5 + random() / 2);
      if (clock.monotonicMs() + pauseMs >= endMs) throw error;
      deps.failed(error);
      await new Promise<void>((resume) => clock.after(pauseMs, resume));
    }
  }
}
