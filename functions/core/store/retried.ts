import type { LedgerClock } from '../environment/clock.ts';

export interface Retries {
  readonly clock: LedgerClock;
  readonly random: () => number;
  readonly triesMax: number;
  /** The longest pause between two tries; each takes a random part of it, so that rivals do not meet again. */
  readonly pauseMs: number;
}

/** Tries again while the answer is one to try again for; the last answer is the answer. */
export async function retried<T>(
  attempt: () => Promise<T>,
  isAgain: (answer: T) => boolean,
  { clock, random, triesMax, pauseMs }: Retries,
): Promise<T> {
  let answer = await attempt();
  for (let tries = 1; tries < triesMax && isAgain(answer); tries += 1) {
    await clock.sleep(random() * pauseMs);
    answer = await attempt();
  }
  return answer;
}
