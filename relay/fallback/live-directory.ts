import {
  DIRECTORY_PARTS_MAX,
  DIRECTORY_PARTS_PER_RESPONSE_MAX,
  DIRECTORY_PATH,
  type DirectoryRow,
} from '../../functions/core/contract/admissions.ts';
import { type Directory, type DirectoryGroup, indexDirectory } from '../../policies/directory.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { type AdmitService, callAdmit } from '../admit/admit-call.ts';
import type { RelayObserver } from '../events.ts';

/** The sync runs every five minutes, so a minute's delay does not matter. A refresh is one small call. */
const REFRESH_MS = 60_000;
const RETRY_MS = 15_000;
const TIMEOUT_MS = 10_000;
/** An hour covers an outage, and a listing of a large instance that takes several runs. Older parents may be wrong. */
export const DIRECTORY_AGE_MS_MAX = 60 * 60_000;
const ROUNDS_MAX = 2 * Math.ceil(DIRECTORY_PARTS_MAX / DIRECTORY_PARTS_PER_RESPONSE_MAX);

/** The groups of GitLab as the admit function knows them, for the time when it does not answer. */
export function createLiveDirectory(
  options: AdmitService & { readonly random: () => number; readonly observe: RelayObserver },
) {
  const { clock, observe } = options;
  let listedAtMs = clock.monotonicMs();
  let directory: Directory | undefined;
  let parts = new Map<string, HashedPart>();
  let isStale = true;
  let cancelNext = (): void => {};
  let stopped = false;

  const ageMs = (): number => Math.max(0, clock.monotonicMs() - listedAtMs);

  async function refresh(): Promise<void> {
    const problem = await fetchChanges();
    if (stopped) return;
    observe({ type: 'directory', ageMs: ageMs(), groups: directory?.groupById.size ?? 0, problem });
    const delayMs = problem === undefined ? REFRESH_MS : RETRY_MS;
    cancelNext = clock.after(delayMs * (0.9 + options.random() / 5), () => void refresh());
  }

  async function fetchChanges(): Promise<string | undefined> {
    for (let round = 0; round < ROUNDS_MAX && !stopped; round += 1) {
      const have = Object.fromEntries([...parts].map(([name, { hash }]) => [name, hash]));
      const answer = await callAdmit(options, DIRECTORY_PATH, JSON.stringify({ have }), TIMEOUT_MS);
      if (answer.kind !== 'answered') return answer.error.message;
      const received = parseParts(answer.body);
      if (received === undefined) return `${DIRECTORY_PATH} answered with what is not of its contract`;
      if (received === 'not_live') return 'the groups of GitLab have not been listed yet';
      keep(received);
      if (parts.size === received.hashes.size) {
        if (isStale) directory = assembled(parts.values());
        isStale = false;
        listedAtMs = clock.monotonicMs() - received.ageMs;
        return undefined;
      }
      if (received.changed.size === 0) return `${DIRECTORY_PATH} keeps parts back`;
    }
    return `${DIRECTORY_PATH} did not come to an end`;
  }

  function keep({ hashes, changed }: DirectoryParts): void {
    const kept = new Map<string, HashedPart>();
    for (const [name, hash] of hashes) {
      const rows = changed.get(name);
      const before = parts.get(name);
      if (rows !== undefined) kept.set(name, { hash, rows });
      else if (before?.hash === hash) kept.set(name, before);
    }
    isStale ||= changed.size > 0 || kept.size !== parts.size;
    parts = kept;
  }

  return {
    start: () => void refresh(),
    stop: () => {
      stopped = true;
      cancelNext();
    },
    current: () => (ageMs() <= DIRECTORY_AGE_MS_MAX ? directory : undefined),
    ageMs,
  };
}

interface DirectoryParts {
  readonly ageMs: number;
  readonly hashes: ReadonlyMap<string, string>;
  readonly changed: ReadonlyMap<string, readonly DirectoryRow[]>;
}

interface HashedPart {
  readonly hash: string;
  readonly rows: readonly DirectoryRow[];
}

const PATH_CHARACTERS_MAX = 4_096;
const VISIBILITIES = [undefined, 'private', 'internal', 'public'] as const;

function parseParts(body: unknown): DirectoryParts | 'not_live' | undefined {
  if (!isRecord(body)) return undefined;
  if (body.live === false) return 'not_live';
  const { live, ageMs, parts, changed } = body;
  if (live !== true || !isRecord(parts) || !isRecord(changed)) return undefined;
  if (typeof ageMs !== 'number' || !Number.isFinite(ageMs) || ageMs < 0) return undefined;
  const hashes = new Map(Object.entries(parts));
  const areHashes = hashes.size <= DIRECTORY_PARTS_MAX && [...hashes.values()].every(isHash);
  const rows = new Map(Object.entries(changed));
  const areRows = [...rows].every(([name, some]) => hashes.has(name) && areDirectoryRows(some));
  return areHashes && areRows ? ({ ageMs, hashes, changed: rows } as DirectoryParts) : undefined;
}

const isHash = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** If two groups have one path, the group that the last listing had wins, then the younger one. */
function assembled(parts: Iterable<HashedPart>): Directory {
  const rows = [...parts].flatMap((part) => part.rows);
  rows.sort((a, b) => b[5] - a[5] || a[0] - b[0]);
  return indexDirectory(rows.map(groupOf));
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

const areDirectoryRows = (rows: unknown): boolean =>
  Array.isArray(rows) &&
  rows.every(
    (row) =>
      Array.isArray(row) &&
      row.length === 6 &&
      row.every((cell, index) =>
        index === 2
          ? typeof cell === 'string' && cell !== '' && cell.length <= PATH_CHARACTERS_MAX
          : Number.isSafeInteger(cell) && cell >= 0,
      ),
  );
