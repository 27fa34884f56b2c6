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
const MARKS = 'mk';

export interface DynamoMarksOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

/** The marks beside the ledger, some 30 bytes per runner: DynamoDB's 400 KB are enough for ten thousand. */
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

const encodeMarks = ({ sinceMs, runners }: SweepMarks): Record<string, AttributeValue> => ({
  [SINCE]: { N: String(sinceMs) },
  [MARKS]: {
    M: Object.fromEntries(
      [...runners].map(([runnerId, mark]) => [String(runnerId), { L: encodeMark(mark) }]),
    ),
  },
});

const encodeMark = ({ seenTo, going }: RunnerMark): AttributeValue[] => [
  { N: String(seenTo) },
  ...(going === undefined ? [] : [{ N: String(going.top) }, { S: going.page }]),
];

const decodeMarks = (item: Readonly<Record<string, AttributeValue>>): SweepMarks => ({
  sinceMs: Number(item[SINCE]?.N ?? 0),
  runners: new Map(
    Object.entries(item[MARKS]?.M ?? {}).map(([runnerId, mark]) => [
      Number(runnerId),
      decodeMark(mark.L ?? []),
    ]),
  ),
});

function decodeMark([seenTo, top, page]: readonly AttributeValue[]): RunnerMark {
  const mark = { seenTo: Number(seenTo?.N ?? 0) };
  return page?.S === undefined ? mark : { ...mark, going: { top: Number(top?.N ?? 0), page: page.S } };
}
