import { createHmac } from 'node:crypto';

/** Characters of base64: 72 bits, so that two users of one GitLab never meet. */
const LENGTH = 12;

/**
 * Stands for a user's id: the same for every job of a user under one key, and nobody tells whose it is without the key.
 * `user/~Jk3…` is therefore no user's subject.
 */
export const pseudonymOf = (key: Uint8Array, userId: number): string =>
  `~${createHmac('sha256', key).update(`user/${userId}`).digest('base64url').slice(0, LENGTH)}`;

/**
 * One random key per calendar year (UTC) in which jobs were decided. A user's jobs of a year add up; those of two years
 * cannot be linked. A key goes when the records of its year are gone, and what is left of the pseudonyms is nobody's.
 */
export interface PseudonymKeys {
  /** The year's key, made when it is first asked for. @throws {LedgerError} `ledger_unavailable` */
  keyOf(year: number): Promise<Uint8Array>;
  /** Undefined: no pseudonym of this year was ever made. @throws {LedgerError} `ledger_unavailable` */
  find(year: number): Promise<Uint8Array | undefined>;
}

export const yearOf = (atMs: number): number => new Date(atMs).getUTCFullYear();
