import { YET_FAILED_AT, YET_FAILED_JOB } from '../../names.ts';
import { singleItem } from './calls.ts';
import { ledgerKeys } from './keys.ts';
import type { InstanceTable } from './operation.ts';

/** The job found last that was admitted here and that GitLab's job router failed all the same. */
export interface YetFailedMark {
  readonly jobId: number;
  /** When it was found, Unix ms. */
  readonly atMs: number;
}

export interface YetFailedStore {
  /** Undefined: there was none yet. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<YetFailedMark | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(mark: YetFailedMark): Promise<void>;
}

/** One item: settlement writes it, the watchdog reads it. */
export function dynamoYetFailed({ table, instance }: InstanceTable): YetFailedStore {
  const key = ledgerKeys(instance).yetFailed;
  const item = singleItem({ table, key, name: 'the job that failed last', consistent: true });
  return {
    async read() {
      const found = await item.read();
      const [jobId, atMs] = [Number(found?.[YET_FAILED_JOB]?.N), Number(found?.[YET_FAILED_AT]?.N)];
      return Number.isSafeInteger(jobId) && Number.isSafeInteger(atMs) ? { jobId, atMs } : undefined;
    },
    write: ({ jobId, atMs }) =>
      item.write({ [YET_FAILED_JOB]: { N: String(jobId) }, [YET_FAILED_AT]: { N: String(atMs) } }),
  };
}
