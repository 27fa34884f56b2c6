/** Where answers take longer than this, questions come more slowly: a slow machine should show decisions, not fallbacks. */
const ANSWER_SECONDS = 0.5;
/** At the least as many as a few groups need to be asked about at the same time. */
const OPEN_MIN = 8;

/** Asks questions at a steady rate, several at the same time, as a router does; resolves when all are answered. */
export async function replay<Q>(
  questions: Iterable<Q>,
  options: {
    readonly ratePerSecond: number;
    readonly ask: (question: Q) => Promise<unknown>;
    readonly stopped: () => boolean;
  },
): Promise<void> {
  let dueMs = performance.now();
  const openMax = Math.max(OPEN_MIN, Math.ceil(options.ratePerSecond * ANSWER_SECONDS));
  const open = new Set<Promise<unknown>>();
  const everyMs = 1_000 / options.ratePerSecond;
  for (const question of questions) {
    if (options.stopped()) break;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    while (open.size >= openMax) await Promise.race(open);
    // What was held up is not made up for: that would be a burst.
    dueMs = Math.max(dueMs, performance.now() - everyMs) + everyMs;
    const answered: Promise<unknown> = options.ask(question).finally(() => open.delete(answered));
    open.add(answered);
  }
  await Promise.all(open);
}
