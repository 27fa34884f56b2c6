import { isDeepStrictEqual } from 'node:util';
import { atOnce } from '../environment/index.ts';
import {
  type AttributeValue,
  answered,
  getItem,
  type InstanceTable,
  type Item,
  itemAt,
  type Key,
  ledgerKeys,
  putItem,
  TimeLimit,
  unavailable,
} from '../store/index.ts';

/** Checkpoints of the search for bypassed jobs, per runner. They change every minute. */

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
  /** A search that was cut short. */
  readonly going?: RunnerPass;
}

/** A search goes on at this page, and then everything up to `top` was looked at. */
interface RunnerPass {
  readonly startMs: number;
  readonly deep: boolean;
  readonly top: number;
  readonly page: string;
}

/**
 * The last write of two concurrent sweeps wins. Both write only runners they searched, so a checkpoint may
 * step back, which repeats work but skips none.
 */
export interface SweepMarkStore {
  /** Returns undefined before the first search. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<SweepMarks | undefined>;
  /** @throws {LedgerError} `ledger_unavailable`; it may or may not be written. */
  write(marks: SweepMarks): Promise<void>;
}

// The sweep's marks ↔ DynamoDB items.

type Attributes = Readonly<Record<string, AttributeValue>>;

const SINCE = 'si';
const MARKS = 'rm';
const OPEN = 'op';
const BLOCKS = 'bl';

/** The head item: the start time, jobs that run unadmitted, and the number of blocks. */
const encodeHead = ({ sinceMs, open }: SweepMarks, blocks: number): Attributes => ({
  [SINCE]: number(sinceMs),
  // Pairs in a list keep their order, which a map would not.
  [OPEN]: { L: [...open].flat().map(number) },
  [BLOCKS]: number(blocks),
});

const decodeHead = (item: Attributes): Pick<SweepMarks, 'sinceMs' | 'open'> => ({
  sinceMs: numberOf(item[SINCE]),
  open: decodePairs(item[OPEN]?.L ?? []),
});

/** 0: an item of an older version, which has the runners itself. */
const blocksOf = (item: Attributes): number => numberOf(item[BLOCKS]);

const encodeRunners = (runners: Iterable<readonly [number, RunnerMark]>): Attributes => ({
  [MARKS]: {
    M: Object.fromEntries(
      [...runners].map(([runnerId, mark]) => [String(runnerId), { L: encodeMark(mark) }]),
    ),
  },
});

const decodeRunners = (item: Attributes): readonly (readonly [number, RunnerMark])[] =>
  Object.entries(item[MARKS]?.M ?? {}).map(([runnerId, mark]) => [
    Number(runnerId),
    decodeMark(mark.L ?? []),
  ]);

const number = (value: number): AttributeValue => ({ N: String(value) });

const encodeMark = ({ seenTo, passMs, deepMs, going }: RunnerMark): AttributeValue[] => [
  ...[seenTo, passMs, deepMs].map(number),
  ...(going === undefined
    ? []
    : [number(going.startMs), { BOOL: going.deep }, number(going.top), { S: going.page }]),
];

function decodeMark([
  seenTo,
  passMs,
  deepMs,
  startMs,
  deep,
  top,
  page,
]: readonly AttributeValue[]): RunnerMark {
  const mark = { seenTo: numberOf(seenTo), passMs: numberOf(passMs), deepMs: numberOf(deepMs) };
  if (page?.S === undefined) return mark;
  const going = { startMs: numberOf(startMs), deep: deep?.BOOL ?? false, top: numberOf(top), page: page.S };
  return { ...mark, going };
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

/**
 * Stores checkpoints: one head item, and one for each thousand runners. A runner's id selects its block, and
 * an unchanged block is not written. The single item of an older version is read and replaced.
 */
export function dynamoSweepMarks({ table, instance }: InstanceTable): SweepMarkStore {
  const keys = ledgerKeys(instance);
  /** Blocks in the table, as this store last read or wrote them. */
  let known: readonly Runners[] = [];

  const failure = unavailable(table);
  const get = (key: Key): Promise<Item | undefined> =>
    answered("read the sweep's marks", failure, () => getItem(table, key, new TimeLimit(TIMEOUT_MS)));
  const put = async (key: Key, attributes: Item): Promise<void> => {
    await answered("write the sweep's marks", failure, () =>
      putItem(table, itemAt(key, attributes), new TimeLimit(TIMEOUT_MS)),
    );
  };

  return {
    read: async () => {
      const head = await get(keys.sweepMarks);
      if (head === undefined) return undefined;
      const blocks: Runners[] = [];
      await atOnce([...Array(blocksOf(head)).keys()], AT_ONCE, async (block) => {
        blocks[block] = new Map(decodeRunners((await get(keys.sweepMarksBlock(block))) ?? {}));
      });
      known = blocks;
      // The item of an older version has the runners itself.
      const runners = new Map([...decodeRunners(head), ...known.flatMap((block) => [...block])]);
      return { ...decodeHead(head), runners };
    },
    write: async (marks) => {
      const blocks = blocksFor(marks);
      // Before the head, which says how many there are: a write that breaks off leaves older marks, and work is repeated.
      await atOnce([...blocks.entries()], AT_ONCE, async ([block, runners]) => {
        if (!isSame(runners, known[block])) await put(keys.sweepMarksBlock(block), encodeRunners(runners));
      });
      await put(keys.sweepMarks, encodeHead(marks, blocks.length));
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

/** Returns true if a block did not change since it was read or written. */
function isSame(runners: Runners, known: Runners | undefined): boolean {
  if (known?.size !== runners.size) return false;
  for (const [runnerId, mark] of runners) {
    const before = known.get(runnerId);
    if (before === undefined || !(before === mark || isDeepStrictEqual(before, mark))) return false;
  }
  return true;
}
