import type { CounterKey } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { atOnce } from '../environment/environment.ts';
import {
  itemAt,
  readAll,
  readItem,
  type SingleItem,
  singleItem,
  timedTable,
  writeItem,
} from '../store/calls.ts';
import { INBOX_SHARDS, type Key, ledgerKeys } from '../store/keys.ts';
import type { AttributeValue, InstanceTable, Item } from '../store/operation.ts';
import { inParts } from '../store/parts.ts';
import type { RebuildReport } from './ledger.ts';
import { numberValue, readNumber, readText, textValue } from './record.ts';
import { roundMs, type UsageCheck } from './recount-round.ts';

export interface SweepCheckpoints {
  /** Start of the first search, Unix ms. Jobs that started earlier are not bypasses. */
  readonly sinceMs: number;
  readonly runners: ReadonlyMap<number, RunnerCheckpoint>;
  /** Jobs that run without an admission, to be charged at their end: project's id by job id, longest not asked about first. */
  readonly open: ReadonlyMap<number, number>;
}

export interface RunnerCheckpoint {
  /** Jobs of this runner up to this id were looked at, as far as they had started by then. */
  readonly seenTo: number;
  readonly passMs: number;
  /** The same of the last deep one, which also looks below `seenTo`. */
  readonly deepMs: number;
  /** A search goes on at this page, and then everything up to `top` was looked at. */
  readonly going?: {
    readonly startMs: number;
    readonly deep: boolean;
    readonly top: number;
    readonly page: string;
  };
}

/** The last write of two sweeps wins. A checkpoint may step back, which repeats work but skips none. */
export type SweepCheckpointStore = SingleItem<SweepCheckpoints>;

type Runners = readonly (readonly [number, RunnerCheckpoint])[];

const encodeRunners = (runners: Runners): Item => ({
  rm: { M: Object.fromEntries(runners.map(([id, mark]) => [String(id), { L: encodeMark(mark) }])) },
});

const decodeRunners = (item: Item): Runners =>
  Object.entries(item.rm?.M ?? {}).map(([id, mark]) => [Number(id), decodeMark(mark.L ?? [])]);

const encodeMark = ({ seenTo, passMs, deepMs, going }: RunnerCheckpoint): AttributeValue[] => [
  ...[seenTo, passMs, deepMs].map(numberValue),
  ...(going === undefined
    ? []
    : [numberValue(going.startMs), { BOOL: going.deep }, numberValue(going.top), textValue(going.page)]),
];

function decodeMark(values: readonly AttributeValue[]): RunnerCheckpoint {
  const [seenTo = 0, passMs = 0, deepMs = 0, startMs = 0, , top = 0] = values.map(numberOf);
  const page = values[6]?.S;
  const deep = values[4]?.BOOL ?? false;
  return { seenTo, passMs, deepMs, ...(page !== undefined && { going: { startMs, deep, top, page } }) };
}

const numberOf = (value: AttributeValue | undefined): number => Number(value?.N ?? 0);

const TIMEOUT_MS = 2_000;
/** Some 45 bytes each, and 200 for a search that was cut short. An item takes 400 KB. */
const BLOCK_RUNNERS = 1_000;
const AT_ONCE = 8;

/** One head item, and one for each thousand runners in the order of their ids. A block that did not change is not written. */
export function dynamoSweepCheckpoints({ table, instance }: InstanceTable): SweepCheckpointStore {
  const keys = ledgerKeys(instance);
  let known: readonly string[] = [];

  const timed = timedTable(table, TIMEOUT_MS);
  const what = "the sweep's checkpoints";
  const get = (key: Key) => readItem(timed, what, key);
  const put = (key: Key, attributes: Item) => writeItem(timed, what, itemAt(key, attributes));

  return {
    async read() {
      const head = await get(keys.sweepMarks);
      if (head === undefined) return undefined;
      const blocks: Runners[] = [];
      await atOnce([...Array(numberOf(head.bl)).keys()], AT_ONCE, async (block) => {
        blocks[block] = decodeRunners((await get(keys.sweepMarksBlock(block))) ?? {});
      });
      known = blocks.map((block) => JSON.stringify(block));
      const open = (head.op?.L ?? []).map(numberOf);
      return {
        sinceMs: numberOf(head.si),
        open: new Map(open.flatMap((id, at) => (at % 2 === 0 ? [[id, open[at + 1] ?? 0] as const] : []))),
        // An item of an older version has the runners itself.
        runners: new Map([...decodeRunners(head), ...blocks.flat()]),
      };
    },
    async write({ sinceMs, runners, open }) {
      const sorted = [...runners].sort(([a], [b]) => a - b);
      const blocks = inParts(sorted, BLOCK_RUNNERS);
      const texts = blocks.map((block) => JSON.stringify(block));
      // Before the head, which says how many there are: a write that breaks off leaves older ones, and work is repeated.
      await atOnce([...blocks.entries()], AT_ONCE, async ([block, marks]) => {
        if (texts[block] !== known[block]) await put(keys.sweepMarksBlock(block), encodeRunners(marks));
      });
      await put(keys.sweepMarks, {
        si: numberValue(sinceMs),
        op: { L: [...open].flat().map(numberValue) },
        bl: numberValue(blocks.length),
      });
      known = texts;
    },
  };
}

