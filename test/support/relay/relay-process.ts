import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../relay/main.ts', import.meta.url));

/** `relay/main.ts` as a process of its own. */
export interface RelayProcess {
  readonly child: ChildProcess;
  /** Resolves with what it wrote, once it is gone and everything is read. */
  readonly closed: Promise<{
    readonly code: number | null;
    readonly stdout: string;
    readonly stderr: string;
  }>;
  wrote(text: string): Promise<void>;
  readonly kill: () => void;
}

/**
 * Starts a relay with nothing but `env` and a temporary folder in its environment. The caller ends it with `kill`. A killed
 * relay leaves its socket, which goes with the folder.
 */
export function spawnRelay(env: Readonly<Record<string, string>>): RelayProcess {
  const folder = mkdtempSync(join(tmpdir(), 'relay-'));
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, TMPDIR: folder, ...env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const closed = once(child, 'close').then(([code]) => {
    rmSync(folder, { recursive: true, force: true });
    return { code, ...output };
  });
  return {
    child,
    closed,
    kill: () => void child.kill('SIGKILL'),
    wrote: async (text) => {
      while (!output.stdout.includes(text)) {
        const gone = await Promise.race([
          closed,
          child.stdout && once(child.stdout, 'data').then(() => undefined),
        ]);
        if (gone && !output.stdout.includes(text)) throw new Error(`ended without "${text}": ${gone.stderr}`);
      }
    },
  };
}

export const logOf = (stdout: string): Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{"_aws"'))
    .map((line) => JSON.parse(line));
