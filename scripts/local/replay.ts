/** Asks questions at a steady rate without waiting for answers, as a router does; resolves when all are answered. */
export async function replay<Q>(
  questions: Iterable<Q>,
  options: {
    readonly ratePerSecond: number;
    readonly ask: (question: Q) => Promise<unknown>;
    readonly stopped: () => boolean;
  },
): Promise<void> {
  const startedMs = performance.now();
  const open = new Set<Promise<unknown>>();
  let asked = 0;
  for (const question of questions) {
    if (options.stopped()) break;
    const dueMs = startedMs + (asked * 1000) / options.ratePerSecond;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    asked += 1;
    const answered: Promise<unknown> = options.ask(question).finally(() => open.delete(answered));
    open.add(answered);
  }
  await Promise.all(open);
}
