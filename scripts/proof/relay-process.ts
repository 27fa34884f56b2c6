import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as names from '../../relay/names.ts';
import { loopbackPort } from '../local/loopback.ts';

const MAIN = fileURLToPath(new URL('../../relay/main.ts', import.meta.url));
const LINES_KEPT = 30;
const CONNECT_MS_MAX = 30_000;
const POLL_MS = 50;

export async function until(
  condition: () => Promise<boolean> | boolean,
  withinMs = 10_000,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

export interface RelaySettings {
  readonly router: {
    readonly url: string;
    readonly descriptors: string;
    readonly authority: string | undefined;
  };
  readonly admitUrl: string;
  /** `{policy, directory}` as the build packs it. */
  readonly policyFile: string;
  readonly tokenFile: string;
  /** @default the maximum, so that a busy machine does not cause fallback decisions */
  readonly deadlineMs?: number;
  readonly heapMb?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

const COUNTS = {
  requests: ['tollgate_relay_requests_total', '', names.RELAY_METRIC.requests],
  admitted: ['tollgate_relay_decisions_total', 'outcome="admitted"', names.RELAY_METRIC.admitted],
  rejected: ['tollgate_relay_decisions_total', 'outcome="rejected"', names.RELAY_METRIC.rejected],
  fallback: ['tollgate_relay_fallback_total', '', names.RELAY_METRIC.fallbackAnswers],
  unreadable: ['tollgate_relay_unreadable_total', '', names.RELAY_METRIC.unreadableRequests],
} as const;
type Counted = (typeof COUNTS)[keyof typeof COUNTS];
type RelayCounts = Readonly<Record<keyof typeof COUNTS, number>>;

const countsBy = (count: (counted: Counted) => number): RelayCounts =>
  Object.fromEntries(Object.entries(COUNTS).map(([name, counted]) => [name, count(counted)])) as RelayCounts;

export type RelayProcess = Awaited<ReturnType<typeof startRelay>>;

/** Starts `relay/main.ts` as a container would. @throws {Error} with its output if it does not start. */
export async function startRelay(settings: RelaySettings) {
  const healthPort = await loopbackPort();
  const heap = settings.heapMb === undefined ? [] : [`--max-old-space-size=${settings.heapMb}`];
  const child = spawn(process.execPath, [...heap, MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(settings, healthPort),
  });
  // Without this, a relay of an interrupted test would look for its router for ever.
  const endWithParent = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithParent);
  child.once('close', () => process.off('exit', endWithParent));

  const lines: string[] = [];
  const sums: Record<string, number> = {};
  const isStarted = Promise.withResolvers<boolean>();
  const onLine = (line: string): void => {
    settings.onLine?.(line);
    if (line.startsWith('{"_aws"')) {
      for (const [name, value] of Object.entries(JSON.parse(line) as Record<string, unknown>))
        if (typeof value === 'number') sums[name] = (sums[name] ?? 0) + value;
      return;
    }
    if (line.includes('"message":"started"')) isStarted.resolve(true);
    if (line.includes('"message":"decision"')) return;
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
  };
  for (const output of [child.stdout, child.stderr]) createInterface(output).on('line', onLine);
  const closed = once(child, 'close').then(([code]) => code as number | null);
  if (!(await Promise.race([isStarted.promise, closed.then(() => false)])))
    throw new Error(`the relay did not start: ${lines.join(' ')}`);

  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${healthPort}${path}`);
  const metrics = async (): Promise<string> => (await get('/metrics')).text();
  const health = async () =>
    (await (await get('/healthz')).json()) as { readonly openJobs: number; readonly waitingStreams: number };
  return {
    counts: async () => {
      const text = await metrics();
      const unheard = sumOf(text, 'tollgate_relay_unheard_total');
      return { ...countsBy(([name, label]) => sumOf(text, name, label)), unheard };
    },
    gauge: async (name: string): Promise<number> => sumOf(await metrics(), name),
    health,
    connected: async (): Promise<void> => {
      if (!(await until(async () => (await health()).waitingStreams > 0, CONNECT_MS_MAX)))
        throw new Error('the relay did not connect');
    },
    /** Counts from the CloudWatch lines, complete once the relay has ended. */
    written: () => countsBy(([, , { name }]) => sums[name] ?? 0),
    cpuMs: (): number | undefined => cpuMsOf(child.pid ?? 0),
    drain: async (): Promise<number | null> => {
      child.kill('SIGTERM');
      return closed;
    },
    kill: async (): Promise<void> => {
      child.kill('SIGKILL');
      await closed;
    },
    signal: (name: 'SIGSTOP' | 'SIGCONT'): void => void child.kill(name),
    lines: lines as readonly string[],
  };
}

function environmentOf(settings: RelaySettings, healthPort: number): NodeJS.ProcessEnv {
  const { router } = settings;
  return {
    PATH: process.env.PATH,
    TMPDIR: dirname(settings.tokenFile),
    [names.ENV_ROUTER_URL]: router.url,
    [names.ENV_ROUTER_TOKEN_FILE]: settings.tokenFile,
    [names.ENV_PROTO_FILE]: router.descriptors,
    [names.ENV_POLICY_FILE]: settings.policyFile,
    [names.ENV_ADMIT_URL]: settings.admitUrl,
    [names.ENV_DEADLINE_MS]: String(settings.deadlineMs ?? 10_000),
    [names.ENV_HEALTH_PORT]: String(healthPort),
    [names.ENV_RELAY_DEPLOYMENT]: 'conformance',
    ...(router.authority !== undefined && { [names.ENV_CA_FILE]: router.authority }),
    ...settings.env,
  };
}

const sumOf = (metrics: string, name: string, label = ''): number =>
  metrics
    .split('\n')
    .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

/** Linux counts in hundredths of a second, in fields 14 and 15; the command in parentheses may contain spaces. */
function cpuMsOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
