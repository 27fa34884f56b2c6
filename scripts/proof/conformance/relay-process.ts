import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as names from '../../../relay/names.ts';
import { loopbackPort } from '../../local/free-port.ts';
import type { PeerRouter } from './peer-router.ts';
import { until } from './until.ts';

const MAIN = fileURLToPath(new URL('../../../relay/main.ts', import.meta.url));

export interface ConformanceRelaySettings {
  readonly router: Pick<PeerRouter, 'url' | 'descriptors' | 'authority'>;
  readonly admitUrl: string;
  /** `{policy, directory}` as the build packs it. */
  readonly policyFile: string;
  readonly tokenFile: string;
  /** @default the longest there is: on a busy machine too, no answer is the fallback's */
  readonly deadlineMs?: number;
  /** @default what Node takes */
  readonly heapMb?: number;
  /** Settings besides. */
  readonly env?: Readonly<Record<string, string>>;
  /** Hears every line it writes. */
  readonly heard?: (line: string) => void;
}

/** What the relay says it did. `heard`: answers less those that nobody was there to hear. */
interface RelayCounts {
  readonly questions: number;
  readonly admitted: number;
  readonly rejected: number;
  readonly fallback: number;
  readonly unreadable: number;
  readonly unheard: number;
}

export interface RelayProcess {
  /** Read from `/metrics`, while it lives. */
  counts(): Promise<RelayCounts>;
  /** One gauge of `/metrics`; 0 before it was ever set. */
  gauge(name: string): Promise<number>;
  /** Read from `/healthz`. */
  health(): Promise<RelayHealth>;
  /** Resolves when a stream waits at the router. */
  connected(): Promise<void>;
  /** Counted from the CloudWatch lines it has written; whole once it has ended. */
  written(): Pick<RelayCounts, 'questions' | 'admitted' | 'rejected' | 'fallback' | 'unreadable'>;
  /** User and system time of the process so far; undefined where the system does not tell. */
  cpuMs(): number | undefined;
  /** SIGTERM; resolves with the exit code when it has gone. */
  drain(): Promise<number | null>;
  /** Ends it at once. */
  kill(): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** The last lines it wrote that are no decisions, for whoever looks for a cause. */
  lastLines(): readonly string[];
}

/** The part of `/healthz` that phases look at. */
interface RelayHealth {
  readonly openJobs: number;
  readonly waitingStreams: number;
}

const LINES_KEPT = 30;
const CONNECT_MS_MAX = 30_000;

/** Starts `relay/main.ts` as a container would and resolves when it says it has. */
export async function startRelay(settings: ConformanceRelaySettings): Promise<RelayProcess> {
  const healthPort = await loopbackPort();
  const child = spawn(process.execPath, [...heapFlag(settings.heapMb), MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(settings, healthPort),
  });
  // A relay whose test was broken off would otherwise look for its router for ever.
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('close', () => process.off('exit', endWithUs));
  const output = readOutput(child, settings.heard);
  const closed = once(child, 'close').then(([code]) => code as number | null);
  const started = await Promise.race([output.started, closed.then(() => false)]);
  if (!started) throw new Error(`the relay did not start: ${output.lines.join(' ')}`);
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${healthPort}${path}`);
  const metrics = async (): Promise<string> => (await get('/metrics')).text();
  const health = async (): Promise<RelayHealth> => (await (await get('/healthz')).json()) as RelayHealth;
  return {
    counts: async () => countsIn(await metrics()),
    gauge: async (name) => sumOf(await metrics(), name),
    health,
    connected: async () => {
      if (!(await until(async () => (await health()).waitingStreams > 0, CONNECT_MS_MAX)))
        throw new Error('the relay did not connect');
    },
    written: output.written,
    cpuMs: () => cpuMsOf(child.pid ?? 0),
    drain: async () => {
      child.kill('SIGTERM');
      return closed;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
    signal: (name) => void child.kill(name),
    lastLines: () => output.lines,
  };
}

const heapFlag = (heapMb: number | undefined): readonly string[] =>
  heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];

function environmentOf(settings: ConformanceRelaySettings, healthPort: number): NodeJS.ProcessEnv {
  const { router } = settings;
  return {
    PATH: process.env.PATH,
    // A relay that is killed leaves its socket's folder there.
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

function readOutput(child: ChildProcess, heard: (line: string) => void = () => {}) {
  const lines: string[] = [];
  const started = Promise.withResolvers<boolean>();
  const sums: Record<string, number> = {};
  const hear = (line: string): void => {
    heard(line);
    if (line.startsWith('{"_aws"')) {
      for (const [name, value] of Object.entries(JSON.parse(line) as Record<string, unknown>))
        if (typeof value === 'number') sums[name] = (sums[name] ?? 0) + value;
      return;
    }
    if (line.includes('"message":"started"')) started.resolve(true);
    if (line.includes('"message":"decision"')) return;
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
  };
  if (child.stdout === null || child.stderr === null) throw new Error('the relay has no output');
  createInterface(child.stdout).on('line', hear);
  createInterface(child.stderr).on('line', hear);
  const sum = (metric: { readonly name: string }): number => sums[metric.name] ?? 0;
  return {
    lines,
    started: started.promise,
    written: () => ({
      questions: sum(names.RELAY_QUESTIONS),
      admitted: sum(names.RELAY_ADMITTED),
      rejected: sum(names.RELAY_REJECTED),
      fallback: sum(names.RELAY_FALLBACK_ANSWERS),
      unreadable: sum(names.RELAY_UNREADABLE_QUESTIONS),
    }),
  };
}

function countsIn(metrics: string): RelayCounts {
  return {
    questions: sumOf(metrics, names.METRIC_QUESTIONS),
    admitted: sumOf(metrics, names.METRIC_DECISIONS, 'outcome="admitted"'),
    rejected: sumOf(metrics, names.METRIC_DECISIONS, 'outcome="rejected"'),
    fallback: sumOf(metrics, names.METRIC_FALLBACK),
    unreadable: sumOf(metrics, names.METRIC_UNREADABLE),
    unheard: sumOf(metrics, names.METRIC_UNHEARD),
  };
}

/** All series of one name in Prometheus's text form, or those with a label. */
const sumOf = (metrics: string, name: string, label = ''): number =>
  metrics
    .split('\n')
    .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

/** Linux counts in hundredths of a second; fields 14 and 15, the command's name in brackets may hold spaces. */
function cpuMsOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
