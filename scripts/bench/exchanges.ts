import { systemClock } from '../../relay/clock.ts';
import { createStreamPool } from '../../relay/streams/pool.ts';
import { encodeAdmitted, loadSchema } from '../../relay/wire/schema.ts';
import { startBareClient } from './bare-client.ts';
import { benchRelay } from './bench-relay.ts';
import { benchRouter } from './bench-router.ts';
import { type Figure, ratioOfRounds } from './figure.ts';
import { type RouterProcess, startRouterProcess } from './router-process.ts';

const ROUNDS = 5;
const IN_FLIGHT = 64;
const STREAMS = 128;
const QUESTIONS = 2_000;

let lastJobId = 0;

/** Exchanges a second of one round, all of them answered "admitted" or the round does not count. */
async function rate(router: RouterProcess, questions = QUESTIONS): Promise<number> {
  const firstJobId = lastJobId + 1;
  lastJobId += questions;
  const asked = await router.ask({ ask: questions, inFlight: IN_FLIGHT, streams: IN_FLIGHT, firstJobId });
  if (asked.admitted !== questions) throw new Error(`not all admitted: ${JSON.stringify(asked)}`);
  return questions / asked.seconds;
}

type Side = () => Promise<{ stop(): unknown }>;

/** Starts a side, lets it warm up once, and measures it each time it is asked to. */
async function measured(router: RouterProcess, start: Side, questions = QUESTIONS): Promise<number> {
  const side = await start();
  await rate(router, Math.ceil(questions / 4));
  const perSecond = await rate(router, questions);
  await side.stop();
  await router.emptied();
  return perSecond;
}

/** Relay against the bare client, and the tunnel against plain gRPC. One router process serves all sides. */
export async function exchangeFigures(): Promise<readonly Figure[]> {
  const router = await startRouterProcess();
  const schema = loadSchema();
  try {
    const relay: Side = async () => benchRelay(router.grpcUrl, STREAMS);
    const bare: Side = async () => startBareClient(router.grpcUrl, schema, STREAMS);
    const echo =
      (url: string): Side =>
      async () => {
        const admitted = encodeAdmitted(schema);
        const client = benchRouter(url, schema);
        const pool = createStreamPool({
          router: client,
          answer: async () => ({ answer: { outcome: 'admitted' }, delivered: () => {} }),
          encode: { admitted: () => admitted, rejected: () => admitted },
          clock: systemClock,
          random: Math.random,
          observe: () => {},
          sizes: { start: STREAMS, max: STREAMS * 2, openMax: 1024 },
        });
        pool.start();
        return {
          stop: async () => {
            await pool.drain();
            client.close();
          },
        };
      };
    const relayToBare = await ratioOfRounds(
      ROUNDS,
      () => measured(router, relay),
      () => measured(router, bare),
    );
    const tunnelToDirect = await ratioOfRounds(
      ROUNDS,
      () => measured(router, echo(router.wsUrl)),
      () => measured(router, echo(router.grpcUrl)),
    );
    return [
      {
        name: 'relay with inline function and in-memory ledger ÷ bare grpc-js client',
        value: relayToBare.median,
        must: { atLeast: 0.4 },
        unit: '×',
        kind: 'ratio',
        range: relayToBare.range,
        noisy: relayToBare.noisy,
        note: `${IN_FLIGHT} in flight, ${QUESTIONS} questions a round`,
      },
      {
        name: 'ws tunnel ÷ direct gRPC',
        value: tunnelToDirect.median,
        must: { atLeast: 0.7 },
        unit: '×',
        kind: 'ratio',
        range: tunnelToDirect.range,
        noisy: tunnelToDirect.noisy,
      },
    ];
  } finally {
    router.stop();
  }
}
