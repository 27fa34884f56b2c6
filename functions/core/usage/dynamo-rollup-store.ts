/** The rollup in the ledger's table. Lost races and throttles are values; everything else is `ledger_unavailable`. */
import {
  ConditionalCheckFailedException,
  PutItemCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type Update,
} from '@aws-sdk/client-dynamodb';
import {
  decodeEstimates,
  ESTIMATES_REV,
  encodeEstimates,
  type StoredEstimates,
} from '../estimates/estimates-item.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { type BatchGetDeps, batchGet } from '../store/batch-get.ts';
import type { Item } from '../store/item-bytes.ts';
import { SET_VERSION, VERSION_VALUE } from '../store/item-version.ts';
import type { Key } from '../store/keys.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import {
  CONTRIBUTION_REV,
  decodeContribution,
  decodeRejections,
  decodeTally,
  decodeTop,
  encodeContribution,
  encodeRejections,
  encodeTop,
  REJECTIONS_REV,
  type RollupKeys,
  rollupKeys,
  TOP_REV,
  usageExpiresAtSeconds,
} from './rollup-item.ts';
import type { LatestRejections, RollupStore, RollupWrites, TopProjects } from './rollup-store.ts';
import type { Tally } from './tally.ts';
import type { UsageKey } from './usage.ts';

/** Nobody waits for the rollup; a stream's batch has minutes. */
const READ_TIMEOUT_MS = 3_000;
const WRITE_TIMEOUT_MS = 3_000;

/** The whole transaction may be tried again: somebody else holds an item, or the table is busy. */
const CONTENDED: ReadonlySet<string> = new Set([
  'ConditionalCheckFailed',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'TransactionConflictException',
  'TransactionInProgressException',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
]);

export class DynamoRollupStore implements RollupStore {
  readonly #deps: BatchGetDeps;
  readonly #keys: RollupKeys;

  constructor(options: BatchGetDeps & { readonly instance: string }) {
    this.#deps = options;
    this.#keys = rollupKeys(options.instance);
  }

  async readContributions(jobIds: readonly number[]) {
    const items = await this.#read(jobIds.map((jobId) => this.#keys.contribution(jobId)));
    return jobIds.map((jobId, index) => {
      const item = items[index];
      return item && decodeContribution(jobId, item);
    });
  }

  async commit({ contributions, usage }: RollupWrites): Promise<'committed' | 'contended'> {
    const TransactItems: TransactWriteItem[] = [
      ...contributions.map(({ after, replacesRev, expiresAtSeconds }) => {
        const item = encodeContribution(this.#keys.contribution(after.jobId), after, expiresAtSeconds);
        return {
          Put: { TableName: this.#deps.tableName, Item: item, ...atRev(CONTRIBUTION_REV, replacesRev) },
        };
      }),
      ...usage.map(({ key, delta }) => ({ Update: this.#addUsage(key, delta) })),
    ];
    try {
      const abortSignal = AbortSignal.timeout(WRITE_TIMEOUT_MS);
      await this.#deps.client.send(new TransactWriteItemsCommand({ TransactItems }), { abortSignal });
      return 'committed';
    } catch (error) {
      if (isContended(error)) return 'contended';
      throw this.#unavailable(`write ${TransactItems.length} items to`, error);
    }
  }

  async readUsage(keys: readonly UsageKey[]): Promise<readonly Tally[]> {
    return (await this.#read(keys.map((key) => this.#keys.usage(key)))).map(decodeTally);
  }

  async readEstimates(projectIds: readonly number[]): Promise<readonly StoredEstimates[]> {
    const items = await this.#read(projectIds.map((projectId) => this.#keys.estimates(projectId)));
    return items.map((item) => decodeEstimates(item ?? {}));
  }

  writeEstimates(projectId: number, { history, rev }: StoredEstimates, nowMs: number): Promise<boolean> {
    const item = encodeEstimates(this.#keys.estimates(projectId), { history, rev: rev + 1 }, nowMs);
    return this.#put(item, ESTIMATES_REV, rev);
  }

  async readTop(keys: readonly UsageKey[]): Promise<readonly TopProjects[]> {
    const items = await this.#read(keys.map((key) => this.#keys.top(key)));
    return keys.map((key, index) => decodeTop(key, items[index]));
  }

  writeTop(top: TopProjects): Promise<boolean> {
    return this.#put(encodeTop(this.#keys.top(top.key), { ...top, rev: top.rev + 1 }), TOP_REV, top.rev);
  }

  async readRejections(subjects: readonly string[]): Promise<readonly LatestRejections[]> {
    const items = await this.#read(subjects.map((subject) => this.#keys.rejections(subject)));
    return subjects.map((subject, index) => decodeRejections(subject, items[index]));
  }

  writeRejections(latest: LatestRejections): Promise<boolean> {
    const item = encodeRejections(this.#keys.rejections(latest.subject), { ...latest, rev: latest.rev + 1 });
    return this.#put(item, REJECTIONS_REV, latest.rev);
  }

  #addUsage(usageKey: UsageKey, delta: Tally): Update {
    const { pk, sk } = this.#keys.usage(usageKey);
    // Rules are called anything, so every name stands for itself.
    const names = [...delta.keys()];
    return {
      TableName: this.#deps.tableName,
      Key: { [PK]: { S: pk }, [SK]: { S: sk } },
      UpdateExpression: `${SET_VERSION}, #ttl = :ttl ADD ${names.map((_, index) => `#n${index} :n${index}`).join(', ')}`,
      ExpressionAttributeNames: {
        '#ttl': TTL_ATTRIBUTE,
        ...Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
      },
      ExpressionAttributeValues: {
        ...VERSION_VALUE,
        ':ttl': { N: String(usageExpiresAtSeconds(usageKey)) },
        ...Object.fromEntries(
          names.map((name, index) => [`:n${index}`, { N: String(delta.get(name) ?? 0) }]),
        ),
      },
    };
  }

  async #put(item: Item, revName: string, rev: number): Promise<boolean> {
    const condition = atRev(revName, rev === 0 ? undefined : rev);
    const command = new PutItemCommand({ TableName: this.#deps.tableName, Item: item, ...condition });
    try {
      await this.#deps.client.send(command, { abortSignal: AbortSignal.timeout(WRITE_TIMEOUT_MS) });
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException || isContended(error)) return false;
      throw this.#unavailable('put an item into', error);
    }
  }

  async #read(keys: readonly Key[]): Promise<readonly (Item | undefined)[]> {
    try {
      return await batchGet(keys, READ_TIMEOUT_MS, this.#deps);
    } catch (error) {
      throw this.#unavailable(`read ${keys.length} items of`, error);
    }
  }

  #unavailable(doing: string, cause: unknown): LedgerError {
    // The client's own errors carry the whole request, its signature included: only their name and text go on.
    const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    return new LedgerError('ledger_unavailable', `could not ${doing} table ${this.#deps.tableName} (${why})`);
  }
}

const atRev = (name: string, rev: number | undefined) =>
  rev === undefined
    ? { ConditionExpression: `attribute_not_exists(${PK})` }
    : { ConditionExpression: `${name} = :rev`, ExpressionAttributeValues: { ':rev': { N: String(rev) } } };

function isContended(error: unknown): boolean {
  if (error instanceof TransactionCanceledException) {
    const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
    return (
      codes.some((code) => CONTENDED.has(code)) &&
      codes.every((code) => code === 'None' || CONTENDED.has(code))
    );
  }
  return error instanceof Error && CONTENDED.has(error.name);
}
