/** What records changed on counters, by epoch: one item for a batch of the stream, a line for each write of a record. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type Counter, epochAt, isSummed, type JobRecord, weightChanges, weightOf } from '../ledger/index.ts';
import {
  answered,
  type InstanceTable,
  itemAt,
  type LedgerKeys,
  ledgerKeys,
  putItem,
  queryAll,
  TimeLimit,
  TTL_ATTRIBUTE,
  unavailable,
} from '../store/index.ts';

/** A write of a record, as the stream shows it. */
interface RecordStep {
  readonly sequence: string;
  /** The epoch of its transaction; absent: an older program wrote it. */
  readonly epoch?: number;
  readonly before?: JobRecord;
  readonly after: JobRecord;
}

/** Two images of a counter. */
interface CounterImages {
  readonly sequence: string;
  readonly before?: Counter;
  readonly after: Counter;
}

/** What one write of a record changed: job, `rev`, and pairs of a counter's partition and weight. */
type SumLine = readonly [number, number, readonly (readonly [string, number])[]];

interface SumLines {
  readonly lines: readonly SumLine[];
  /** Counters that were written by nobody of us. */
  readonly odd: readonly CounterKey[];
}

/** The stream's reader gives up after less than a day. */
const KEPT_SECONDS = 2 * 86_400;
const TIMEOUT_MS = 5_000;
const LINES = 'li';

export interface SumLog {
  /** Doing it twice changes nothing. @throws {LedgerError} `ledger_unavailable` */
  note(records: readonly RecordStep[], counters: readonly CounterImages[], nowMs: number): Promise<void>;
  /** All lines of an epoch, each once. @throws {LedgerError} `ledger_unavailable` */
  read(epoch: number): Promise<SumLines>;
}

export function dynamoSumLog({ table, instance }: InstanceTable): SumLog {
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  return {
    async note(records, counters, nowMs) {
      const byEpoch = Map.groupBy(records.filter(isStep), ({ epoch }) => epoch);
      const odd = counters.filter(isOdd);
      const now = epochAt(nowMs);
      if (!byEpoch.has(now)) byEpoch.set(now, []);
      for (const [epoch, steps] of byEpoch) {
        // An older program's records are of no epoch.
        if (epoch === undefined) continue;
        const lines = steps.map((step) => lineOf(step, keys)).filter(([, , changes]) => changes.length > 0);
        const strange = epoch === now ? odd : [];
        const sequences = [...steps, ...strange].map(({ sequence }) => sequence);
        if (lines.length + strange.length === 0) continue;
        const noted: SumLines = { lines, odd: strange.map(({ after }) => after.key) };
        const item = itemAt(keys.sumLog(epoch, `${sequences[0]}-${sequences.at(-1)}`), {
          [LINES]: { B: gzipSync(JSON.stringify(noted)) },
          [TTL_ATTRIBUTE]: { N: String(Math.ceil(nowMs / 1000) + KEPT_SECONDS) },
        });
        await answered('note what records changed', failure, () =>
          putItem(table, item, new TimeLimit(TIMEOUT_MS)),
        );
      }
    },
    async read(epoch) {
      const { pk } = keys.sumLog(epoch, '');
      const items = await answered('read what records changed', failure, () =>
        queryAll(table, { pk, consistent: true }, new TimeLimit(TIMEOUT_MS)),
      );
      const lines = new Map<string, SumLine>();
      const odd = new Map<string, CounterKey>();
      for (const item of items) {
        const noted = JSON.parse(gunzipSync(item[LINES]?.B ?? '').toString()) as SumLines;
        for (const line of noted.lines) lines.set(`${line[0]}/${line[1]}`, line);
        for (const key of noted.odd) odd.set(counterName(key), key);
      }
      return { lines: [...lines.values()], odd: [...odd.values()] };
    },
  };
}

/** A record in other words has the `rev` it had. */
const isStep = ({ before, after }: RecordStep): boolean => before?.rev !== after.rev;

/** Every program of ours counts `rev` on. */
const isOdd = ({ before, after }: CounterImages): boolean =>
  before !== undefined &&
  before.rev === after.rev &&
  isSummed(after.key) &&
  weightOf(before) !== weightOf(after);

function lineOf({ before, after }: RecordStep, keys: LedgerKeys): SumLine {
  const summed = new Map<string, CounterKey>();
  for (const { counter } of [...(before?.claims ?? []), ...after.claims])
    if (isSummed(counter)) summed.set(counterName(counter), counter);
  const changes = [...weightChanges(before, after)].flatMap(([name, weight]) => {
    const key = summed.get(name);
    return key === undefined ? [] : [[keys.counter(key).pk, weight] as const];
  });
  return [after.jobId, after.rev, changes];
}
