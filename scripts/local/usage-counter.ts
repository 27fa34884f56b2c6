/** Counts jobs into usage by day, with the deployment's rollup. */
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '../../functions/core/environment/index.ts';
import { placeBy, rollUp } from '../../functions/core/usage/index.ts';
import type { TableStreamRecord } from '../../functions/settle/consume.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { LocalLedger } from './ledger-source.ts';
import { STREAM_BATCH_MAX } from './sqlite/sqlite-table.ts';

export interface CountUsageDeps {
  readonly ledger: Pick<LocalLedger, 'keys' | 'usage'>;
  readonly directory: Directory | undefined;
  /** Zone of the days of usage. */
  readonly zone: string;
  readonly clock: Parameters<typeof rollUp>[1]['clock'];
  readonly onTrouble: (text: string) => void;
}

const TRIES_MAX = 3;
/** Leaves the machine to decisions: a job that is written several times meanwhile is counted once. */
const PAUSE_MS = 1_000;

/** Counts stream records. Counting a record again changes nothing. */
export async function countUsage(
  Records: readonly TableStreamRecord[],
  { ledger, directory, zone, clock, onTrouble }: CountUsageDeps,
): Promise<void> {
  const deps = {
    ...{ store: ledger.usage, keys: ledger.keys, clock, random: Math.random, log: silentLog },
    placeOf: placeBy(directory, zone),
  };
  for (let tries = 1; tries <= TRIES_MAX; tries += 1)
    if ((await rollUp({ Records }, deps)).batchItemFailures.length === 0) return;
  onTrouble('some jobs are not counted in what the console shows of the past');
}

/** Counts everything that is written from now on. */
export function startUsageCounter(deps: CountUsageDeps & { readonly ledger: LocalLedger }) {
  const read = async (signal: AbortSignal): Promise<void> => {
    try {
      for await (const records of deps.ledger.stream(signal)) {
        await countUsage(records, deps);
        if (records.length < STREAM_BATCH_MAX) await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    } catch (error) {
      deps.onTrouble(`usage is not counted (${String(error)})`);
    }
  };
  const begin = () => {
    const stop = new AbortController();
    const done = read(stop.signal);
    return async (): Promise<void> => {
      stop.abort();
      await done;
    };
  };
  let end = begin();
  return {
    /** Resolves when everything written before is counted. */
    idle(): Promise<void> {
      const endEarlier = end;
      // It begins before the other one ends, so that no record is missed.
      end = begin();
      return endEarlier();
    },
    stop: (): Promise<void> => end(),
  };
}
