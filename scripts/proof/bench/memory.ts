import { countFigure, type Figure } from './figure.ts';
import { clientEnv, withProcesses } from './processes.ts';

const EXCHANGES = 50_000;
const RECONNECTS = 500;
const EXCHANGES_EACH = EXCHANGES / RECONNECTS;
const WARM_UP_RECONNECTS = 100;
/** Back-off lasts tenths of seconds; hundreds of full length would take minutes. */
const HASTE = 50;

export const memoryFigures = (): Promise<readonly Figure[]> =>
  withProcesses(async (router, start) => {
    const relay = await start('inline-relay', { ...clientEnv(router.wsUrl, 1), BENCH_HASTE: String(HASTE) });
    const load = { jobs: EXCHANGES_EACH, inFlight: 64, streams: 1, controller: 1, roots: 1 };
    let firstJobId = 1;
    const work = async (reconnects: number): Promise<number> => {
      for (let round = 0; round < reconnects; round += 1) {
        await router.admitJobs({ ...load, firstJobId });
        firstJobId += EXCHANGES_EACH;
        await router.resetConnections();
      }
      return (await relay.rssBytes()) / 2 ** 20;
    };
    const before = await work(WARM_UP_RECONNECTS);
    const growth = Math.max(0, (await work(RECONNECTS)) - before);
    const name = 'RSS growth after 50 000 exchanges and 500 reconnects';
    const note = `${before.toFixed(0)} MB after warm-up, over the ws tunnel`;
    return [countFigure(name, growth, { atMost: 15 }, 'MB', note)];
  });
