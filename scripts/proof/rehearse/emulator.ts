import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endChild, untilAnswers } from '../../local/child-process.ts';
import { loopbackPort } from '../../local/loopback.ts';

export type Emulator = Awaited<ReturnType<typeof startEmulator>>;

const SCRIPT = fileURLToPath(new URL('../../../test/peers/aws/emulator.py', import.meta.url));
const START_MS_MAX = 60_000;
const ANSWER_MS_MAX = 1_000;
const CRASHES_MAX = 20;

/** A moto server on a free port of this machine. It ends with this process, however that ends. */
export async function startEmulator(python: string) {
  const port = await loopbackPort();
  const child = spawn(python, [SCRIPT, String(port)], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' },
  });
  const crashes: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    // The last line of a stack has the error.
    if (/^\w[\w.]*(?:Error|Exception)\b/.test(line) && crashes.length < CRASHES_MAX) crashes.push(line);
  });
  const url = `http://127.0.0.1:${port}/moto-api/data.json`;
  const answers = () =>
    fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) }).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await untilAnswers(child, `the emulator at ${url}`, answers, START_MS_MAX);
  } catch (error) {
    await endChild(child);
    throw error;
  }
  return {
    /** By this name it finds templates in its own buckets. */
    endpoint: `http://localhost:${port}`,
    crashes: (): readonly string[] => crashes,
    /** Makes the next change of a stack end like this, or the next request for a path. */
    inject: (what: string, ending: string) => child.stdin.write(`${what} ${ending}\n`),
    stop: () => endChild(child),
  };
}
