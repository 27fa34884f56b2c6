/** Child processes of the bench, so that each side's CPU time, memory and garbage are its own. Commands go over IPC. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Role } from './roles.ts';

const FLAGS = ['--expose-gc', '--max-semi-space-size=4'];
const ANSWER_MS_MAX = 600_000;
/** The revision that guards compare with. */
export const ENV_AGAINST = 'BENCH_AGAINST';
/** Set in processes whose steps are counted. */
export const ENV_STEPS = 'BENCH_STEPS';
const ROLES = fileURLToPath(new URL('roles.ts', import.meta.url));

export type Urls = Partial<Record<'url' | 'grpcUrl' | 'wsUrl', string>>;
type LoadField = 'jobs' | 'inFlight' | 'streams' | 'firstJobId' | 'controller' | 'roots';
export type Load = Readonly<Record<LoadField, number>>;
export type LoadResult = Readonly<Record<'seconds' | 'admitted' | 'p50Ms' | 'p99Ms', number>>;
export type Command = 'cpu' | 'rss' | 'steps' | 'reset' | Load;

export function startProcess(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = fork(file, args, {
    execArgv: FLAGS,
    env: { ...process.env, ...env },
    // As JSON, a figure that could not be measured (NaN) would arrive as null.
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  // Read, as a container's log driver does.
  child.stdout?.resume();
  const ended = once(child, 'exit').then(([code]): never => {
    throw new Error(`${file} ended with code ${code}`);
  });
  ended.catch(() => {});
  const next = async <T>(): Promise<T> => {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const [message] = await Promise.race([once(child, 'message', { signal }), ended]);
    return message as T;
  };
  return {
    next,
    send: <T>(command: Command): Promise<T> => {
      child.send(command);
      return next();
    },
    // It exits on its own, so that its sockets are closed.
    stop: (): void => {
      if (child.connected) child.disconnect();
    },
  };
}

export type StartRole = typeof startRole;
export type RoleProcess = Awaited<ReturnType<StartRole>>;

/** @param file - the roles of another version, to run its code. */
async function startRole(role: Role, env?: NodeJS.ProcessEnv, file = ROLES) {
  const { next, send, stop } = startProcess(file, [role], env);
  const { url = '', grpcUrl = '', wsUrl = '' } = await next<Urls>();
  return {
    ...{ url, grpcUrl, wsUrl, stop },
    cpuMicros: () => send<number>('cpu'),
    steps: () => send<number>('steps'),
    rssBytes: () => send<number>('rss'),
    admitJobs: (load: Load) => send<LoadResult>(load),
    resetConnections: () => send<void>('reset'),
  };
}

/** Ends the router and all processes that `measure` starts. */
export async function withProcesses<T>(
  measure: (router: RoleProcess, start: StartRole) => Promise<T>,
): Promise<T> {
  const started: RoleProcess[] = [];
  const start: StartRole = async (...role) => {
    const one = await startRole(...role);
    started.push(one);
    return one;
  };
  try {
    return await measure(await start('router'), start);
  } finally {
    for (const one of started) one.stop();
  }
}

export const relayToken = (controller: number): string => `glrct-bench-${controller}`;

/** The environment of a relay or a bare client. */
export const clientEnv = (url: string, controller: number) => ({
  BENCH_ROUTER: url,
  BENCH_TOKEN: relayToken(controller),
});
