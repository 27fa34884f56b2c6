import { setImmediate, setTimeout } from 'node:timers/promises';

const TIMEOUT_MS = 240_000;
/** Some milliseconds of looking without a pause. A longer wait is for a real timer, and must leave the CPU to others. */
const LOOKS_AT_ONCE = 10_000;

/** Waits for something that other code brings about, by looking again whenever the event loop comes round. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAtMs = performance.now() + TIMEOUT_MS;
  for (let looks = 0; !(await holds()); looks += 1) {
    if (performance.now() > giveUpAtMs) throw new Error(`still not true after ${TIMEOUT_MS} ms: ${holds}`);
    await (looks < LOOKS_AT_ONCE ? setImmediate() : setTimeout(5));
  }
}