export type ReportedEnds = ReturnType<typeof dynamoReportedEnds>;

/** One shard of a half hour: some thousand deliveries, a megabyte a page. */
const SHARD_TIMEOUT_MS = 10_000;

export function dynamoReportedEnds({ table, instance }: InstanceTable) {
  const keys = ledgerKeys(instance);
  const checkpoint = singleItem<number>({
    ...{ table, key: keys.confirmCheckpoint, name: 'the checkpoint of confirmed ends', consistent: true },
    encode: (slot) => ({ sl: numberValue(slot) }),
    decode: ({ sl }) => (Number.isSafeInteger(Number(sl?.N)) ? Number(sl?.N) : undefined),
  });
  const timed = timedTable(table, SHARD_TIMEOUT_MS);
  const readShard = (slot: number, shard: number): Promise<readonly Item[]> =>
    readAll(timed, 'reported ends', {
      ...{ pk: keys.inboxPk(slot, shard), attributes: ['b'], consistent: false },
    });
  return {
    /** Bodies of the deliveries of one half hour, in no order. @throws {LedgerError} `ledger_unavailable` */
    async read(slot: number): Promise<readonly string[]> {
      const shards = Array.from({ length: INBOX_SHARDS }, (_, shard) => readShard(slot, shard));
      return (await Promise.all(shards)).flat().flatMap(({ b }) => b?.S ?? []);
    },
    /** The half hour that is under way: everything before it is done. @throws {LedgerError} `ledger_unavailable` */
    readCheckpoint: () => checkpoint.read(),
    writeCheckpoint: (slot: number) => checkpoint.write(slot),
  };
}

/** Usage of jobs as young as this is compared, so each job is met at least once after its last change. */
export const mendedMs = (records = Number.POSITIVE_INFINITY): number => roundMs(records) + DAY_MS;

export interface RecountOutcome {
  readonly recountedAtMs: number;
  /** Counters that do not show what their records make; at most {@link DRIFTING_KEPT_MAX}. */
  readonly drifting: readonly {
    readonly key: CounterKey;
    /** Settled + held, whole units of the limit: as the counter had it, and as its records make it. */
    readonly committed: number;
    readonly recounted: number;
  }[];
  readonly unlisted: number;
  readonly records?: number;
  readonly usage?: UsageCheck;
}

export type RecountOutcomes = SingleItem<RecountOutcome>;

const DRIFTING_KEPT_MAX = 500;

export function recountOutcome(
  { records, drift, unproven }: Pick<RebuildReport, 'records' | 'drift' | 'unproven'>,
  recountedAtMs: number,
  usage?: UsageCheck,
): RecountOutcome {
  const all = [...drift, ...unproven];
  return {
    ...{ recountedAtMs, records },
    drifting: all.slice(0, DRIFTING_KEPT_MAX).map(({ key, counter, recount }) => ({
      key,
      committed: counter.committed,
      recounted: recount.committed,
    })),
    unlisted: Math.max(0, all.length - DRIFTING_KEPT_MAX),
    ...(usage !== undefined && { usage }),
  };
}

/** Returns true if the next round should have ended a day ago. When it ends, this one began two rounds before. */
export const isRecountLate = (
  { recountedAtMs, records = Number.POSITIVE_INFINITY }: RecountOutcome,
  nowMs: number,
): boolean => nowMs - recountedAtMs > 2 * roundMs(records) + DAY_MS;

export const dynamoRecountOutcomes = ({ table, instance }: InstanceTable): RecountOutcomes =>
  singleItem<RecountOutcome>({
    ...{ table, key: ledgerKeys(instance).recountOutcome, name: 'result of the recount', consistent: false },
    encode: ({ recountedAtMs, unlisted, records, usage, drifting }) => ({
      ...{ at: numberValue(recountedAtMs), ul: numberValue(unlisted) },
      ...(records !== undefined && { re: numberValue(records) }),
      ...(usage !== undefined && { us: textValue(JSON.stringify(usage)) }),
      dc: {
        L: drifting.map(({ key, committed, recounted }) => ({
          M: {
            ...{ s: textValue(key.subject), l: textValue(key.limit), p: textValue(key.period) },
            ...{ c: numberValue(committed), r: numberValue(recounted) },
          },
        })),
      },
    }),
    decode: (item) => ({
      ...{ recountedAtMs: readNumber(item, 'at'), unlisted: readNumber(item, 'ul') },
      ...(item.re !== undefined && { records: readNumber(item, 're') }),
      ...(item.us?.S !== undefined && { usage: JSON.parse(item.us.S) as UsageCheck }),
      drifting: (item.dc?.L ?? []).map(({ M = {} }) => ({
        key: { subject: readText(M, 's'), limit: readText(M, 'l'), period: readText(M, 'p') },
        ...{ committed: readNumber(M, 'c'), recounted: readNumber(M, 'r') },
      })),
    }),
  });
