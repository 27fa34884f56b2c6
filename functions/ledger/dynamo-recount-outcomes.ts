import {
  type AttributeValue,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { versioned } from './item-version.ts';
import { ledgerKeys } from './keys.ts';
import type { DriftingCounter, RecountOutcome, RecountOutcomes } from './recount-outcome.ts';
import { PK, SK } from './table.ts';
import { tableCalls } from './table-calls.ts';

const TIMEOUT_MS = 3_000;
const RECOUNTED_AT = 'at';
const UNLISTED = 'ul';
const DRIFTING = 'dc';
const SUBJECT = 's';
const LIMIT = 'l';
const PERIOD = 'p';
const COMMITTED = 'c';
const RECOUNTED = 'r';

export interface DynamoRecountOutcomesOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

/** One item, which each recount replaces. */
export function dynamoRecountOutcomes(options: DynamoRecountOutcomesOptions): RecountOutcomes {
  const { client, tableName, instance } = options;
  const { pk, sk } = ledgerKeys(instance).recountOutcome;
  const key = { [PK]: { S: pk }, [SK]: { S: sk } };
  const answered = tableCalls(tableName, TIMEOUT_MS);
  return {
    async read() {
      const command = new GetItemCommand({ TableName: tableName, Key: key });
      const { Item } = await answered('read what the recount found', (abortSignal) =>
        client.send(command, { abortSignal }),
      );
      return Item && decode(Item);
    },
    async write(outcome) {
      const command = new PutItemCommand({
        TableName: tableName,
        Item: { ...key, ...versioned, ...encode(outcome) },
      });
      await answered('write what the recount found', (abortSignal) => client.send(command, { abortSignal }));
    },
  };
}

const encode = (outcome: RecountOutcome): Record<string, AttributeValue> => ({
  [RECOUNTED_AT]: { N: String(outcome.recountedAtMs) },
  [UNLISTED]: { N: String(outcome.unlisted) },
  [DRIFTING]: {
    L: outcome.drifting.map(({ key, committed, recounted }) => ({
      M: {
        [SUBJECT]: { S: key.subject },
        [LIMIT]: { S: key.limit },
        [PERIOD]: { S: key.period },
        [COMMITTED]: { N: String(committed) },
        [RECOUNTED]: { N: String(recounted) },
      },
    })),
  },
});

const decode = (item: Readonly<Record<string, AttributeValue>>): RecountOutcome => ({
  recountedAtMs: Number(item[RECOUNTED_AT]?.N ?? 0),
  unlisted: Number(item[UNLISTED]?.N ?? 0),
  drifting: (item[DRIFTING]?.L ?? []).map(
    ({ M = {} }): DriftingCounter => ({
      key: { subject: M[SUBJECT]?.S ?? '', limit: M[LIMIT]?.S ?? '', period: M[PERIOD]?.S ?? '' },
      committed: Number(M[COMMITTED]?.N ?? 0),
      recounted: Number(M[RECOUNTED]?.N ?? 0),
    }),
  ),
});
