import { createHmac, randomBytes } from 'node:crypto';
import {
  absent,
  answered,
  getItem,
  type InstanceTable,
  itemAt,
  ledgerKeys,
  putItem,
  TimeLimit,
  TTL_ATTRIBUTE,
  unavailable,
} from '../store/index.ts';

/** Characters of base64: 72 bits, so that two users of one GitLab never meet. */
const LENGTH = 12;

/**
 * Returns a pseudonym of a user id: equal for all jobs of a user under one key, and irreversible without the
 * key. `user/~Jk3…` is therefore not a user's subject.
 */
export const pseudonymOf = (key: Uint8Array, userId: number): string =>
  `~${createHmac('sha256', key).update(`user/${userId}`).digest('base64url').slice(0, LENGTH)}`;

/**
 * One random key per calendar year (UTC). Jobs of a user add up within a year; two years cannot be linked. A
 * key is deleted with the records of its year; then pseudonyms cannot be resolved.
 */
export interface PseudonymKeys {
  /** The year's key, made when it is first asked for. @throws {LedgerError} `ledger_unavailable` */
  keyOf(year: number): Promise<Uint8Array>;
  /** Undefined: no pseudonym of this year was ever made. @throws {LedgerError} `ledger_unavailable` */
  find(year: number): Promise<Uint8Array | undefined>;
}

export const yearOf = (atMs: number): number => new Date(atMs).getUTCFullYear();

const TIMEOUT_MS = 5_000;
const KEY_BYTES = 32;
const KEY = 'k';
/** The longest job, the longest year and 90 days: by then the last record of the year is gone. */
const KEPT_DAYS = 35 + 367 + 90;
const DAY_SECONDS = 86_400;

/** One item per year, which only the recount and operators may read. */
export function dynamoPseudonymKeys({ table, instance }: InstanceTable): PseudonymKeys {
  const keys = ledgerKeys(instance);
  const failure = unavailable(table);
  const known = new Map<number, Uint8Array>();

  async function find(year: number): Promise<Uint8Array | undefined> {
    const cached = known.get(year);
    if (cached !== undefined) return cached;
    const item = await answered('read a key of pseudonyms', failure, () =>
      getItem(table, keys.pseudonymKey(year), new TimeLimit(TIMEOUT_MS)),
    );
    const key = item?.[KEY]?.B;
    if (key !== undefined) known.set(year, key);
    return key;
  }

  /** Keeps a key that another process made first. */
  async function make(year: number): Promise<void> {
    const expiresAtSeconds = Date.UTC(year + 1, 0, 1) / 1000 + KEPT_DAYS * DAY_SECONDS;
    const item = itemAt(keys.pseudonymKey(year), {
      [KEY]: { B: randomBytes(KEY_BYTES) },
      [TTL_ATTRIBUTE]: { N: String(expiresAtSeconds) },
    });
    await answered('make a key of pseudonyms', failure, () =>
      putItem(table, item, new TimeLimit(TIMEOUT_MS), absent()),
    );
  }

  return {
    find,
    async keyOf(year) {
      const there = await find(year);
      if (there !== undefined) return there;
      await make(year);
      return (await find(year)) ?? Promise.reject(new Error(`the key of ${year} was made and is not there`));
    },
  };
}
