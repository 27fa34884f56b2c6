const POLL_MS = 50;

/** Waits until a condition holds; false when it did not within the time. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  withinMs = 10_000,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
