import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE, ENV_RULES_FILE } from '../../../functions/names.ts';
import * as relayNames from '../../../relay/names.ts';
import { loopbackPort } from '../../local/free-port.ts';
import { packedBenchRules } from './bench-rules.ts';
import { type Figure, median, spreadOf } from './figure.ts';
import { FLOOR_ENV, type PathProcess, type PathRole, startPathProcess } from './path-process.ts';
import {
  BENCH_TOKENS,
  type BenchController,
  type RouterProcess,
  startRouterProcess,
} from './router-process.ts';

const ROUNDS = 5;
/**
 * What a side does once a lap, and not once a question, weighs most on the one that does least, and a relay that was idle needs a
 * quarter of a second to see that it is busy: laps are long.
 */
const QUESTIONS = 4_800;
/** One at a time takes long. */
const SINGLE_QUESTIONS = 100;
/** Until all code is compiled, connections stand, pools have their sizes and the relay knows how busy it is. */
const WARM_UP_QUESTIONS = 8_000;
const IN_FLIGHT = 64;
const ROOTS_MAX = 1_000;
/** What a transaction takes at least, on a connection that is open. */
const TABLE_ANSWERS_AFTER_MS = 5;

/** One load on one side, measured once a round. */
interface Course {
  readonly controller: BenchController;
  /** Whose CPU counts. */
  readonly processes: readonly PathProcess[];
  readonly inFlight: number;
  readonly roots: number;
  readonly questions: number;
}

interface Lap {
  readonly p50Ms: number;
  /** µs per question, one per process. */
  readonly cpuMicros: readonly number[];
}

/**
 * The way of a question from the router to the table and back: the deployed programs, each in a process of its own, beside the
 * least that does the same with a POST and a transaction for each job. All stay connected and warm, and are asked in turns.
 */
export async function pathFigures(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-path-'));
  const started: { stop(): void }[] = [];
  const start = async (role: PathRole, env: Readonly<Record<string, string>>): Promise<PathProcess> => {
    const one = await startPathProcess(role, env);
    started.push(one);
    return one;
  };
  try {
    const router = await startRouterProcess();
    started.push(router);
    const rulesFile = join(folder, 'rules.json');
    writeFileSync(rulesFile, JSON.stringify(packedBenchRules(ROOTS_MAX)));
    const table = await start('table', { [FLOOR_ENV.tableMs]: String(TABLE_ANSWERS_AFTER_MS) });
    const aws = {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      AWS_ENDPOINT_URL_DYNAMODB: table.url,
    };
    const admit = await start('admit', {
      ...aws,
      [ENV_LEDGER_TABLE]: 'bench',
      [ENV_GITLAB_INSTANCE]: 'bench.example.com',
      [ENV_RULES_FILE]: rulesFile,
    });
    const relay = await start('relay', {
      ...aws,
      [relayNames.ENV_ROUTER_URL]: router.grpcUrl,
      [relayNames.ENV_ROUTER_TOKEN]: BENCH_TOKENS[1],
      [relayNames.ENV_ADMIT_ROUTE]: 'url',
      [relayNames.ENV_ADMIT_URL]: admit.url,
      [relayNames.ENV_POLICY_FILE]: rulesFile,
      [relayNames.ENV_HEALTH_PORT]: String(await loopbackPort()),
      [relayNames.ENV_RELAY_DEPLOYMENT]: 'bench',
      [relayNames.ENV_DEADLINE_MS]: '10000',
    });
    const floorAdmit = await start('floor-admit', aws);
    const floor = (role: 'grpc' | 'http2', controller: BenchController, admitUrl?: string) =>
      start(role, {
        [FLOOR_ENV.router]: router.grpcUrl,
        [FLOOR_ENV.token]: BENCH_TOKENS[controller],
        ...(admitUrl !== undefined && { [FLOOR_ENV.admit]: admitUrl }),
      });
    const exchange = await floor('grpc', 2);
    const grpc = await floor('grpc', 3, floorAdmit.url);
    const http2 = await floor('http2', 4, floorAdmit.url);

    const many = { inFlight: IN_FLIGHT, roots: 50, questions: QUESTIONS };
    const single = { inFlight: 1, roots: 50, questions: SINGLE_QUESTIONS };
    const own = { controller: 1, processes: [relay, admit] } as const;
    const posting = { controller: 3, processes: [grpc, floorAdmit] } as const;
    return figuresOf(
      await laps(router, {
        own: { ...own, ...many },
        ownOneRoot: { ...own, ...many, roots: 1 },
        ownManyRoots: { ...own, ...many, roots: ROOTS_MAX },
        ownSingle: { ...own, ...single },
        exchange: { controller: 2, processes: [exchange], ...many },
        floor: { ...posting, ...many },
        floorSingle: { ...posting, ...single },
        http2: { controller: 4, processes: [http2, floorAdmit], ...many },
      }),
    );
  } finally {
    for (const one of started) one.stop();
    rmSync(folder, { recursive: true });
  }
}

