import { silentLog } from '../../functions/core/environment/index.ts';
import { type JobRecord, recordItem } from '../../functions/core/ledger/index.ts';
import { placeBy, rollUp } from '../../functions/core/usage/index.ts';
import type { Directory } from '../../policies/place/directory.ts';
import type { LocalLedger } from './ledger-source.ts';

export interface CountUsageDeps {
  readonly ledger: Pick<LocalLedger, 'keys' | 'usage'>;
  readonly directory: Directory | undefined;
  /** Zone of the days of usage. */
  readonly zone: string;
  readonly clock: Parameters<typeof rollUp>[1]['clock'];
  readonly onTrouble: (text: string) => void;
}

const TRIES_MAX = 3;

/** These records into what pages show of the past, as the rollup of a deployment does it: any number of times, once each. */
export async function countUsage(records: readonly JobRecord[], deps: CountUsageDeps): Promise<void> {
  const { ledger, directory, zone, clock, onTrouble } = deps;
  const Records = records.map((record) => ({
    dynamodb: { SequenceNumber: String(record.jobId), NewImage: recordItem(record, ledger.keys) },
  }));
  const rollUpDeps = {
    store: ledger.usage,
    keys: ledger.keys,
    clock,
    random: Math.random,
    placeOf: placeBy(directory, zone),
    log: silentLog,
  };
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    if ((await rollUp({ Records }, rollUpDeps)).batchItemFailures.length === 0) return;
  }
  onTrouble('some jobs are not counted in what the console shows of the past');
}
