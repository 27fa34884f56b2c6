export interface Retries {
  readonly clock: { sleep(delayMs: number): Promise<void> };
  /** [0, 1) */
  readonly random: () => number;
  readonly triesMax: number;
  /** The longest pause after so many tries; a random part of it is waited, so that rivals do not meet again. */
  readonly pauseMsMax: (tries: number) => number;
  /** Whether there is time for a pause and one more try. @default always */
  readonly isTimeFor?: (pauseMs: number) => boolean;
}

/** Tries again while the answer is one to try again for; the last answer is the answer. */
export async function retried<T>(
  attempt: () => Promise<T>,
  isAgain: (answer: T) => boolean,
  { clock, random, triesMax, pauseMsMax, isTimeFor = () => true }: Retries,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const answer = await attempt();
    if (tries >= triesMax || !isAgain(answer)) return answer;
    const pauseMs = random() * pauseMsMax(tries);
    if (!isTimeFor(pauseMs)) return answer;
    await clock.sleep(pauseMs);
  }
}

/** Twice as long after every try, up to a bound. */
export const doubling =
  (msMin: number, msMax: number) =>
  (tries: number): number =>
    Math.min(msMax, msMin * 2 ** tries);
