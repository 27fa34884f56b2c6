import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ledgerKeys } from '../store/keys.ts';
import { singleItem } from '../store/single-item.ts';
import type { DriftingCounter, RecountOutcome, RecountOutcomes } from './recount-outcome.ts';

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
  const key = ledgerKeys(instance).recountOutcome;
  const item = singleItem({ client, tableName, key, name: 'what the recount found', consistent: false });
  return {
    async read() {
      const found = await item.read();
      return found && decode(found);
    },
    write: (outcome) => item.write(encode(outcome)),
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
