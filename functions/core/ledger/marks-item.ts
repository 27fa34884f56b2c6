/** The sweep's marks ↔ DynamoDB items. */
import type { AttributeValue } from '../store/index.ts';
import type { RunnerMark, SweepMarks } from './sweep-marks.ts';

type Attributes = Readonly<Record<string, AttributeValue>>;

const SINCE = 'si';
const MARKS = 'rm';
const OPEN = 'op';
const BLOCKS = 'bl';

/** What is said once: since when, which jobs run unadmitted, and how many blocks of runners there are. */
export const encodeHead = ({ sinceMs, open }: SweepMarks, blocks: number): Attributes => ({
  [SINCE]: number(sinceMs),
  // Pairs in a list keep their order, which a map would not.
  [OPEN]: { L: [...open].flat().map(number) },
  [BLOCKS]: number(blocks),
});

export const decodeHead = (item: Attributes): Pick<SweepMarks, 'sinceMs' | 'open'> => ({
  sinceMs: numberOf(item[SINCE]),
  open: decodePairs(item[OPEN]?.L ?? []),
});

/** 0: an item of an older version, which has the runners itself. */
export const blocksOf = (item: Attributes): number => numberOf(item[BLOCKS]);

export const encodeRunners = (runners: Iterable<readonly [number, RunnerMark]>): Attributes => ({
  [MARKS]: {
    M: Object.fromEntries(
      [...runners].map(([runnerId, mark]) => [String(runnerId), { L: encodeMark(mark) }]),
    ),
  },
});

export const decodeRunners = (item: Attributes): readonly (readonly [number, RunnerMark])[] =>
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
