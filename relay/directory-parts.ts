/** The directory as a service hands it out: parts with hashes, read with care and put together. */
import { DIRECTORY_NAMES_MAX, type DirectoryRow } from '../functions/core/contract/admissions.ts';
import { type Directory, type DirectoryGroup, directoryOf } from '../policies/place/directory.ts';

export interface HandedOut {
  /** When all groups were last listed: so long ago, ms. */
  readonly ageMs: number;
  readonly hashes: ReadonlyMap<string, string>;
  readonly changed: ReadonlyMap<string, readonly DirectoryRow[]>;
}

export interface Part {
  readonly hash: string;
  readonly rows: readonly DirectoryRow[];
}

const PATH_CHARACTERS_MAX = 4_096;
const VISIBILITIES = [undefined, 'private', 'internal', 'public'] as const;

/** Reads a `DirectoryResponse`. `not_live`: there is no directory yet; undefined: it is not of the contract. */
export function parseHandedOut(body: unknown): HandedOut | 'not_live' | undefined {
  if (!isObject(body)) return undefined;
  if (body.live === false) return 'not_live';
  const { live, ageMs, parts, changed } = body;
  if (live !== true || !isObject(parts) || !isObject(changed)) return undefined;
  if (typeof ageMs !== 'number' || !Number.isFinite(ageMs) || ageMs < 0) return undefined;
  const hashes = new Map<string, string>();
  for (const [name, hash] of Object.entries(parts)) {
    if (typeof hash !== 'string' || hash === '') return undefined;
    hashes.set(name, hash);
  }
  if (hashes.size > DIRECTORY_NAMES_MAX) return undefined;
  const rows = new Map<string, readonly DirectoryRow[]>();
  for (const [name, some] of Object.entries(changed)) {
    if (!hashes.has(name) || !Array.isArray(some) || !some.every(isRow)) return undefined;
    rows.set(name, some);
  }
  return { ageMs, hashes, changed: rows };
}

/** If two groups have one path, it goes to the one that the last listing had, then to the younger one. */
export function assembled(parts: Iterable<Part>): Directory {
  const rows = [...parts].flatMap((part) => part.rows);
  rows.sort((a, b) => b[5] - a[5] || a[0] - b[0]);
  return directoryOf(rows.map(groupOf));
}

const groupOf = ([id, parentId, path, code, personal]: DirectoryRow): DirectoryGroup => {
  const visibility = VISIBILITIES[code];
  return {
    id,
    path,
    personal: personal === 1,
    ...(parentId > 0 && { parentId }),
    ...(visibility !== undefined && { visibility }),
  };
};

const isRow = (value: unknown): value is DirectoryRow =>
  Array.isArray(value) &&
  value.length === 6 &&
  value.every((cell, index) =>
    index === 2
      ? typeof cell === 'string' && cell !== '' && cell.length <= PATH_CHARACTERS_MAX
      : Number.isSafeInteger(cell) && cell >= 0,
  );

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
