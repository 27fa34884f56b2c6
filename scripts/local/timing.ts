const POLL_MS = 50;

/** @returns false if the condition does not hold in time. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  withinMs = 10_000,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

/** Repeats work until it is stopped, and skips a turn while the last one still runs. */
export function every(everyMs: number, work: () => Promise<unknown>): { stop(): Promise<void> } {
  let running: Promise<void> | undefined;
  const end = (): void => {
    running = undefined;
  };
  const timer = setInterval(() => {
    running ??= work().then(end, end);
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
