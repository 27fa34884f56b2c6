import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface HostedBundle {
  /** What the handler answers to `event`, after a way through JSON. Rejects with what it threw. */
  invoke(event: unknown): Promise<unknown>;
  /** Stops its process or lets it go on: what it is asked meanwhile waits. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Everything it has written to stdout and stderr. */
  output(): string;
  close(): Promise<void>;
}

interface HostOptions {
  /** Contains `handler.mjs`; lies below the project's folder, where Lambda's own packages are found. */
  readonly folder: string;
  /** All of it: nothing is taken over from this process. */
  readonly env: Readonly<Record<string, string>>;
}

interface Answer {
  readonly id?: number;
  readonly ready?: boolean;
  readonly result?: unknown;
  readonly error?: string;
}

const HOST = fileURLToPath(new URL('bundle-host.mjs', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Cold starts take half a second here; a busy machine gets time. */
const LOAD_MS_MAX = 30_000;
const INVOKE_MS_MAX = 60_000;

/**
 * A deployed bundle in a process of its own, on this Node. It may read its folder and the packages, and write nothing, as on
 * Lambda.
 *
 * @throws {Error} with what it wrote, when the bundle cannot be loaded.
 */
export async function hostBundle({ folder, env }: HostOptions): Promise<HostedBundle> {
  const readable = [HOST, folder, join(root, 'node_modules'), join(root, 'package.json')];
  const child = fork(HOST, [pathToFileURL(join(folder, 'handler.mjs')).href], {
    cwd: folder,
    env,
    execArgv: ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`)],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  }
  const answers = waitingFor(child, () => written);
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await answers.next('ready', LOAD_MS_MAX);
  } catch (error) {
    await close();
    throw error;
  }
  let calls = 0;
  return {
    invoke: async (event) => {
      calls += 1;
      const answer = answers.next(calls, INVOKE_MS_MAX);
      child.send({ id: calls, event });
      const { error, result } = await answer;
      if (error !== undefined) throw new Error(error);
      return result;
    },
    signal: (name) => void child.kill(name),
    output: () => written,
    close,
  };
}

/** Who waits for which message; a process that ends, or says nothing in time, disappoints all of them. */
function waitingFor(child: ChildProcess, written: () => string) {
  const waiting = new Map<number | 'ready', (answer: Answer | Error) => void>();
  child.on('message', (message) => {
    const answer = message as Answer;
    waiting.get(answer.ready === true ? 'ready' : (answer.id ?? 0))?.(answer);
  });
  child.on('exit', (code, signal) => {
    const error = new Error(`the bundle's process ended with ${code ?? signal}:\n${written()}`);
    for (const tell of waiting.values()) tell(error);
  });
  return {
    next: (id: number | 'ready', timeoutMs: number): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => tell(new Error(`no answer in ${timeoutMs} ms:\n${written()}`)),
          timeoutMs,
        );
        const tell = (answer: Answer | Error): void => {
          clearTimeout(timer);
          waiting.delete(id);
          if (answer instanceof Error) reject(answer);
          else resolve(answer);
        };
        waiting.set(id, tell);
      }),
  };
}
