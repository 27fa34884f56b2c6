import type { LimitTable } from './limit-table.ts';

/** Bytes between two requests of one user, who alone gets them back: a file that is previewed, a count that goes on. */
export interface Uploads {
  /** @returns its name, for {@link Uploads.read}. @throws {LimitsError} */
  keep(userId: number, bytes: Uint8Array): Promise<string>;
  /** Undefined: nothing has that name, or it is gone. @throws {LimitsError} */
  read(userId: number, name: string): Promise<Uint8Array | undefined>;
}

interface UploadsDeps {
  readonly table: Pick<LimitTable, 'putChunk' | 'readChunks' | 'retire'>;
  readonly clock: { nowMs(): number };
  /** Letters and digits, at most 32. */
  readonly newId: () => string;
}

/** Long enough to look at a diff, and no longer: it is a copy of what finance has. */
const KEPT_SECONDS = 3_600;
const WITHIN_MS = 5_000;
const CHUNK = 'file';
const NAME = /^[0-9A-Za-z]{1,32}$/;

/** Stored next to the limit sets, as a set that never becomes live and is gone soon. */
export function createUploads({ table, clock, newId }: UploadsDeps): Uploads {
  const within = { timeoutMs: WITHIN_MS };
  const setOf = (userId: number, name: string): string => `upload-${userId}-${name}`;
  return {
    async keep(userId, bytes) {
      const name = newId();
      const set = setOf(userId, name);
      await table.putChunk(set, { name: CHUNK, bytes }, within);
      await table.retire(set, Math.floor(clock.nowMs() / 1_000) + KEPT_SECONDS, within);
      return name;
    },
    async read(userId, name) {
      if (!NAME.test(name)) return undefined;
      const [bytes] = await table.readChunks(setOf(userId, name), [CHUNK], within);
      return bytes;
    },
  };
}
