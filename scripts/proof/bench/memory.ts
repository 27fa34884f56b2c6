import { setTimeout as sleep } from 'node:timers/promises';
import type { AdmissionsRequest } from '../../../functions/core/contract/index.ts';
import { createRelay, systemRelayClock } from '../../../relay/relay.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { benchRouter } from './bench-router.ts';
import type { Figure } from './figure.ts';
import { type RouterProcess, startRouterProcess } from './router-process.ts';

const EXCHANGES = 100_000;
const RECONNECTS = 1_000;
/** As much as is needed for every code path to be compiled and every pool to have its size. */
const WARM_UP = { exchanges: 10_000, reconnects: 100 };
const IN_FLIGHT = 64;
const STREAMS = 64;
/** Back-off is counted in tenths of seconds; a thousand of them would be the bench. */
const HASTE = 50;

/**
 * What the relay still holds after a day's work: resident memory, after collections, before and after. Says something
 * only in a process that has done nothing else: what other work left free would be used up before anything grows.
 */
export async function memoryFigure(): Promise<Figure> {
  const router = await startRouterProcess();
  const relay = relayWithoutLedger(router.wsUrl);
  relay.start();
  try {
    await work(router, WARM_UP.exchanges, WARM_UP.reconnects);
    const before = await settled();
    await work(router, EXCHANGES, RECONNECTS);
    const after = await settled();
    return {
      name: 'RSS growth after 100 000 exchanges and 1000 reconnects',
      value: Math.max(0, megabytes(after.rssBytes - before.rssBytes)),
      must: { atMost: 20 },
      unit: 'MB',
      kind: 'count',
      note: `${told(before.rssBytes)} after warm-up, ${told(after.rssBytes)} at the end; live heap ${told(before.heapBytes)} and ${told(after.heapBytes)}; over the ws tunnel`,
    };
  } finally {
    await relay.stop();
    router.stop();
  }
}

/** Exchanges in rounds, a lost connection after each. */
async function work(router: RouterProcess, exchanges: number, reconnects: number): Promise<void> {
  const perRound = Math.ceil(exchanges / reconnects);
  for (let round = 0; round < reconnects; round += 1) {
    await router.ask({ ask: perRound, inFlight: IN_FLIGHT, streams: 1, firstJobId: round * perRound + 1 });
    await router.resetConnections();
  }
}

/** A relay whose deciding service admits everything: a ledger would keep what it is told, as it should. */
function relayWithoutLedger(url: string) {
  const schema = loadSchema();
  return createRelay({
    router: benchRouter(url, schema),
    schema,
    admitUrl: 'http://bench.inline',
    fetch: async (_url, init) => {
      const { requests, batch } = JSON.parse(String(init?.body)) as AdmissionsRequest;
      return Response.json({
        batch,
        decisions: requests.map(({ jobId }) => ({
          jobId,
          outcome: 'admitted',
          decisionId: `d-${jobId}-1`,
          shadow: [],
        })),
      });
    },
    deadlineMs: 10_000,
    fallback: 'admit',
    schemaTrust: 'given',
    observe: () => {},
    clock: { ...systemRelayClock, after: (delayMs, run) => systemRelayClock.after(delayMs / HASTE, run) },
    poolSizes: { start: STREAMS, max: STREAMS, openMax: 256 },
  });
}

const megabytes = (bytes: number): number => bytes / 2 ** 20;
const told = (bytes: number): string => `${megabytes(bytes).toFixed(0)} MB`;

/** The least of several readings: what is free is given back to the system a little later. */
async function settled(): Promise<{ readonly rssBytes: number; readonly heapBytes: number }> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('memory is measured after collections; start with --expose-gc');
  let least = { rssBytes: Number.POSITIVE_INFINITY, heapBytes: Number.POSITIVE_INFINITY };
  for (let reading = 0; reading < 10; reading += 1) {
    collect();
    await sleep(100);
    const { rss, heapUsed, external } = process.memoryUsage();
    least = {
      rssBytes: Math.min(least.rssBytes, rss),
      heapBytes: Math.min(least.heapBytes, heapUsed + external),
    };
  }
  return least;
}
