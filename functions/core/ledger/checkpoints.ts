import { isDeepStrictEqual } from 'node:util';
import type { CounterKey } from '../../../policies/claim.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { atOnce } from '../environment/environment.ts';
import { getItem, itemAt, putItem, queryAll, type SingleItem, singleItem } from '../store/calls.ts';
import { INBOX_SHARDS, type Key, ledgerKeys } from '../store/keys.ts';
import { type AttributeValue, type InstanceTable, type Item, TimeLimit } from '../store/operation.ts';
import { answered, unavailable } from '../store/table-failure.ts';
import type { RebuildReport } from './ledger.ts';
import { numberValue, readNumber, readText, textValue } from './record.ts';
import { roundMs, type UsageLook } from './recount-round.ts';

export interface SweepMarks {
  /** When the search began, Unix ms: what started earlier ran before we were asked about anything. */
  readonly sinceMs: number;
  readonly runners: ReadonlyMap<number, RunnerMark>;
  /** Jobs that run without an admission, to be charged at their end: project's id by job id, longest not asked about first. */
  readonly open: ReadonlyMap<number, number>;
}

export interface RunnerMark {
  /** Jobs of this runner up to this id were looked at, as far as they had started by then. */
  readonly seenTo: number;
  /** When the last search that got through began, Unix ms; 0: none did. */
  readonly passMs: number;
  /** The same of the last deep one, which also looks below `seenTo`. */
  readonly deepMs: number;
  readonly going?: RunnerPass;
}

/** A search goes on at this page, and then everything up to `top` was looked at. */
interface RunnerPass {
  readonly startMs: number;
  readonly deep: boolean;
  readonly top: number;
  readonly page: string;
}

