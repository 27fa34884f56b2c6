import { withoutAbsent } from '../../../policies/without-absent.ts';
import * as names from '../../names.ts';
import type { Beat, WaitingLine } from '../contract/admissions.ts';
import { readAll, type SingleItem, singleItem, timedTable } from './calls.ts';
import { ledgerKeys } from './keys.ts';
import type { InstanceTable, Item } from './operation.ts';

/** A relay sends a heartbeat every 30 s; after four missing ones it is gone. */
export const SILENT_MS = 120_000;

export interface RelayHeartbeat extends Beat {
  readonly relayId: string;
}

const TIMEOUT_MS = 15_000;

/** Newest first. @throws {LedgerError} `ledger_unavailable` */
export async function readRelayHeartbeats({
  table,
  instance,
}: InstanceTable): Promise<readonly RelayHeartbeat[]> {
  const ask = { pk: ledgerKeys(instance).heartbeatPk, consistent: true };
  const items = await readAll(timedTable(table, TIMEOUT_MS), 'the heartbeats', ask);
  return items.map(beatOf).sort((a, b) => b.atMs - a.atMs);
}

function beatOf(item: Item): RelayHeartbeat {
  const source = item[names.HEARTBEAT_SCHEMA]?.S;
  const waiting: readonly WaitingLine[] = JSON.parse(item[names.HEARTBEAT_WAITING]?.S ?? '[]');
  const number = (name: string): number | undefined => {
    const written = item[name]?.N;
    return written === undefined ? undefined : Number(written);
  };
  return {
    relayId: item[names.SK]?.S ?? '',
    atMs: number(names.HEARTBEAT_AT) ?? 0,
    openStreams: number(names.HEARTBEAT_STREAMS) ?? 0,
    ...withoutAbsent({
      directoryAgeMs: number(names.HEARTBEAT_DIRECTORY_AGE),
      breaker: item[names.HEARTBEAT_BREAKER]?.S,
      policyVersion: item[names.HEARTBEAT_POLICY]?.S,
      answerWithinMs: number(names.HEARTBEAT_ANSWER_WITHIN),
      waiting: waiting.length > 0 ? waiting : undefined,
    }),
    ...(source !== undefined && {
      schema: {
        source,
        ...withoutAbsent({
          hash: item[names.HEARTBEAT_SCHEMA_HASH]?.S,
          state: item[names.HEARTBEAT_SCHEMA_STATE]?.S,
          placeholder: item[names.HEARTBEAT_SCHEMA_PLACEHOLDER]?.BOOL || undefined,
        }),
      },
    }),
  };
}

/** The job found last that was admitted here and that GitLab's job router failed all the same. */
export interface YetFailedMark {
  readonly jobId: number;
  readonly atMs: number;
}

export type YetFailedStore = SingleItem<YetFailedMark>;

export const dynamoYetFailed = ({ table, instance }: InstanceTable): YetFailedStore =>
  singleItem({
    table,
    key: ledgerKeys(instance).yetFailed,
    name: 'the job that failed last',
    consistent: true,
    encode: ({ jobId, atMs }) => ({
      [names.YET_FAILED_JOB]: { N: String(jobId) },
      [names.YET_FAILED_AT]: { N: String(atMs) },
    }),
    decode: (item) => {
      const [jobId, atMs] = [Number(item[names.YET_FAILED_JOB]?.N), Number(item[names.YET_FAILED_AT]?.N)];
      return Number.isSafeInteger(jobId) && Number.isSafeInteger(atMs) ? { jobId, atMs } : undefined;
    },
  });
