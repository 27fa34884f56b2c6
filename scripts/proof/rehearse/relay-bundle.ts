import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

interface RunningRelay {
  /** Rejects with what it wrote when the process ends by itself. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/**
 * Starts the relay's bundle as its container would.
 *
 * @param env - all of it: nothing is taken over from this process.
 */
export function startRelayBundle(folder: string, env: Readonly<Record<string, string>>): RunningRelay {
  const child = spawn(process.execPath, [join(folder, 'relay.mjs')], {
    cwd: folder,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  }
  const exited = once(child, 'exit');
  const failed = exited.then(([code]) => {
    throw new Error(`the relay ended with ${code}:\n${written}`);
  });
  // Nobody may be waiting for it when it is closed.
  failed.catch(() => {});
  return {
    failed,
    close: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
