/** The directory in the ledger's table, under keys that no scan of the books yields. */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { joined, PARTS, partsOf } from '../limits/chunk-parts.ts';
import { LimitsError } from '../limits/limits-error.ts';
import { versioned } from '../store/item-version.ts';
import { type Key, type LedgerKeys, ledgerKeys } from '../store/keys.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import { DirectoryError } from './directory-error.ts';
import {
  type ChunkAddress,
  type DirectoryPointer,
  type DirectoryTable,
  type ReadOptions,
  WISH_AGAIN_MS,
  WISH_TTL_MS,
  type Wish,
} from './directory-table.ts';

export interface DynamoDirectoryTableOptions {
  /** Must have `maxAttempts: 1`, as `dynamoClient` makes it. */
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** The GitLab host, e.g. `gitlab.example.com`. */
  readonly instance: string;
}

type Item = Readonly<Record<string, AttributeValue>>;

/** Set once a wish was granted, so that it no longer is one but still keeps the same one away. */
const GRANTED = 'gr';
const AT = 'at';
/** What was granted lies among the others until its TTL takes it away: so far is looked for open ones. */
const WISH_PAGES_MAX = 10;
const WISHES_PER_PAGE = 500;

export class DynamoDirectoryTable implements DirectoryTable {
  readonly #options: DynamoDirectoryTableOptions;
  readonly #keys: LedgerKeys;

  constructor(options: DynamoDirectoryTableOptions) {
    this.#options = options;
    this.#keys = ledgerKeys(options.instance);
  }

  async getPointer(options: ReadOptions): Promise<DirectoryPointer | undefined> {
    const { client, tableName } = this.#options;
    const command = new GetItemCommand({
      TableName: tableName,
      Key: keyItem(this.#keys.directoryPointer),
      ConsistentRead: true,
    });
    const { Item } = await this.#answered('read the pointer of', options, (abortSignal) =>
      client.send(command, { abortSignal }),
    );
    return Item && pointerOf(Item);
  }

