import { createHash, createHmac } from 'node:crypto';

/** So many random bytes. */
export type RandomBytes = (count: number) => Uint8Array;

const ID_BYTES = 32;

/** 256 random bits, as 43 characters. */
export const newId = (random: RandomBytes): string => Buffer.from(random(ID_BYTES)).toString('base64url');

/** The stored hash of an id: 256 random bits need neither salt nor many rounds. */
export const secretHashOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('.')).digest('base64url');

/** Follows from the session's id, which only the browser has, so it is kept nowhere. */
export const csrfTokenOf = (sessionId: string): string =>
  createHmac('sha256', sessionId).update('csrf').digest('base64url');
