/** One call to the table of limits: its time is bounded, and what went wrong is said in our words. */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  type PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { LedgerClock } from '../ledger/ledger.ts';
import { type Key, type LedgerKeys, ledgerKeys } from '../store/keys.ts';
import { PK, SK } from '../store/table.ts';
import type { ReadOptions } from './limit-table.ts';
import { LimitsError } from './limits-error.ts';

export interface DynamoLimitTableOptions {
  /** Must have `maxAttempts: 1`, as `dynamoClient` makes it. */
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
  readonly clock: LedgerClock;
  readonly random: () => number;
}

export type Item = Readonly<Record<string, AttributeValue>>;

export class DynamoLimitCalls {
  readonly options: DynamoLimitTableOptions;
  readonly keys: LedgerKeys;

  constructor(options: DynamoLimitTableOptions) {
    this.options = options;
    this.keys = ledgerKeys(options.instance);
  }

  /** @throws {LimitsError} `limits_unavailable`, whatever went wrong. */
  async answered<T>(
    doing: string,
    { timeoutMs }: ReadOptions,
    call: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    try {
      return await call(AbortSignal.timeout(Math.ceil(timeoutMs)));
    } catch (error) {
      // The client's own errors carry the whole request, its signature included: only their name and text go on.
      const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      const { tableName } = this.options;
      throw new LimitsError('limits_unavailable', `could not ${doing} the limits in ${tableName} (${why})`);
    }
  }

  /** What stands in the way; undefined: it is written. */
  putUnless(
    command: PutItemCommand,
    doing: string,
    options: ReadOptions,
  ): Promise<{ readonly item: Item | undefined } | undefined> {
    return this.answered(doing, options, async (abortSignal) => {
      try {
        await this.options.client.send(command, { abortSignal });
        return undefined;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return { item: error.Item };
        throw error;
      }
    });
  }
}

export const keyItem = ({ pk, sk }: Key): Record<string, AttributeValue> => ({
  [PK]: { S: pk },
  [SK]: { S: sk },
});