/** By course, one per round; the order of the courses changes every round. */
async function laps<Name extends string>(
  router: RouterProcess,
  courses: Readonly<Record<Name, Course>>,
): Promise<Readonly<Record<Name, readonly Lap[]>>> {
  const names = Object.keys(courses) as Name[];
  const found = Object.fromEntries(names.map((name) => [name, [] as Lap[]])) as Record<Name, Lap[]>;
  let lastJobId = 0;
  const lap = async ({ controller, processes, inFlight, roots }: Course, questions: number): Promise<Lap> => {
    const firstJobId = lastJobId + 1;
    lastJobId += questions;
    const cpu = () => Promise.all(processes.map((each) => each.cpuMicros()));
    const before = await cpu();
    const asked = await router.ask({
      ...{ controller, ask: questions, inFlight, roots, firstJobId },
      streams: Math.min(inFlight, STREAMS_WAITED_FOR),
    });
    const after = await cpu();
    if (asked.admitted !== questions) throw new Error(`not all admitted: ${JSON.stringify(asked)}`);
    return {
      p50Ms: asked.p50Ms,
      cpuMicros: after.map((micros, index) => (micros - (before[index] ?? 0)) / questions),
    };
  };
  const warm = new Set<BenchController>();
  for (const name of names) {
    const course = courses[name];
    if (warm.has(course.controller)) continue;
    warm.add(course.controller);
    await lap(course, WARM_UP_QUESTIONS);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const course = courses[name];
      found[name].push(await lap(course, course.questions));
    }
  }
  return found;
}

/** A relay's pool grows as it is asked. */
const STREAMS_WAITED_FOR = 8;

type Courses =
  | 'own'
  | 'ownOneRoot'
  | 'ownManyRoots'
  | 'ownSingle'
  | 'exchange'
  | 'floor'
  | 'floorSingle'
  | 'http2';

function figuresOf(of: Readonly<Record<Courses, readonly Lap[]>>): readonly Figure[] {
  const ratio = (name: string, ratios: readonly number[], atMost: number, note: string): Figure => ({
    ...{ name, unit: '×', kind: 'ratio', must: { atMost }, note },
    ...middleOf(ratios),
  });
  // Microseconds say more about the machine than about the code, so the same exchange without us is beside them.
  const byCpu = (roots: string, laps: readonly Lap[], atMost: number): Figure =>
    ratio(
      `relay + admit CPU per job, 64 in flight, ${roots} ÷ bare grpc-js with a POST and a transaction per job`,
      laps.map((lap, round) => sum(lap) / sum(of.floor[round] ?? NOTHING)),
      atMost,
      `${told(laps)} against ${told(of.floor)}, ${told(of.http2)} with raw HTTP/2`,
    );
  const p50 = (own: readonly Lap[], floor: readonly Lap[]): readonly number[] =>
    own.map(({ p50Ms }, round) => p50Ms / (floor[round]?.p50Ms ?? Number.NaN));
  return [
    byCpu('one root', of.ownOneRoot, 0.55),
    byCpu('50 roots', of.own, 0.95),
    byCpu('1000 roots', of.ownManyRoots, 1.25),
    ratio(
      'relay CPU per job, 50 roots ÷ bare grpc-js doing the same exchange',
      of.own.map(
        ({ cpuMicros: [relay = Number.NaN] }, round) =>
          relay / (of.exchange[round]?.cpuMicros[0] ?? Number.NaN),
      ),
      // Medians of single runs on an idle machine lie between 2.35 and 2.6: what it must be is 2.5, and the guard stands a tenth beside it.
      2.75,
      `${told(of.own)} against ${told(of.exchange)}, which asks nobody`,
    ),
    ratio(
      'whole path p50, 64 in flight, 50 roots ÷ floor: a POST and a transaction per job',
      p50(of.own, of.floor),
      1.1,
      `${p50Text(of.own)} against ${p50Text(of.floor)}, ${p50Text(of.http2)} with raw HTTP/2`,
    ),
    ratio(
      'single job, 1 in flight, p50 ÷ floor: a POST and a transaction',
      p50(of.ownSingle, of.floorSingle),
      1.3,
      `${p50Text(of.ownSingle)} against ${p50Text(of.floorSingle)}; the table answers after ${TABLE_ANSWERS_AFTER_MS} ms`,
    ),
  ];
}

const NOTHING: Lap = { p50Ms: Number.NaN, cpuMicros: [Number.NaN] };

const sum = ({ cpuMicros }: Lap): number => cpuMicros.reduce((total, micros) => total + micros, 0);

function middleOf(rounds: readonly number[]) {
  const { median: value, range, noisy } = spreadOf(rounds);
  return { value, range, noisy };
}

/** `466 + 536 µs`: the processes' CPU. */
const told = (laps: readonly Lap[]): string =>
  `${(laps[0]?.cpuMicros ?? []).map((_, index) => middle(laps.map((lap) => lap.cpuMicros[index] ?? 0)).toFixed(0)).join(' + ')} µs`;

const p50Text = (laps: readonly Lap[]): string => `${middle(laps.map(({ p50Ms }) => p50Ms)).toFixed(1)} ms`;

const middle = (values: readonly number[]): number => median(values.toSorted((a, b) => a - b));
