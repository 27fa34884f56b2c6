/**
 * The deployed relay and function against the least that does the same, each part a process of its own: from one job in flight,
 * where fleets live, to a burst. All sides stay connected and warm and take turns, so nothing starts or compiles in a lap.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENV_RULES_FILE } from '../../../functions/names.ts';
import * as relayNames from '../../../relay/names.ts';
import { loopbackPort } from '../../local/loopback.ts';
import { packedBenchRules } from './bench-rules.ts';
import { tableEnv } from './fake-table.ts';
import { type Figure, inTurns, median, ratioFigure } from './figure.ts';
import {
  clientEnv,
  type Load,
  type LoadResult,
  type RoleProcess,
  relayToken,
  type StartRole,
  withProcesses,
} from './processes.ts';

/** Laps by jobs in flight, about a third of a second each. */
const ROWS = [
  { inFlight: 1, jobs: 40 },
  { inFlight: 8, jobs: 250 },
  { inFlight: 64, jobs: 1_000 },
  { inFlight: 256, jobs: 1_250 },
] as const;
const TARGET = 1.1;
const RELAY_TARGET = 2.5;
const ROOTS = [1, 50, 1_000] as const;
const ROUNDS = 3;
const WARM_UP = { inFlight: 64, roots: 50, jobs: 6_000 };
const STREAMS_WAITED_FOR = 8;

interface Side {
  readonly controller: number;
  readonly processes: readonly RoleProcess[];
}

type LapLoad = Pick<Load, 'inFlight' | 'roots' | 'jobs'>;
type Lap = LoadResult & { readonly cpuMicros: readonly number[] };

/** @returns a function that measures one lap of a side. */
function lapRunner(router: RoleProcess) {
  let firstJobId = 1;
  return async ({ controller, processes }: Side, { inFlight, roots, jobs }: LapLoad) => {
    const readCpu = () => Promise.all(processes.map((each) => each.cpuMicros()));
    const before = await readCpu();
    const streams = Math.min(inFlight, STREAMS_WAITED_FOR);
    const result = await router.admitJobs({ jobs, inFlight, streams, firstJobId, controller, roots });
    firstJobId += jobs;
    const after = await readCpu();
    if (result.admitted !== jobs) throw new Error(`only ${result.admitted} of ${jobs} jobs were admitted`);
    return { ...result, cpuMicros: after.map((micros, index) => (micros - (before[index] ?? 0)) / jobs) };
  };
}

/** @param measure - gets the environment of programs on a table, with the rules of the most roots. */
export const withTable = <T>(
  measure: (router: RoleProcess, start: StartRole, env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> =>
  withProcesses(async (router, start) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-path-'));
    try {
      const rulesFile = join(folder, 'rules.json');
      writeFileSync(rulesFile, JSON.stringify(packedBenchRules(Math.max(...ROOTS))));
      const env = tableEnv((await start('table')).url, rulesFile);
      // Relays are killed and leave their sockets.
      return await measure(router, start, { ...env, TMPDIR: folder });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

/** Starts the deployed programs. */
export async function startPath(
  routerUrl: string,
  start: StartRole,
  env: Readonly<Record<string, string>>,
  controller: number,
) {
  const admit = await start('admit', env);
  const relay = await start('relay', {
    ...env,
    [relayNames.ENV_ROUTER_URL]: routerUrl,
    [relayNames.ENV_ROUTER_TOKEN]: relayToken(controller),
    [relayNames.ENV_ADMIT_ROUTE]: 'url',
    [relayNames.ENV_ADMIT_URL]: admit.url,
    [relayNames.ENV_POLICY_FILE]: env[ENV_RULES_FILE],
    [relayNames.ENV_HEALTH_PORT]: String(await loopbackPort()),
    [relayNames.ENV_RELAY_DEPLOYMENT]: 'bench',
    [relayNames.ENV_DEADLINE_MS]: '10000',
  });
  return [relay, admit] as const;
}

export const pathFigures = (): Promise<readonly Figure[]> =>
  withTable(async (router, start, env) => {
    const [relay, admit] = await startPath(router.grpcUrl, start, env, 1);
    const floorAdmit = await start('floor-admit', env);
    const floorEnv = { ...env, ...clientEnv(router.grpcUrl, 3), BENCH_ADMIT: floorAdmit.url };
    const sides = {
      own: { controller: 1, processes: [relay, admit] },
      grpc: { controller: 2, processes: [await start('grpc', clientEnv(router.grpcUrl, 2))] },
      floor: { controller: 3, processes: [await start('floor-client', floorEnv), floorAdmit] },
    };
    const run = lapRunner(router);
    for (const side of Object.values(sides)) await run(side, WARM_UP);
    const figures: Figure[] = [];
    for (const row of ROWS)
      for (const roots of ROOTS) {
        const lap = (side: Side) => run(side, { ...row, roots });
        figures.push(...rowFigures(row, roots, await inTurns(ROUNDS, sides, lap)));
      }
    return figures;
  });

type Rounds = readonly Readonly<Record<'own' | 'floor' | 'grpc', Lap>>[];

/** Microseconds depend on the machine, so each figure is a ratio of laps that followed each other. */
function rowFigures({ inFlight }: (typeof ROWS)[number], roots: number, rounds: Rounds): readonly Figure[] {
  const at = `${inFlight} in flight, roots: ${roots}`;
  const ratio = (name: string, other: 'floor' | 'grpc', of: (lap: Lap) => number, atMost: number): Figure => {
    const [own, theirs] = (['own', other] as const).map((side) =>
      median(rounds.map((each) => of(each[side]))),
    );
    const note = `${own?.toFixed(1)} against ${theirs?.toFixed(1)}`;
    const ratios = rounds.map((each) => of(each.own) / of(each[other]));
    return ratioFigure(`${at}: ${name}`, ratios, { atMost }, note);
  };
  return [
    ratio('CPU of relay and function, µs ÷ floor', 'floor', cpuOf, TARGET),
    ratio('CPU of the relay, µs ÷ bare grpc-js', 'grpc', relayCpuOf, RELAY_TARGET),
    ratio('p50, ms ÷ floor', 'floor', ({ p50Ms }) => p50Ms, TARGET),
    ratio('p99, ms ÷ floor', 'floor', ({ p99Ms }) => p99Ms, TARGET),
  ];
}

const cpuOf = ({ cpuMicros }: Lap): number => cpuMicros.reduce((total, micros) => total + micros, 0);
const relayCpuOf = ({ cpuMicros: [micros = Number.NaN] }: Lap): number => micros;
