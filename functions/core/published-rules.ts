/** Published rules in the table: versions under the hash of their content, and one pointer to the version in force. */
import { createHash } from 'node:crypto';
import type { ZoneTable } from '../../policies/limits/calendar.ts';
import type { VersionedDocument } from './contract/admissions.ts';
import { packJson, unpackJson } from './limits/limit-table.ts';
import { getItem, itemAt, putOf, queryAll, transactItems } from './store/calls.ts';
import { ledgerKeys } from './store/keys.ts';
import { absent, compare, type InstanceTable, type Item, SK, TimeLimit } from './store/operation.ts';
import { answered, unavailable } from './store/table-failure.ts';

export interface RulesFile extends Readonly<Record<'policy' | 'limits', VersionedDocument>> {
  readonly directory?: unknown;
  /** The clocks of every zone that the documents name. @default they are looked up when they are needed */
  readonly zones?: Readonly<Record<string, ZoneTable>>;
}

export interface RulesPointer {
  readonly hash: string;
  readonly author: string;
  readonly atMs: number;
}

/** DynamoDB allows 400 KB, and rules with a directory of 20 000 groups have half of it. */
const BYTES = 'b';
const HASH = 'ha';
const AUTHOR = 'au';
const AT = 'at';

/** Publishers wait longer than programs. */
const TIMEOUT_MS = 5_000;

export const hashRules = (rules: RulesFile): string =>
  createHash('sha256').update(JSON.stringify(rules)).digest('hex');

export const shortHash = (hash: string): string => hash.slice(0, 12);

/** Each call throws {LedgerError} `ledger_unavailable`. */
export function dynamoPublishedRules({ table, instance }: InstanceTable, timeoutMs = TIMEOUT_MS) {
  const keys = ledgerKeys(instance);
  const called = <T>(doing: string, call: (limit: TimeLimit) => Promise<T>): Promise<T> =>
    answered(`${doing} the rules`, unavailable(table), () => call(new TimeLimit(timeoutMs)));
  return {
    /** Undefined: no rules were published yet. */
    pointer: async () => pointerIn(await called('read', (limit) => getItem(table, keys.rulesPointer, limit))),
    /** @throws {Error} also for a version that is missing or has another content than its hash */
    async read(hash: string): Promise<RulesFile> {
      const item = await called('read', (limit) => getItem(table, keys.rulesVersion(hash), limit));
      const what = `version ${shortHash(hash)} of the rules`;
      const rules = unpackJson(item?.[BYTES]?.B ?? new Uint8Array(), what) as RulesFile;
      if (hashRules(rules) !== hash) throw new Error(`${what} has another content than its hash`);
      return rules;
    },
    /** Every version with its last publisher, newest first. */
    async list(): Promise<readonly RulesPointer[]> {
      const { pk, sk } = keys.rulesVersion('');
      const ask = { pk, sk: { begins: sk }, attributes: [SK, HASH, AUTHOR, AT], consistent: true };
      const items = await called('list', (limit) => queryAll(table, ask, limit));
      return items.flatMap((item) => pointerIn(item) ?? []).sort((a, b) => b.atMs - a.atMs);
    },
    /** Stores a version, and makes it the one in force unless that is not `base` any more. Then it returns false. */
    async publish(
      rules: RulesFile,
      { author, atMs }: Omit<RulesPointer, 'hash'>,
      base: RulesPointer | undefined,
    ): Promise<boolean> {
      const hash = hashRules(rules);
      const pointer = { [HASH]: { S: hash }, [AUTHOR]: { S: author }, [AT]: { N: String(atMs) } };
      const isBase = base === undefined ? absent() : compare(HASH, '=', { S: base.hash });
      const writes = [
        putOf(itemAt(keys.rulesVersion(hash), { ...pointer, [BYTES]: { B: packJson(rules) } })),
        putOf(itemAt(keys.rulesPointer, pointer), isBase),
      ];
      const { outcome } = await called('publish', (limit) => transactItems(table, writes, limit));
      return outcome === 'written';
    },
  };
}

const pointerIn = (item: Item | undefined): RulesPointer | undefined =>
  item && { hash: item[HASH]?.S ?? '', author: item[AUTHOR]?.S ?? '', atMs: Number(item[AT]?.N) };
