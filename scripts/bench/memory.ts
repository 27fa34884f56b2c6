import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../relay/clock.ts';
import { createRelay } from '../../relay/relay.ts';
import { loadSchema } from '../../relay/wire/schema.ts';
import { benchRouter } from './bench-router.ts';
import type { Figure } from './figure.ts';
import { type RouterProcess, startRouterProcess } from './router-process.ts';

const EXCHANGES = 100_000;
const RECONNECTS = 1_000;
/** As much as is needed for every code path to be compiled and every pool to have its size. */
const WARM_UP = { exchanges: 20_000, reconnects: 100 };
const IN_FLIGHT = 64;
const STREAMS = 64;
/** Back-off is counted in tenths of seconds; a thousand of them would be the bench. */
const HASTE = 50;

/** What the relay still holds after a day's work: resident memory, after collections, before and after. */
export async function memoryFigure(): Promise<Figure> {
  const router = await startRouterProcess();
  const relay = relayWithoutLedger(router.wsUrl);
  relay.start();
  try {
    await work(router, WARM_UP.exchanges, WARM_UP.reconnects);
    const before = await settledRssBytes();
    await work(router, EXCHANGES, RECONNECTS);
    const after = await settledRssBytes();
    return {
      name: 'RSS growth after 100 000 exchanges and 1000 reconnects',
      value: Math.max(0, (after - before) / 2 ** 20),
      must: { atMost: 20 },
      unit: 'MB',
      kind: 'count',
      note: `${(before / 2 ** 20).toFixed(0)} MB after warm-up, ${(after / 2 ** 20).toFixed(0)} MB at the end; over the ws tunnel`,
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
      const { requests } = JSON.parse(String(init?.body)) as { requests: readonly { jobId: number }[] };
      return Response.json({
        decisions: requests.map(({ jobId }) => ({
          outcome: 'admitted',
          decisionId: `d-${jobId}-1`,
          shadow: [],
        })),
      });
    },
    deadlineMs: 10_000,
    fallback: 'admit',
    observe: () => {},
    clock: { ...systemClock, after: (delayMs, run) => systemClock.after(delayMs / HASTE, run) },
    poolSizes: { start: STREAMS, max: STREAMS, openMax: 256 },
  });
}

/** The least of several readings: what is free is given back to the system a little later. */
async function settledRssBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < 10; reading += 1) {
    globalThis.gc?.();
    await sleep(100);
    least = Math.min(least, process.memoryUsage.rss());
  }
  return least;
}
