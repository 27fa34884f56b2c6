import { setTimeout as sleep } from 'node:timers/promises';
import type { AdmissionsRequest } from '../../../functions/core/contract/admissions.ts';
import { createRelay, systemRelayClock } from '../../../relay/relay.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import type { Figure } from './figure.ts';
import { benchRouter, type RoleProcess, startRole } from './processes.ts';

const EXCHANGES = 100_000;
const RECONNECTS = 1_000;
const WARM_UP = { exchanges: 10_000, reconnects: 100 };
const STREAMS = 64;
const ONE = { controller: 1, roots: 1 };
/** Back-off lasts tenths of seconds; a thousand pauses of full length would take minutes. */
const HASTE = 50;

export async function memoryFigures(): Promise<readonly Figure[]> {
  const router = await startRole('router');
  const relay = relayWithoutLedger(router.wsUrl);
  relay.start();
  try {
    await work(router, WARM_UP.exchanges, WARM_UP.reconnects);
    const before = await settledBytes();
    await work(router, EXCHANGES, RECONNECTS);
    const after = await settledBytes();
    const megabytes = (bytes: number): number => bytes / 2 ** 20;
    return [
      {
        name: 'RSS growth after 100 000 exchanges and 1000 reconnects',
        value: Math.max(0, megabytes(after - before)),
        ...{ must: { atMost: 20 }, unit: 'MB', kind: 'count' },
        note: `${megabytes(before).toFixed(0)} MB after warm-up, over the ws tunnel`,
      },
    ];
  } finally {
    await relay.stop();
    router.stop();
  }
}

async function work(router: RoleProcess, exchanges: number, reconnects: number): Promise<void> {
  const count = Math.ceil(exchanges / reconnects);
  for (let round = 0; round < reconnects; round += 1) {
    await router.ask({ count, inFlight: STREAMS, streams: 1, firstJobId: round * count + 1, ...ONE });
    await router.resetConnections();
  }
}

/** The deciding service admits everything: a ledger would keep what it is given, as it should. */
function relayWithoutLedger(url: string) {
  const schema = loadSchema();
  return createRelay({
    router: benchRouter(url, schema),
    schema,
    admitUrl: 'http://bench.inline',
    fetch: async (_url, init) => {
      const { requests, batch } = JSON.parse(String(init?.body)) as AdmissionsRequest;
      const decisions = requests.map(({ jobId }) => ({
        ...{ jobId, outcome: 'admitted', decisionId: `d-${jobId}-1`, shadow: [] },
      }));
      return Response.json({ batch, decisions });
    },
    deadlineMs: 10_000,
    fallback: 'admit',
    schemaTrust: 'given',
    observe: () => {},
    clock: { ...systemRelayClock, after: (delayMs, run) => systemRelayClock.after(delayMs / HASTE, run) },
    poolSizes: { start: STREAMS, max: STREAMS, openMax: 256 },
  });
}

/** Takes the least of several readings: freed memory returns to the system a little later. */
async function settledBytes(): Promise<number> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('memory is measured after collections; start with --expose-gc');
  let least = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < 10; reading += 1) {
    collect();
    await sleep(100);
    least = Math.min(least, process.memoryUsage().rss);
  }
  return least;
}