/** The last write of two sweeps wins. A checkpoint may step back, which repeats work but skips none. */
export interface SweepMarkStore {
  /** Returns undefined before the first search. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<SweepMarks | undefined>;
  write(marks: SweepMarks): Promise<void>;
}

const encodeRunners = (runners: Runners): Item => ({
  rm: { M: Object.fromEntries([...runners].map(([id, mark]) => [String(id), { L: encodeMark(mark) }])) },
});

const decodeRunners = (item: Item): readonly (readonly [number, RunnerMark])[] =>
  Object.entries(item.rm?.M ?? {}).map(([id, mark]) => [Number(id), decodeMark(mark.L ?? [])]);

const encodeMark = ({ seenTo, passMs, deepMs, going }: RunnerMark): AttributeValue[] => [
  ...[seenTo, passMs, deepMs].map(numberValue),
  ...(going === undefined
    ? []
    : [numberValue(going.startMs), { BOOL: going.deep }, numberValue(going.top), textValue(going.page)]),
];

function decodeMark(values: readonly AttributeValue[]): RunnerMark {
  const at = (index: number): number => numberOf(values[index]);
  const mark = { seenTo: at(0), passMs: at(1), deepMs: at(2) };
  const page = values[6]?.S;
  if (page === undefined) return mark;
  return { ...mark, going: { startMs: at(3), deep: values[4]?.BOOL ?? false, top: at(5), page } };
}

const decodePairs = (values: readonly AttributeValue[]): ReadonlyMap<number, number> =>
  new Map(
    Array.from({ length: Math.floor(values.length / 2) }, (_, index) => [
      numberOf(values[index * 2]),
      numberOf(values[index * 2 + 1]),
    ]),
  );

const numberOf = (value: AttributeValue | undefined): number => Number(value?.N ?? 0);

const TIMEOUT_MS = 2_000;
/** Some 45 bytes each, and 200 for a search that was cut short: at most half of an item's 400 KB. */
const BLOCK_RUNNERS_MAX = 1_000;
/** A million runners. */
const BLOCKS_MAX = 1_000;
const AT_ONCE = 8;

/** One head item, and one for each thousand runners, chosen by the runner's id. */
export function dynamoSweepMarks({ table, instance }: InstanceTable): SweepMarkStore {
  const keys = ledgerKeys(instance);
  let known: readonly Runners[] = [];

  const failure = unavailable(table);
  const get = (key: Key): Promise<Item | undefined> =>
    answered("read the sweep's checkpoints", failure, () => getItem(table, key, new TimeLimit(TIMEOUT_MS)));
  const put = async (key: Key, attributes: Item): Promise<void> => {
    await answered("write the sweep's checkpoints", failure, () =>
      putItem(table, itemAt(key, attributes), new TimeLimit(TIMEOUT_MS)),
    );
  };

  return {
    read: async () => {
      const head = await get(keys.sweepMarks);
      if (head === undefined) return undefined;
      const blocks: Runners[] = [];
      // No number of blocks: an item of an older version, which has the runners itself.
      await atOnce([...Array(numberOf(head.bl)).keys()], AT_ONCE, async (block) => {
        blocks[block] = new Map(decodeRunners((await get(keys.sweepMarksBlock(block))) ?? {}));
      });
      known = blocks;
      return {
        sinceMs: numberOf(head.si),
        open: decodePairs(head.op?.L ?? []),
        runners: new Map([...decodeRunners(head), ...blocks.flatMap((block) => [...block])]),
      };
    },
    write: async (marks) => {
      const blocks = blocksFor(marks);
      // Before the head, which says how many there are: a write that breaks off leaves older ones, and work is repeated.
      await atOnce([...blocks.entries()], AT_ONCE, async ([block, runners]) => {
        if (!isSame(runners, known[block])) await put(keys.sweepMarksBlock(block), encodeRunners(runners));
      });
      await put(keys.sweepMarks, {
        si: numberValue(marks.sinceMs),
        // Pairs in a list keep their order, which a map would not.
        op: { L: [...marks.open].flat().map(numberValue) },
        bl: numberValue(blocks.length),
      });
      known = blocks;
    },
  };
}

type Runners = ReadonlyMap<number, RunnerMark>;

/** As many blocks as the runners need; their number is a power of two, so that few runners change theirs as a fleet grows. */
function blocksFor({ runners }: SweepMarks): readonly Runners[] {
  let count = 1;
  // Half full on the average leaves room for blocks that are fuller than others.
  while (count * (BLOCK_RUNNERS_MAX / 2) < runners.size && count < BLOCKS_MAX) count *= 2;
  const blocks: Map<number, RunnerMark>[] = Array.from({ length: count }, () => new Map());
  for (const [runnerId, mark] of runners) blocks[spread(runnerId) % count]?.set(runnerId, mark);
  return blocks;
}

/** Runners that are left of a fleet may all have even ids. @see Knuth's multiplicative hashing */
const spread = (runnerId: number): number => Math.imul(runnerId, 0x9e37_79b1) >>> 12;

const isSame = (runners: Runners, known: Runners | undefined): boolean =>
  known?.size === runners.size &&
  [...runners].every(([id, mark]) => known.get(id) === mark || isDeepStrictEqual(known.get(id), mark));

/** Job ends that webhooks reported, and the checkpoint of their comparison with GitLab. */
export interface ReportedEnds {
  /** Bodies of the deliveries of one half hour, in no order. @throws {LedgerError} `ledger_unavailable` */
  read(slot: number): Promise<readonly string[]>;
  /** The half hour that is under way: everything before it is done. @throws {LedgerError} `ledger_unavailable` */
  readCheckpoint(): Promise<number | undefined>;
  writeCheckpoint(slot: number): Promise<void>;
}

/** One shard of a half hour: some thousand deliveries, a megabyte a page. */
const SHARD_TIMEOUT_MS = 10_000;

export function dynamoReportedEnds({ table, instance }: InstanceTable): ReportedEnds {
  const keys = ledgerKeys(instance);
  const checkpoint = singleItem<number>({
    ...{ table, key: keys.confirmCheckpoint, name: 'the checkpoint of confirmed ends', consistent: true },
    encode: (slot) => ({ sl: numberValue(slot) }),
    decode: ({ sl }) => (Number.isSafeInteger(Number(sl?.N)) ? Number(sl?.N) : undefined),
  });
  const readShard = (slot: number, shard: number): Promise<readonly Item[]> =>
    answered('read reported ends', unavailable(table), () =>
      queryAll(
        table,
        { pk: keys.inboxPk(slot, shard), attributes: ['b'], consistent: false },
        new TimeLimit(SHARD_TIMEOUT_MS),
      ),
    );
  return {
    async read(slot) {
      const shards = Array.from({ length: INBOX_SHARDS }, (_, shard) => readShard(slot, shard));
      return (await Promise.all(shards)).flat().flatMap(({ b }) => b?.S ?? []);
    },
    readCheckpoint: () => checkpoint.read(),
    writeCheckpoint: (slot) => checkpoint.write(slot),
  };
}

/** Usage of jobs as young as this is compared, so each job is met at least once after its last change. */
export const mendedMs = (records = Number.POSITIVE_INFINITY): number => roundMs(records) + DAY_MS;

/** Result of the last round of the recount, for pages and the health check. */
export interface RecountOutcome {
  readonly recountedAtMs: number;
  /** Counters that do not show what their records make; at most {@link DRIFTING_KEPT_MAX}. */
  readonly drifting: readonly DriftingCounter[];
  readonly unlisted: number;
  readonly records?: number;
  readonly usage?: UsageLook;
}

interface DriftingCounter {
  readonly key: CounterKey;
  /** Settled + held, whole units of the limit: as the counter had it, and as its records make it. */
  readonly committed: number;
  readonly recounted: number;
}

export type RecountOutcomes = SingleItem<RecountOutcome>;

const DRIFTING_KEPT_MAX = 500;

/** @param recountedAtMs - Unix ms, when the recount began */
export function recountOutcome(
  { records, drift, unproven }: Pick<RebuildReport, 'records' | 'drift' | 'unproven'>,
  recountedAtMs: number,
  usage?: UsageLook,
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
    ...{ table, key: ledgerKeys(instance).recountOutcome, name: 'what the recount found', consistent: false },
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
      ...(item.us?.S !== undefined && { usage: JSON.parse(item.us.S) as UsageLook }),
      drifting: (item.dc?.L ?? []).map(({ M = {} }) => ({
        key: { subject: readText(M, 's'), limit: readText(M, 'l'), period: readText(M, 'p') },
        ...{ committed: readNumber(M, 'c'), recounted: readNumber(M, 'r') },
      })),
    }),
  });