  async putChunk({ version, name }: ChunkAddress, bytes: Uint8Array, options: ReadOptions): Promise<void> {
    const { client, tableName } = this.#options;
    await this.#answered('write a chunk to', options, async (abortSignal) => {
      for (const [part, attributes] of partsOf(name, bytes).entries()) {
        const key = keyItem(this.#keys.directoryChunk(version, name, part));
        const command = new PutItemCommand({
          TableName: tableName,
          Item: { ...key, ...versioned, ...attributes },
        });
        await client.send(command, { abortSignal });
      }
    });
  }

  readChunks(
    at: readonly ChunkAddress[],
    options: ReadOptions,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    return Promise.all(
      at.map((address) =>
        this.#answered('read a chunk of', options, async (abortSignal) =>
          joined(address.name, await this.#parts(address, abortSignal)),
        ),
      ),
    );
  }

  async expireChunk(at: ChunkAddress, atMs: number, options: ReadOptions): Promise<void> {
    const { client, tableName } = this.#options;
    await this.#answered('expire a chunk of', options, async (abortSignal) => {
      const parts = await this.#parts(at, abortSignal);
      for (const part of parts.keys()) {
        const command = new UpdateItemCommand({
          TableName: tableName,
          Key: keyItem(this.#keys.directoryChunk(at.version, at.name, part)),
          // What the service has taken meanwhile must not come back as an empty item.
          ConditionExpression: `attribute_exists(${PK})`,
          UpdateExpression: 'SET #ttl = :at',
          ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE },
          ExpressionAttributeValues: { ':at': { N: String(Math.ceil(atMs / 1000)) } },
        });
        await client.send(command, { abortSignal }).catch(unlessGone);
      }
    });
  }

  /** The first says how many there are; nearly always it is the only one. */
  async #parts(at: ChunkAddress, abortSignal: AbortSignal): Promise<readonly Item[]> {
    const first = await this.#part(at, 0, abortSignal);
    if (first === undefined) return [];
    const count = Number(first[PARTS]?.N);
    const numbers = Array.from({ length: count - 1 }, (_, index) => index + 1);
    const others = await Promise.all(numbers.map((part) => this.#part(at, part, abortSignal)));
    return [first, ...others.filter((part) => part !== undefined)];
  }

  async #part(
    { version, name }: ChunkAddress,
    part: number,
    abortSignal: AbortSignal,
  ): Promise<Item | undefined> {
    const command = new GetItemCommand({
      TableName: this.#options.tableName,
      Key: keyItem(this.#keys.directoryChunk(version, name, part)),
      ConsistentRead: true,
    });
    return (await this.#options.client.send(command, { abortSignal })).Item;
  }

  async flip(to: DirectoryPointer, options: ReadOptions): Promise<'flipped' | 'stale'> {
    const command = new PutItemCommand({
      TableName: this.#options.tableName,
      Item: {
        ...keyItem(this.#keys.directoryPointer),
        ...versioned,
        ed: { N: String(to.edit) },
        ma: { S: to.manifest },
        pr: { S: to.progress },
        li: { BOOL: to.live },
        [AT]: { N: String(to.atMs) },
      },
      ...(to.edit === 1
        ? { ConditionExpression: `attribute_not_exists(${PK})` }
        : {
            ConditionExpression: 'ed = :base',
            ExpressionAttributeValues: { ':base': { N: String(to.edit - 1) } },
          }),
    });
    return (await this.#unless(command, 'flip the pointer of', options)) ? 'flipped' : 'stale';
  }

  async putWish(wish: Wish, atMs: number, options: ReadOptions): Promise<void> {
    const command = new PutItemCommand({
      TableName: this.#options.tableName,
      Item: {
        ...keyItem(this.#keys.directoryWish(nameOf(wish))),
        ...versioned,
        [AT]: { N: String(atMs) },
        [TTL_ATTRIBUTE]: { N: String(Math.ceil((atMs + WISH_TTL_MS) / 1000)) },
      },
      ConditionExpression: `attribute_not_exists(${PK}) OR #at <= :again`,
      ExpressionAttributeNames: { '#at': AT },
      ExpressionAttributeValues: { ':again': { N: String(atMs - WISH_AGAIN_MS) } },
    });
    await this.#unless(command, 'write a wish to', options);
  }

  readWishes(limit: number, options: ReadOptions): Promise<readonly Wish[]> {
    const { client, tableName } = this.#options;
    return this.#answered('read the wishes of', options, async (abortSignal) => {
      const wishes: Wish[] = [];
      let pagesLeft = WISH_PAGES_MAX;
      const pages = paginateQuery(
        { client, pageSize: WISHES_PER_PAGE },
        {
          TableName: tableName,
          KeyConditionExpression: `${PK} = :wishes`,
          FilterExpression: `attribute_not_exists(${GRANTED})`,
          ExpressionAttributeValues: { ':wishes': { S: this.#keys.directoryWish('').pk } },
        },
        { abortSignal },
      );
      for await (const { Items = [] } of pages) {
        wishes.push(...Items.flatMap((item) => wishOf(item[SK]?.S ?? '') ?? []));
        pagesLeft -= 1;
        if (wishes.length >= limit || pagesLeft === 0) break;
      }
      return wishes.slice(0, limit);
    });
  }

  async grantWish(wish: Wish, options: ReadOptions): Promise<void> {
    const command = new UpdateItemCommand({
      TableName: this.#options.tableName,
      Key: keyItem(this.#keys.directoryWish(nameOf(wish))),
      UpdateExpression: `SET ${GRANTED} = :granted`,
      ConditionExpression: `attribute_exists(${PK})`,
      ExpressionAttributeValues: { ':granted': { BOOL: true } },
    });
    await this.#unless(command, 'grant a wish in', options);
  }

  /** Whether its condition held. */
  #unless(
    command: PutItemCommand | UpdateItemCommand,
    doing: string,
    options: ReadOptions,
  ): Promise<boolean> {
    return this.#answered(doing, options, async (abortSignal) => {
      try {
        if (command instanceof PutItemCommand) await this.#options.client.send(command, { abortSignal });
        else await this.#options.client.send(command, { abortSignal });
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    });
  }

  async #answered<T>(
    doing: string,
    { timeoutMs }: ReadOptions,
    call: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { tableName } = this.#options;
    try {
      return await call(AbortSignal.timeout(Math.ceil(timeoutMs)));
    } catch (error) {
      // The client's own errors carry the whole request, its signature included: only their name and text go on.
      const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      const code =
        error instanceof LimitsError && !error.retryable ? 'directory_unreadable' : 'directory_unavailable';
      throw new DirectoryError(code, `could not ${doing} the directory in ${tableName} (${why})`);
    }
  }
}

const keyItem = ({ pk, sk }: Key): Record<string, AttributeValue> => ({ [PK]: { S: pk }, [SK]: { S: sk } });

function unlessGone(error: unknown): void {
  if (!(error instanceof ConditionalCheckFailedException)) throw error;
}

const nameOf = ({ kind, id }: Wish): string => `${kind}/${id}`;

function wishOf(name: string): Wish | undefined {
  const [kind, id] = name.split('/');
  if (kind !== 'group' && kind !== 'project') return undefined;
  return Number.isSafeInteger(Number(id)) ? { kind, id: Number(id) } : undefined;
}

const pointerOf = (item: Item): DirectoryPointer => ({
  edit: Number(item.ed?.N),
  manifest: item.ma?.S ?? '',
  progress: item.pr?.S ?? '',
  live: item.li?.BOOL ?? false,
  atMs: Number(item[AT]?.N),
});
