import { type AttributeValue, type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { singleItem } from '../core/store/single-item.ts';
import { tableCalls } from '../core/store/table-calls.ts';
import { HEARTBEAT_AT, HEARTBEAT_PK_SUFFIX, PK, WATCHDOG_PK_SUFFIX } from '../names.ts';
import type { WatchdogMark, WatchTable } from './watch-table.ts';

const TIMEOUT_MS = 3_000;
const HEARD = 'he';
const DISARMED = 'di';
const PAGED = 'pg';

export interface DynamoWatchTableOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

type Item = Readonly<Record<string, AttributeValue>>;

/** Heartbeats and the watchdog's mark, beside the ledger. */
export function dynamoWatchTable({ client, tableName, instance }: DynamoWatchTableOptions): WatchTable {
  const mark = singleItem({
    ...{ client, tableName, consistent: true },
    key: { pk: `${instance}${WATCHDOG_PK_SUFFIX}`, sk: 'mark' },
    name: "the watchdog's mark",
  });
  const answered = tableCalls(tableName, TIMEOUT_MS);
  return {
    async newestBeatMs() {
      // One page holds the beats of some ten thousand relays; those of the last hour are kept.
      const command = new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: { '#pk': PK, '#at': HEARTBEAT_AT },
        ExpressionAttributeValues: { ':pk': { S: `${instance}${HEARTBEAT_PK_SUFFIX}` } },
        ProjectionExpression: '#at',
        ConsistentRead: true,
      });
      const { Items = [] } = await answered('read the heartbeats', (abortSignal) =>
        client.send(command, { abortSignal }),
      );
      const beats = Items.flatMap((item) => numberIn(item, HEARTBEAT_AT) ?? []);
      return beats.length === 0 ? undefined : Math.max(...beats);
    },
    async readMark() {
      const found = await mark.read();
      return found && markOf(found);
    },
    writeMark: (written) => mark.write(itemOf(written)),
  };
}

const itemOf = ({ heardAtMs, disarmedForMs, pagedAtMs }: WatchdogMark): Record<string, AttributeValue> => ({
  [HEARD]: { N: String(heardAtMs) },
  ...(disarmedForMs !== undefined && { [DISARMED]: { N: String(disarmedForMs) } }),
  ...(pagedAtMs !== undefined && { [PAGED]: { N: String(pagedAtMs) } }),
});

function markOf(item: Item): WatchdogMark | undefined {
  const heardAtMs = numberIn(item, HEARD);
  const disarmedForMs = numberIn(item, DISARMED);
  const pagedAtMs = numberIn(item, PAGED);
  if (heardAtMs === undefined) return undefined;
  return {
    heardAtMs,
    ...(disarmedForMs !== undefined && { disarmedForMs }),
    ...(pagedAtMs !== undefined && { pagedAtMs }),
  };
}

function numberIn(item: Item, attribute: string): number | undefined {
  const value = Number(item[attribute]?.N ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}
