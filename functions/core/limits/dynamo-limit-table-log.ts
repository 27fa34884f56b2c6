/** What is told of limits beside the sets: the change log, and requests for more. Newest first. */
import { PutItemCommand, paginateQuery } from '@aws-sdk/client-dynamodb';
import { versioned } from '../store/item-version.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import { BYTES } from './chunk-parts.ts';
import { type DynamoLimitCalls, type Item, keyItem } from './dynamo-limit-table-calls.ts';
import type { LimitTable, LogItem, ReadOptions, RequestItem } from './limit-table.ts';

export class DynamoLimitLog implements Pick<LimitTable, 'readLog' | 'putRequest' | 'readRequests'> {
  readonly #calls: DynamoLimitCalls;

  constructor(calls: DynamoLimitCalls) {
    this.#calls = calls;
  }

  async readLog(before: number | undefined, max: number, options: ReadOptions): Promise<readonly LogItem[]> {
    const { pk, sk } = this.#calls.keys.limitLog(before ?? 0);
    const items = await this.#newest(pk, before === undefined ? undefined : sk, max, options);
    return items.map((item) => ({ edit: Number(item[SK]?.S), bytes: item[BYTES]?.B ?? new Uint8Array() }));
  }

  async putRequest(
    { id, rev, bytes, expiresAtSeconds }: RequestItem,
    options: ReadOptions,
  ): Promise<boolean> {
    const command = new PutItemCommand({
      TableName: this.#calls.options.tableName,
      Item: {
        ...keyItem(this.#calls.keys.limitRequest(id)),
        ...versioned,
        rv: { N: String(rev) },
        [BYTES]: { B: bytes },
        [TTL_ATTRIBUTE]: { N: String(expiresAtSeconds) },
      },
      ...(rev === 1
        ? { ConditionExpression: `attribute_not_exists(${PK})` }
        : {
            ConditionExpression: 'rv = :rev',
            ExpressionAttributeValues: { ':rev': { N: String(rev - 1) } },
          }),
    });
    return (await this.#calls.putUnless(command, 'write a request to', options)) === undefined;
  }

  async readRequests(max: number, options: ReadOptions): Promise<readonly RequestItem[]> {
    const items = await this.#newest(this.#calls.keys.limitRequest('').pk, undefined, max, options);
    return items.map((item) => ({
      id: item[SK]?.S ?? '',
      rev: Number(item.rv?.N),
      bytes: item[BYTES]?.B ?? new Uint8Array(),
      expiresAtSeconds: Number(item[TTL_ATTRIBUTE]?.N),
    }));
  }

  #newest(
    pk: string,
    before: string | undefined,
    max: number,
    options: ReadOptions,
  ): Promise<readonly Item[]> {
    return this.#calls.answered('read', options, async (abortSignal) => {
      const found: Item[] = [];
      const pages = paginateQuery(
        { client: this.#calls.options.client },
        {
          TableName: this.#calls.options.tableName,
          ConsistentRead: true,
          ScanIndexForward: false,
          Limit: max,
          KeyConditionExpression: before === undefined ? `${PK} = :pk` : `${PK} = :pk AND ${SK} < :before`,
          ExpressionAttributeValues: {
            ':pk': { S: pk },
            ...(before !== undefined && { ':before': { S: before } }),
          },
        },
        { abortSignal },
      );
      for await (const page of pages) {
        found.push(...(page.Items ?? []));
        if (found.length >= max) break;
      }
      return found.slice(0, max);
    });
  }
}
