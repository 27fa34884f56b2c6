import {
  type AttributeValue,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { ledgerKeys } from './keys.ts';
import { LedgerError } from './ledger-error.ts';
import type { RunnerMark, SweepMarkStore, SweepMarks } from './sweep-marks.ts';
import { PK, SK } from './table.ts';

const TIMEOUT_MS = 2_000;
const SINCE = 'si';
const MARKS = 'rm';
const OPEN = 'op';

export interface DynamoMarksOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

/** The marks beside the ledger, some 35 bytes per runner: DynamoDB's 400 KB are enough for ten thousand. */
export function dynamoMarks({ client, tableName, instance }: DynamoMarksOptions): SweepMarkStore {
  const { pk, sk } = ledgerKeys(instance).sweepMarks;
  const key = { [PK]: { S: pk }, [SK]: { S: sk } };
  const answered = async <T>(doing: string, call: (abortSignal: AbortSignal) => Promise<T>): Promise<T> => {
    try {
      return await call(AbortSignal.timeout(TIMEOUT_MS));
    } catch (error) {
      const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      throw new LedgerError(
        'ledger_unavailable',
        `could not ${doing} the sweep's marks in ${tableName} (${why})`,
      );
    }
  };
  return {
    read: async () => {
      const command = new GetItemCommand({ TableName: tableName, Key: key, ConsistentRead: true });
      const { Item } = await answered('read', (abortSignal) => client.send(command, { abortSignal }));
      return Item && decodeMarks(Item);
    },
    write: async (marks) => {
      const command = new PutItemCommand({ TableName: tableName, Item: { ...key, ...encodeMarks(marks) } });
      await answered('write', (abortSignal) => client.send(command, { abortSignal }));
    },
  };
}

const encodeMarks = ({ sinceMs, runners, open }: SweepMarks): Record<string, AttributeValue> => ({
  [SINCE]: { N: String(sinceMs) },
  [MARKS]: {
    M: Object.fromEntries(
      [...runners].map(([runnerId, mark]) => [String(runnerId), { L: encodeMark(mark) }]),
    ),
  },
  // Pairs in a list keep their order, which a map would not.
  [OPEN]: { L: [...open].flat().map(number) },
});

const number = (value: number): AttributeValue => ({ N: String(value) });

const encodeMark = ({ seenTo, passMs, deepMs, going }: RunnerMark): AttributeValue[] => [
  ...[seenTo, passMs, deepMs].map(number),
  ...(going === undefined
    ? []
    : [number(going.startMs), { BOOL: going.deep }, number(going.top), { S: going.page }]),
];

const decodeMarks = (item: Readonly<Record<string, AttributeValue>>): SweepMarks => ({
  sinceMs: numberOf(item[SINCE]),
  runners: new Map(
    Object.entries(item[MARKS]?.M ?? {}).map(([runnerId, mark]) => [
      Number(runnerId),
      decodeMark(mark.L ?? []),
    ]),
  ),
  open: decodePairs(item[OPEN]?.L ?? []),
});

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
