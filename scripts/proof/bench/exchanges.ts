import { type Figure, median, ratioOfRounds, type Spread, spreadOf } from './figure.ts';
import {
  BENCH_TOKENS,
  type BenchController,
  type RouterProcess,
  startRouterProcess,
} from './router-process.ts';
import { type SideKind, type SideProcess, startSideProcess } from './side-process.ts';

const ROUNDS = 13;
const IN_FLIGHT = 64;
const QUESTIONS = 1_000;
/** Until both sides' code is compiled and their pools have their sizes. */
const WARM_UP_QUESTIONS = 2_000;

interface Compared {
  readonly name: string;
  readonly kind: SideKind;
  readonly url: string;
}

const RELAY = 'relay, inline function, a ledger that answers at once';
const BARE = 'bare grpc-js client';
const byCpu = (name: string): string => `${name}, by CPU time`;

interface Comparison {
  readonly side: Compared;
  readonly to: Compared;
  readonly atLeast: number;
  readonly atLeastByCpu: number;
}

/** Relay against the bare client, and the tunnel against plain gRPC. One router process serves all sides. */
export async function exchangeFigures(): Promise<readonly Figure[]> {
  const router = await startRouterProcess();
  const { grpcUrl, wsUrl } = router;
  try {
    return [
      ...(await compare(router, {
        side: { kind: 'relay', url: grpcUrl, name: RELAY },
        to: { kind: 'bare', url: grpcUrl, name: BARE },
        atLeast: 0.4,
        // Medians of runs on an idle and on a crowded machine lie between 0.45 and 0.57; 100 µs more make it 0.37 or less.
        atLeastByCpu: 0.41,
      })),
      ...(await compare(router, {
        side: { kind: 'streams', url: wsUrl, name: 'ws tunnel' },
        to: { kind: 'streams', url: grpcUrl, name: 'direct gRPC' },
        atLeast: 0.7,
        atLeastByCpu: 0.7,
      })),
    ];
  } finally {
    router.stop();
  }
}

/**
 * Exchanges a second of one side ÷ of the other, and the same per second of CPU of the client's process alone, which
 * neither the router nor a neighbour on the machine can change much. Both sides stay connected and warm, each in its own
 * process, and are asked in turns: nothing starts, compiles or collects another's garbage inside a round.
 */
async function compare(
  router: RouterProcess,
  { side, to, atLeast, atLeastByCpu }: Comparison,
): Promise<readonly Figure[]> {
  const sides = [await started(router, 1, side), await started(router, 2, to)] as const;
  try {
    for (const each of sides) await each.perSecond(WARM_UP_QUESTIONS);
    for (const each of sides) each.cpuMicros.length = 0;
    const rates = await ratioOfRounds(
      ROUNDS,
      () => sides[0].perSecond(QUESTIONS),
      () => sides[1].perSecond(QUESTIONS),
    );
    const [own, other] = [sides[0].cpuMicros, sides[1].cpuMicros];
    const cpu = spreadOf(own.map((micros, round) => (other[round] ?? Number.NaN) / micros));
    const typical = (micros: readonly number[]): string =>
      median(micros.toSorted((a, b) => a - b)).toFixed(0);
    const name = `${side.name} ÷ ${to.name}`;
    return [
      figure(name, atLeast, rates, `${IN_FLIGHT} in flight, ${QUESTIONS} questions a round`),
      figure(
        byCpu(name),
        atLeastByCpu,
        cpu,
        `${typical(own)} µs of the client's process an exchange against ${typical(other)} µs`,
      ),
    ];
  } finally {
    for (const each of sides) each.process.stop();
  }
}

const figure = (
  name: string,
  atLeast: number,
  { median: value, range, noisy }: Spread,
  note: string,
): Figure => ({ name, value, must: { atLeast }, unit: '×', kind: 'ratio', range, noisy, note });

let lastJobId = 0;

async function started(router: RouterProcess, controller: BenchController, { kind, url }: Compared) {
  const process: SideProcess = await startSideProcess(kind, url, BENCH_TOKENS[controller]);
  const cpuMicros: number[] = [];
  /** The speed of one round, which counts only if all of it is answered "admitted". */
  async function perSecond(questions: number): Promise<number> {
    const firstJobId = lastJobId + 1;
    lastJobId += questions;
    const before = await process.cpuMicros();
    const asked = await router.ask({
      controller,
      ask: questions,
      inFlight: IN_FLIGHT,
      streams: IN_FLIGHT,
      firstJobId,
    });
    cpuMicros.push(((await process.cpuMicros()) - before) / questions);
    if (asked.admitted !== questions) throw new Error(`not all admitted: ${JSON.stringify(asked)}`);
    return questions / asked.seconds;
  }
  return { process, cpuMicros, perSecond };
}
