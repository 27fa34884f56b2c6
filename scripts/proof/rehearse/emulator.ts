import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { loopbackPort } from '../../local/loopback.ts';
import { until } from '../relay-process.ts';

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

const SCRIPT = fileURLToPath(new URL('emulator.py', import.meta.url));
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 5_000;
const ANSWER_MS_MAX = 1_000;
const CRASHES_MAX = 20;

/** A moto server on a free port of this machine. It ends with this process, however that ends. */
export async function startEmulator(python: string) {
  const port = await loopbackPort();
  const child = spawn(python, [SCRIPT, String(port)], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, PYTHONUNBUFFERED: '1' },
  });
  const crashes: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    // The last line of a stack says what it was about.
    if (/^\w[\w.]*(?:Error|Exception)\b/.test(line) && crashes.length < CRASHES_MAX) crashes.push(line);
  });
  try {
    await untilItAnswers(port, child);
  } catch (error) {
    await end(child);
    throw error;
  }
  return {
    /** By this name it finds templates in its own buckets. */
    endpoint: `http://localhost:${port}`,
    crashes: (): readonly string[] => crashes,
    stop: () => end(child),
  };
}

async function untilItAnswers(port: number, child: ChildProcess): Promise<void> {
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/moto-api/data.json`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const isDone = await until(async () => child.exitCode !== null || (await isUp()), START_MS_MAX);
  if (child.exitCode !== null) throw new Error(`the emulator ended with ${child.exitCode} at once`);
  if (!isDone) throw new Error(`the emulator does not answer at port ${port}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.stdin?.end();
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await exited;
  clearTimeout(killer);
}
