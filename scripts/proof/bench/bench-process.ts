import { fork } from 'node:child_process';

/** What every process of the bench runs with; the relay's container has the same young generation. */
const FLAGS = ['--expose-gc', '--max-semi-space-size=16'];
/** Longer than the longest part on a slow machine: a process that hangs must not hang the bench. */
const ANSWER_MS_MAX = 600_000;

/** A process of its own, so that nothing measured in it shares a heap or compiled code with anything else. */
interface BenchProcess {
  /** The next message it sends; rejects if it ends instead. */
  next<T>(): Promise<T>;
  /** Sends a command and waits for its answer, one at a time. */
  send<T>(command: unknown): Promise<T>;
  stop(): void;
}

/** @param env - besides that of this process. With it, what the process prints is its log, which nobody reads. */
export function startBenchProcess(
  file: string,
  args: readonly string[] = [],
  env?: Readonly<Record<string, string>>,
): BenchProcess {
  const child = fork(file, args, {
    execArgv: FLAGS,
    ...(env !== undefined && { env: { ...process.env, ...env } }),
    // As JSON, a figure that could not be measured (NaN) would arrive as null.
    serialization: 'advanced',
    stdio: ['ignore', env === undefined ? 'inherit' : 'ignore', 'inherit', 'ipc'],
  });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        child.off('exit', ended);
        child.off('message', heard);
        act();
      };
      const timer = setTimeout(() => {
        settle(() => reject(new Error(`${file} said nothing for ${ANSWER_MS_MAX} ms`)));
        child.kill();
      }, ANSWER_MS_MAX);
      const ended = (code: number | null): void =>
        settle(() => reject(new Error(`${file} ended with code ${code}`)));
      const heard = (message: unknown): void => settle(() => resolve(message as T));
      child.on('exit', ended);
      child.on('message', heard);
    });
  return {
    next,
    send: (command) => {
      child.send(command as object);
      return next();
    },
    // It leaves by itself, so that it takes its sockets along.
    stop: () => {
      if (child.connected) child.disconnect();
    },
  };
}

/** The other end: answers every command, and ends with whoever started it. */
export function obeyParent<Command>(obey: (command: Command) => Promise<unknown> | unknown): void {
  process.on('message', (command: Command) => {
    Promise.resolve(command)
      .then(obey)
      .then(
        (result) => tellParent(result ?? {}),
        (error) => {
          console.error(error);
          process.exit(1);
        },
      );
  });
  process.on('disconnect', () => process.exit(0));
}

export const tellParent = (message: unknown): void => void process.send?.(message);
