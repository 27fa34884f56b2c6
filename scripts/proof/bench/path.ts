/**
 * The deployed relay and function against the least that does the same, each part a process of its own: from one job in flight,
 * where fleets live, to a burst. All sides stay connected and warm and take turns, so nothing starts or compiles in a lap.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  withProcesses,
} from './processes.ts';

/**
 * Laps by jobs in flight, about a third of a second each, and the largest ratios. The targets are 1.1, and 2.5 for
 * the relay; the bounds are wide, because few laps of few jobs spread.
 */
const ROWS = [
  { inFlight: 1, jobs: 40, cpu: 5, relay: 16, p50: 2, p99: 8 },
  { inFlight: 8, jobs: 250, cpu: 5, relay: 12, p50: 3, p99: 8 },
  { inFlight: 64, jobs: 1_000, cpu: 2.5, relay: 5, p50: 2.5, p99: 6 },
  { inFlight: 256, jobs: 1_250, cpu: 2, relay: 4.5, p50: 2.2, p99: 5 },
] as const;
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
export function lapRunner(router: RoleProcess) {
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

export const pathFigures = (): Promise<readonly Figure[]> =>
  withProcesses(async (router, start) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-path-'));
    try {
      const rulesFile = join(folder, 'rules.json');
      writeFileSync(rulesFile, JSON.stringify(packedBenchRules(Math.max(...ROOTS))));
      const env = tableEnv((await start('table')).url, rulesFile);
      const admit = await start('admit', env);
      const relay = await start('relay', {
        ...env,
        [relayNames.ENV_ROUTER_URL]: router.grpcUrl,
        [relayNames.ENV_ROUTER_TOKEN]: relayToken(1),
        [relayNames.ENV_ADMIT_ROUTE]: 'url',
        [relayNames.ENV_ADMIT_URL]: admit.url,
        [relayNames.ENV_POLICY_FILE]: rulesFile,
        [relayNames.ENV_HEALTH_PORT]: String(await loopbackPort()),
        [relayNames.ENV_RELAY_DEPLOYMENT]: 'bench',
        [relayNames.ENV_DEADLINE_MS]: '10000',
      });
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
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

type Rounds = readonly Readonly<Record<'own' | 'floor' | 'grpc', Lap>>[];

/** Microseconds depend on the machine, so each figure is a ratio of laps that followed each other. */
function rowFigures(row: (typeof ROWS)[number], roots: number, rounds: Rounds): readonly Figure[] {
  const at = `${row.inFlight} in flight, roots: ${roots}`;
  const ratio = (name: string, other: 'floor' | 'grpc', of: (lap: Lap) => number, atMost: number): Figure => {
    const [own, theirs] = (['own', other] as const).map((side) =>
      median(rounds.map((each) => of(each[side]))),
    );
    const note = `${own?.toFixed(1)} against ${theirs?.toFixed(1)}`;
    const ratios = rounds.map((each) => of(each.own) / of(each[other]));
    return ratioFigure(`${at}: ${name}`, ratios, { atMost }, note);
  };
  return [
    ratio('CPU of relay and function, µs ÷ floor', 'floor', cpuOf, row.cpu),
    ratio('CPU of the relay, µs ÷ bare grpc-js', 'grpc', relayCpuOf, row.relay),
    ratio('p50, ms ÷ floor', 'floor', ({ p50Ms }) => p50Ms, row.p50),
    ratio('p99, ms ÷ floor', 'floor', ({ p99Ms }) => p99Ms, row.p99),
  ];
}

export const cpuOf = ({ cpuMicros }: Lap): number => cpuMicros.reduce((total, micros) => total + micros, 0);
const relayCpuOf = ({ cpuMicros: [micros = Number.NaN] }: Lap): number => micros;
