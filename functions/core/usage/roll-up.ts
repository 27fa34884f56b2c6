import { counterName } from '../../../policies/claim.ts';
import { FUNCTION_METRIC } from '../../names.ts';
import type { Log } from '../environment/environment.ts';
import type { ExportResult } from '../export-images.ts';
import { decodeItem } from '../ledger/items.ts';
import type { Counter, JobRecord } from '../ledger/ledger.ts';
import type { Metrics } from '../metrics.ts';
import { COUNTER_SK, type LedgerKeys, RECORD_SK } from '../store/keys.ts';
import {
  type Item,
  isNewer,
  PK,
  SK,
  type TableStreamEvent,
  type TableStreamResponse,
} from '../store/operation.ts';
import { LedgerError } from '../store/table-failure.ts';
import { type CountRecordsDeps, countRecords } from './count-records.ts';
import { type CounterSnapshots, isInSnapshot } from './counter-snapshot.ts';

/** During a deployment newer items meet older programs. After this they are skipped, and the recount counts them. */
const UNREADABLE_PATIENCE_MS = 10 * 60_000;

export interface RollUpDeps extends CountRecordsDeps {
  readonly keys: LedgerKeys;
  /** Sends threshold alerts. Never throws; returns how many counters still wait. @default none */
  readonly sendAlerts?: (counters: readonly Counter[]) => Promise<number>;
  readonly snapshots?: Pick<CounterSnapshots, 'append'>;
  readonly metrics?: Metrics;
  /** Keeps a batch's decisions outside the table; never throws. @default they are in the table alone */
  readonly exportImages?: (event: TableStreamEvent) => Promise<ExportResult>;
}

/** One batch of the stream: records into usage, estimates and lists, counters to thresholds and snapshot, decisions outside. */
export async function rollUp(event: TableStreamEvent, deps: RollUpDeps): Promise<TableStreamResponse> {
  const { log, metrics } = deps;
  const { records, counters, unreadable } = readImages(event, deps.keys);
  const youngMs = deps.clock.nowMs() - UNREADABLE_PATIENCE_MS;
  const again = unreadable.filter(({ writtenAtMs }) => writtenAtMs > youngMs);
  const passedOver = unreadable.length - again.length;
  if (unreadable.length > 0) log.error('stream images not readable', { again: again.length, passedOver });
  const appended = await appendCounters(counters, deps);
  const { failedJobIds } = await countRecords(
    records.map(({ record }) => record),
    deps,
  );
  if (failedJobIds.size > 0) log.warn('jobs not counted yet', { jobs: failedJobIds.size });
  const uncounted = records.filter(({ record }) => failedJobIds.has(record.jobId));
  const exported = await deps.exportImages?.(event);
  const unsent = (await deps.sendAlerts?.(counters.map(({ counter }) => counter))) ?? 0;
  const leftOut = passedOver + unsent + (exported?.lost ?? 0);
  if (leftOut > 0) metrics?.add(FUNCTION_METRIC.rollupLeftOut, leftOut);
  metrics?.flush();
  const failed = [...again, ...(appended ? [] : counters.slice(0, 1)), ...uncounted];
  const sequences = new Set([...failed.map(({ sequence }) => sequence), ...(exported?.again ?? [])]);
  return { batchItemFailures: [...sequences].map((itemIdentifier) => ({ itemIdentifier })) };
}

/** All or nothing: a batch that is delivered again is appended again. */
async function appendCounters(counters: Images['counters'], { snapshots, log }: RollUpDeps) {
  const latest = new Map<string, Counter>();
  for (const { counter } of counters)
    if (isInSnapshot(counter.key)) latest.set(counterName(counter.key), counter);
  const [first] = counters;
  if (first === undefined || latest.size === 0) return true;
  try {
    await snapshots?.append([...latest.values()], first.sequence);
    return true;
  } catch (error) {
    if (!(error instanceof LedgerError && error.retryable)) throw error;
    log.warn('counters not appended to the snapshot yet', { counters: latest.size });
    return false;
  }
}

interface Images {
  readonly records: { readonly sequence: string; readonly record: JobRecord }[];
  readonly counters: { readonly sequence: string; readonly counter: Counter }[];
  readonly unreadable: { readonly sequence: string; readonly writtenAtMs: number }[];
}

function readImages({ Records }: TableStreamEvent, keys: LedgerKeys): Images {
  const images: Images = { records: [], counters: [], unreadable: [] };
  for (const { dynamodb } of Records) {
    const { SequenceNumber: sequence = '', NewImage: item } = dynamodb ?? {};
    if (item === undefined || !isOurs(item, keys)) continue;
    try {
      if (isNewer(item)) throw new RangeError('written by a newer program');
      const read = decodeItem(item, keys);
      if (read.kind === 'counter') images.counters.push({ sequence, counter: read.counter });
      if (read.kind !== 'record') continue;
      const { jobId, rev } = read.record;
      if (!Number.isSafeInteger(jobId) || !Number.isSafeInteger(rev) || rev < 1)
        throw new RangeError('a record without job id or rev');
      images.records.push({ sequence, record: read.record });
    } catch {
      const at = dynamodb?.ApproximateCreationDateTime;
      const writtenAtMs = typeof at === 'number' ? at * 1000 : 0;
      images.unreadable.push({ sequence, writtenAtMs });
    }
  }
  return images;
}

const isOurs = (item: Item, keys: LedgerKeys): boolean =>
  (item[SK]?.S === RECORD_SK || item[SK]?.S === COUNTER_SK) && (item[PK]?.S ?? '').startsWith(keys.prefix);

/** Counters with unsent alerts; any more wait until they change again. */
const WAITING_MAX = 2_000;

/** A failing topic does not delay usage: unsent alerts go out with a later batch. Only a counter's last state is kept. */
export function createAlertSender(
  alert: (counters: readonly Counter[]) => Promise<unknown>,
  log: Log,
): NonNullable<RollUpDeps['sendAlerts']> {
  const waiting = new Map<string, Counter>();
  return async (counters) => {
    if (waiting.size + counters.length === 0) return 0;
    try {
      await alert([...waiting.values(), ...counters]);
      waiting.clear();
    } catch (error) {
      for (const counter of counters) {
        const name = counterName(counter.key);
        if (waiting.has(name) || waiting.size < WAITING_MAX) waiting.set(name, counter);
      }
      const cause = error instanceof Error ? error.name : 'unknown';
      log.warn('owners not notified of thresholds', { counters: waiting.size, error: cause });
    }
    return waiting.size;
  };
}
