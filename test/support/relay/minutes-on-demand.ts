/**
 * Loaded into a relay's process before its own code (`node --import`): a timer of the length of a metrics' minute also goes off
 * at SIGUSR2. So a test lets minutes pass one by one, and everything else keeps its own time.
 */
import { WRITE_EVERY_MS } from '../../../relay/monitoring/cloudwatch.ts';

const { setTimeout: start, clearTimeout: stop } = globalThis;
const minutes = new Map<NodeJS.Timeout, () => void>();

globalThis.setTimeout = Object.assign((run: () => void, delayMs?: number, ...given: []) => {
  if (delayMs !== WRITE_EVERY_MS) return start(run, delayMs, ...given);
  const timer = start(() => {
    minutes.delete(timer);
    run();
  }, delayMs);
  minutes.set(timer, run);
  return timer;
}, start);

globalThis.clearTimeout = (timer) => {
  if (typeof timer === 'object') minutes.delete(timer as NodeJS.Timeout);
  stop(timer);
};

process.on('SIGUSR2', () => {
  for (const [timer, run] of [...minutes]) {
    globalThis.clearTimeout(timer);
    run();
  }
});
