import { setImmediate } from 'node:timers/promises';

const TIMEOUT_MS = 240_000;

/** Waits for something that other code brings about, by looking again whenever the event loop comes round. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAtMs = performance.now() + TIMEOUT_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAtMs) throw new Error(`still not true after ${TIMEOUT_MS} ms: ${holds}`);
    await setImmediate();
  }
}
