import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CLI = `${root}node_modules/aws-cdk/bin/cdk`;
/** A real deployment takes 5 to 10 minutes, mostly for the relay's first start. */
const CDK_MS_MAX = 30 * 60_000;

interface CdkOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shows its output rather than keeping it, and lets it ask. */
  readonly inherit?: boolean;
  readonly timeoutMs?: number;
}

export type CdkRun = Awaited<ReturnType<typeof runCdk>>;

/** On this Node, in `cdk/`. */
export const runCdk = (args: readonly string[], options: CdkOptions) =>
  startNode([CLI, ...args], options).ended;

/** `kill` also ends all that the program started. */
export function startNode(args: readonly string[], options: CdkOptions) {
  const child = spawn(process.execPath, args, {
    cwd: `${root}cdk`,
    env: options.env,
    stdio: options.inherit === true ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    // A terminal ends its own group, and only that may ask.
    detached: options.inherit !== true,
    timeout: options.timeoutMs ?? CDK_MS_MAX,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  const ended = new Promise<{ readonly code: number; readonly text: string }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ code: exitCode ?? 1, text }));
  });
  return { ended, said: () => text, kill: () => process.kill(-(child.pid ?? 0), 'SIGKILL') };
}
