/** The rollup in the ledger's table. Lost races and throttles are values; everything else is `ledger_unavailable`. */
import { decodeEstimates, ESTIMATES_REV, encodeEstimates, type StoredEstimates } from '../estimates/index.ts';
import type { Consistency } from '../ledger/index.ts';
import {
  absent,
  answered,
  atRev,
  type BatchGetDeps,
  batchGet,
  type InstanceTable,
  type Item,
  isConflict,
  isThrottle,
  type Key,
  LedgerError,
  numberIs,
  putItem,
  putOf,
  TimeLimit,
  TTL_ATTRIBUTE,
  transactItems,
  type UpdateWrite,
  versioned,
} from '../store/index.ts';
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
import type { UsageTally } from './tally.ts';
import type { UsageKey } from './usage.ts';

/** The rollup runs in the background; a batch has minutes. */
const READ_TIMEOUT_MS = 3_000;
const WRITE_TIMEOUT_MS = 3_000;

export class DynamoRollupStore implements RollupStore {
  readonly #deps: BatchGetDeps & InstanceTable;
  readonly #keys: RollupKeys;

  constructor(options: BatchGetDeps & InstanceTable) {
    this.#deps = options;
    this.#keys = rollupKeys(options.instance);
  }

  async readContributions(jobIds: readonly number[], consistency?: Consistency) {
    const items = await this.#read(
      jobIds.map((jobId) => this.#keys.contribution(jobId)),
      consistency,
    );
    return jobIds.map((jobId, index) => {
      const item = items[index];
      return item && decodeContribution(jobId, item);
    });
  }

  /** `contended`: retry the whole; another write was concurrent, or the table is busy. */
  async commit({ contributions, usage }: RollupWrites): Promise<'committed' | 'contended'> {
    const writes = [
      ...contributions.map(({ after, replacesRev, expiresAtSeconds }) =>
        putOf(
          encodeContribution(this.#keys.contribution(after.jobId), after, expiresAtSeconds),
          replacesRev === undefined ? absent() : numberIs(CONTRIBUTION_REV, '=', replacesRev),
        ),
      ),
      ...usage.map(({ key, delta }) => this.#addUsage(key, delta)),
    ];
    const { outcome } = await this.#answered(`write ${writes.length} items to`, () =>
      transactItems(this.#deps.table, writes, new TimeLimit(WRITE_TIMEOUT_MS)),
    );
    return outcome === 'written' ? 'committed' : 'contended';
  }

  async readUsage(keys: readonly UsageKey[]): Promise<readonly UsageTally[]> {
    return (await this.#read(keys.map((key) => this.#keys.usage(key)))).map(decodeTally);
  }

  async readEstimates(
    projectIds: readonly number[],
    consistency?: Consistency,
  ): Promise<readonly StoredEstimates[]> {
    const items = await this.#read(
      projectIds.map((projectId) => this.#keys.estimates(projectId)),
      consistency,
    );
    return items.map((item) => decodeEstimates(item ?? {}));
  }

  writeEstimates(projectId: number, { history, rev }: StoredEstimates, nowMs: number): Promise<boolean> {
    const item = encodeEstimates(this.#keys.estimates(projectId), { history, rev: rev + 1 }, nowMs);
    return this.#put(item, ESTIMATES_REV, rev);
  }

  async readTop(keys: readonly UsageKey[], consistency?: Consistency): Promise<readonly TopProjects[]> {
    const items = await this.#read(
      keys.map((key) => this.#keys.top(key)),
      consistency,
    );
    return keys.map((key, index) => decodeTop(key, items[index]));
  }

  writeTop(top: TopProjects): Promise<boolean> {
    return this.#put(encodeTop(this.#keys.top(top.key), { ...top, rev: top.rev + 1 }), TOP_REV, top.rev);
  }

  async readRejections(
    subjects: readonly string[],
    consistency?: Consistency,
  ): Promise<readonly LatestRejections[]> {
    const items = await this.#read(
      subjects.map((subject) => this.#keys.rejections(subject)),
      consistency,
    );
    return subjects.map((subject, index) => decodeRejections(subject, items[index]));
  }

  writeRejections(latest: LatestRejections): Promise<boolean> {
    const item = encodeRejections(this.#keys.rejections(latest.subject), { ...latest, rev: latest.rev + 1 });
    return this.#put(item, REJECTIONS_REV, latest.rev);
  }

  #addUsage(usageKey: UsageKey, delta: UsageTally): UpdateWrite {
    return {
      kind: 'update',
      key: this.#keys.usage(usageKey),
      setIfAbsent: versioned,
      set: { [TTL_ATTRIBUTE]: { N: String(usageExpiresAtSeconds(usageKey)) } },
      add: Object.fromEntries(delta),
    };
  }

  #put(item: Item, revName: string, rev: number): Promise<boolean> {
    return this.#answered('put an item into', async () => {
      const limit = new TimeLimit(WRITE_TIMEOUT_MS);
      try {
        const { outcome } = await putItem(this.#deps.table, item, limit, atRev(revName, rev));
        return outcome === 'written';
      } catch (error) {
        if (isConflict(error) || isThrottle(error)) return false;
        throw error;
      }
    });
  }

  #read(
    keys: readonly Key[],
    consistency: Consistency = 'consistent',
  ): Promise<readonly (Item | undefined)[]> {
    return this.#answered(`read ${keys.length} items of`, () =>
      batchGet(keys, READ_TIMEOUT_MS, this.#deps, { consistent: consistency === 'consistent' }),
    );
  }

  #answered<T>(doing: string, call: () => Promise<T>): Promise<T> {
    return answered(
      doing,
      (what, why) =>
        new LedgerError(
          'ledger_unavailable',
          `could not ${what} table ${this.#deps.table.tableName} (${why})`,
        ),
      call,
    );
  }
}
