import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as names from '../../relay/names.ts';
import { loopbackPort } from '../local/loopback.ts';

const MAIN = fileURLToPath(new URL('../../relay/main.ts', import.meta.url));
const LINES_KEPT = 30;

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
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

/** Starts `relay/main.ts` as a container would. @throws {Error} with its output if it does not start. */
export async function startRelay(settings: RelaySettings) {
  return spawnRelay(MAIN, relayEnv(settings), settings);
}

/** Starts a relay with `env` as its environment, which only gets the port of its health check in addition. */
export async function spawnRelay(
  file: string,
  env: NodeJS.ProcessEnv,
  { nodeFlags = [], onLine }: Pick<RelaySettings, 'nodeFlags' | 'onLine'> = {},
) {
  const healthPort = await loopbackPort();
  const child = spawn(process.execPath, [...nodeFlags, file], {
    // As in the image: the relay must not need the folder of this repository.
    cwd: dirname(file),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, [names.ENV_HEALTH_PORT]: String(healthPort) },
  });
  // Without this, a relay of an interrupted test would look for its router for ever.
  const endWithParent = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithParent);
  child.once('close', () => process.off('exit', endWithParent));

  const lines: string[] = [];
  const isStarted = Promise.withResolvers<boolean>();
  const readLine = (line: string): void => {
    onLine?.(line);
    if (line.includes('"message":"started"')) isStarted.resolve(true);
    if (line.startsWith('{"_aws"') || line.includes('"message":"decision"')) return;
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
  };
  for (const output of [child.stdout, child.stderr]) createInterface(output).on('line', readLine);
  const closed = once(child, 'close').then(([code]) => code as number | null);
  if (!(await Promise.race([isStarted.promise, closed.then(() => false)])))
    throw new Error(`the relay did not start: ${lines.join(' ')}`);
  const failed = closed.then((code): never => {
    throw new Error(`the relay ended with ${code}: ${lines.join(' ')}`);
  });
  failed.catch(() => {});

  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${healthPort}${path}`);
  const metrics = async (): Promise<string> => (await get('/metrics')).text();
  return {
    ...{ pid: child.pid ?? 0, lines: lines as readonly string[], metrics },
    gauge: async (name: string): Promise<number> => sumOfMetric(await metrics(), name),
    health: async () =>
      (await (await get('/healthz')).json()) as {
        readonly openJobs: number;
        readonly waitingStreams: number;
      },
    drain: async (): Promise<number | null> => {
      child.kill('SIGTERM');
      return closed;
    },
    failed,
    kill: async (): Promise<void> => {
      child.kill('SIGKILL');
      await closed;
    },
    signal: (name: 'SIGSTOP' | 'SIGCONT'): void => void child.kill(name),
  };
}

function relayEnv(settings: RelaySettings): NodeJS.ProcessEnv {
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
    [names.ENV_RELAY_DEPLOYMENT]: 'conformance',
    ...(router.authority !== undefined && { [names.ENV_CA_FILE]: router.authority }),
    ...settings.env,
  };
}

export const sumOfMetric = (metrics: string, name: string, label = ''): number =>
  metrics
    .split('\n')
    .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
