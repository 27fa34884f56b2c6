/**
 * The change log: one item per edit, written in the transaction that publishes the edit, and kept forever.
 * Rows of a large edit are written next to the chunks of its set, before it is published, and stay when
 * those expire.
 */
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { parseLimits, parseLimitsPart } from '../../../policies/document/parse-limits.ts';
import { type DocumentProblem, isRecord, type ParseResult } from '../../../policies/document/reading.ts';
import type { LimitSet, RolloutClass } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { ROLLOUT_CLASSES } from '../../../policies/rollout-step.ts';
import type { Item } from '../store/index.ts';
import { changeRows, NO_LIMITS } from './change-rows.ts';
import type { ChangeRow } from './limit-changes.ts';
import {
  chunkOfRoot,
  joinLimits,
  type LimitChange,
  type LimitsDocument,
  SHARED,
  splitLimits,
  unpackedLimits,
  unpackedShared,
} from './limit-set.ts';
import { type LimitPointer, LimitsError, type LimitTable, type LogItem } from './limit-table.ts';

/** One edit, as it is kept. */
export interface LoggedChange extends LimitChange {
  readonly set: string;
  /** Number of rows. */
  readonly count: number;
  /** All subjects it changed; absent: too many to list. */
  readonly subjects?: readonly string[];
  /** Absent: stored separately, or unknown (`count` 0). */
  readonly rows?: readonly ChangeRow[];
}

/** An item with this many rows and texts stays below 8 KB, so a page of a hundred is one read. */
const ROWS_INLINE_MAX = 40;
const SUBJECTS_MAX = 40;
/** About 3 MB compressed; `count` has the total. A first import of 10 000 limits has half of them. */
const LOGGED_ROWS_MAX = 100_000;
const TIMEOUT_MS = 5_000;
const CHARACTERS_MAX = 256 * 1024 * 1024;
const ROWS = 'rows';

export const rowsSet = (set: string): string => `changes#${set}`;

/**
 * Returns the writes at publication and before. @param rows - undefined: the base cannot be read any more.
 */
export function logOf(
  edit: number,
  set: string,
  change: LimitChange,
  rows: readonly ChangeRow[] | undefined,
): { readonly item: LogItem; readonly aside?: Uint8Array } {
  const subjects = [...new Set(rows?.map(({ subject }) => subject))];
  const inline = rows !== undefined && rows.length <= ROWS_INLINE_MAX;
  const logged: LoggedChange = {
    ...change,
    set,
    count: rows?.length ?? 0,
    ...(rows !== undefined && subjects.length <= SUBJECTS_MAX && { subjects }),
    ...(inline && { rows }),
  };
  const item = { edit, bytes: packed(logged) };
  return rows === undefined || inline ? { item } : { item, aside: packed(rows.slice(0, LOGGED_ROWS_MAX)) };
}

/** @throws {LimitsError} `limits_unreadable` */
export function loggedChangeOf({ edit, bytes }: LogItem): LoggedChange {
  const logged = unpacked(bytes, `entry ${edit}`);
  if (!isRecord(logged) || typeof logged.set !== 'string') throw unreadable(`entry ${edit}`);
  // Written by `logOf` alone.
  return logged as unknown as LoggedChange;
}

/** Reads the rows of an edit. Undefined: they are unknown. @throws {LimitsError} either code */
export async function rowsOf(
  logged: LoggedChange,
  table: LimitTable,
): Promise<readonly ChangeRow[] | undefined> {
  if (logged.rows !== undefined || logged.count === 0) return logged.rows;
  const [bytes] = await table.readChunks(rowsSet(logged.set), [ROWS], { timeoutMs: TIMEOUT_MS });
  if (bytes === undefined) return undefined;
  const rows = unpacked(bytes, `rows of ${logged.set}`);
  if (!Array.isArray(rows)) throw unreadable(`rows of ${logged.set}`);
  return rows as readonly ChangeRow[];
}

/** @throws {LimitsError} `limits_unavailable` */
export const writeRows = (set: string, bytes: Uint8Array, table: LimitTable): Promise<void> =>
  table.putChunk(rowsSet(set), { name: ROWS, bytes }, { timeoutMs: TIMEOUT_MS });

const packed = (value: unknown): Uint8Array =>
  brotliCompressSync(JSON.stringify(value), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

function unpacked(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(brotliDecompressSync(bytes, { maxOutputLength: CHARACTERS_MAX }).toString('utf8'));
  } catch {
    throw unreadable(what);
  }
}

const unreadable = (what: string): LimitsError =>
  new LimitsError('limits_unreadable', `the change log, ${what}: is damaged`);

/** When each step of a rollout began: written into the document as it becomes live, whichever way it came. */

/** Returns the subject of a rollout entry. */
export const rolledOutSubject = ({ instance, group, project }: LimitsDocument): string =>
  instance === true ? 'instance' : project === undefined ? `group/${group}` : `project/${project}`;

/** A mode that is another one begins at `atMs`; what stays as it was goes on, also where a file leaves the time out. */
export function withRolloutTimes(
  document: LimitsDocument,
  { rollouts }: Pick<LimitSet, 'rollouts'>,
  atMs: number,
): LimitsDocument {
  const { rollout } = document;
  if (!Array.isArray(rollout) || rollout.length === 0) return document;
  const timed = (entry: LimitsDocument): LimitsDocument => {
    const before = rollouts.get(rolledOutSubject(entry));
    const next: Record<string, unknown> = { ...entry };
    for (const ruleClass of ROLLOUT_CLASSES) {
      const field = sinceField(ruleClass);
      if (entry[ruleClass] === undefined) delete next[field];
      else if (entry[ruleClass] !== before?.[ruleClass]) next[field] = writtenSecond(atMs);
      else if (before?.sinceMs?.[ruleClass] !== undefined)
        next[field] = writtenSecond(before.sinceMs[ruleClass]);
    }
    return next;
  };
  return { ...document, rollout: rollout.map((entry) => (isRecord(entry) ? timed(entry) : entry)) };
}

const sinceField = (ruleClass: RolloutClass): string => `${ruleClass}_since`;

/** `2026-11-21T12:00:00Z`, as all instants in a limits document. */
export const writtenSecond = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** An edit of the limits: validated as a whole, written aside, live by one conditional flip of the pointer. */

interface PublishDeps {
  readonly table: LimitTable;
  /** The one in force: it names the runner classes there are. */
  readonly policy: Policy;
  /** Says whose root is whose; what it does not know is kept where every reader looks. */
  readonly directory?: Directory;
  /** Passed if the caller has read both: the base of the change (undefined: none) and its result. */
  readonly read?: { readonly from: LimitSet | undefined; readonly to: LimitSet };
}

export type PublishOutcome =
  | { readonly outcome: 'live'; readonly pointer: LimitPointer }
  /** Nothing was written. */
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  /** Another edit came first. `mine` is stored (absent: not even that), so that both can be compared. */
  | { readonly outcome: 'stale'; readonly live: LimitPointer | undefined; readonly mine?: string };

/** Retries of a publication without a response. */
const FLIPS_MAX = 3;
/** Parallel writes of chunks: hundreds of roots must not take all connections. */
const CHUNKS_AT_ONCE = 8;
/**
 * Days that an old set is kept for lookups and undo. Programs adopt a set within seconds, so none still
 * needs it then.
 */
export const KEPT_DAYS = 90;
/** Time for hundreds of chunks in parallel. */
const RETIRE_TIMEOUT_MS = 30_000;

/** @throws {LimitsError} `limits_unavailable`: the table did not answer; publish again to learn what became of it. */
export async function publishLimits(
  document: unknown,
  change: LimitChange,
  deps: PublishDeps,
): Promise<PublishOutcome> {
  const { table, policy, directory, read } = deps;
  const valid: ParseResult<LimitSet, DocumentProblem> =
    read === undefined ? parseLimits(document, '', policy, directory) : { ok: true, value: read.to };
  if (!valid.ok || !isRecord(document))
    return { outcome: 'invalid', problems: valid.ok ? [] : valid.problems };
  const from = read === undefined ? await baseOf(change.base, deps) : (read.from ?? NO_LIMITS);
  const timed = from === undefined ? document : withRolloutTimes(document, from, change.atMs);
  const { set, chunks } = splitLimits(timed, change, directory);
  const live = await table.getPointer({ timeoutMs: TIMEOUT_MS });
  if (live !== undefined && live.set === set) return { outcome: 'live', pointer: live };
  if (live?.set !== change.base) return { outcome: 'stale', live };
  const rows = from && changeRows({ from, to: valid.value, directory, nowMs: change.atMs });
  const edit = (live?.edit ?? 0) + 1;
  const log = logOf(edit, set, change, rows);
  if (log.aside !== undefined) await writeRows(set, log.aside, table);
  for (let first = 0; first < chunks.length; first += CHUNKS_AT_ONCE) {
    const some = chunks.slice(first, first + CHUNKS_AT_ONCE);
    await Promise.all(some.map((chunk) => table.putChunk(set, chunk, { timeoutMs: TIMEOUT_MS })));
  }
  const outcome = await flip({ set, edit, atMs: change.atMs }, change.base, log.item, table);
  const left = outcome.outcome === 'live' ? [change.base] : [set, ...(log.aside ? [rowsSet(set)] : [])];
  for (const each of left) if (each !== undefined) await retire(each, change.atMs, table);
  return outcome;
}

/** Reads the base of a change. Undefined: this policy cannot read it, or it is gone. */
async function baseOf(
  base: string | undefined,
  { table, policy }: PublishDeps,
): Promise<LimitSet | undefined> {
  if (base === undefined) return NO_LIMITS;
  try {
    const parsed = parseLimitsPart((await readLimitSet(base, table)).document, base, policy);
    return parsed.ok ? parsed.value : undefined;
  } catch (error) {
    if (error instanceof LimitsError && error.code === 'limits_unreadable') return undefined;
    throw error;
  }
}

/** Expires a replaced or late set. A failure leaves harmless garbage. */
async function retire(set: string, atMs: number, table: LimitTable): Promise<void> {
  try {
    const atSeconds = Math.ceil(atMs / 1000) + KEPT_DAYS * 86_400;
    await table.retire(set, atSeconds, { timeoutMs: RETIRE_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof LimitsError)) throw error;
  }
}

async function flip(
  pointer: LimitPointer,
  base: string | undefined,
  entry: LogItem,
  table: LimitTable,
): Promise<PublishOutcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      const flipped = await table.flip(pointer, base, { timeoutMs: TIMEOUT_MS }, entry);
      // Our own earlier try may have been heard although its answer was not.
      if (flipped.outcome === 'flipped' || flipped.live?.set === pointer.set)
        return { outcome: 'live', pointer };
      return { outcome: 'stale', live: flipped.live, mine: pointer.set };
    } catch (error) {
      if (!(error instanceof LimitsError) || tries === FLIPS_MAX) throw error;
    }
  }
}

/**
 * Reads author and reason of a set. Undefined: it is gone, or never existed. @throws {LimitsError} either
 * code
 */
export async function readChange(set: string, table: LimitTable): Promise<LimitChange | undefined> {
  const [bytes] = await table.readChunks(set, [SHARED], { timeoutMs: TIMEOUT_MS });
  return bytes && unpackedShared(bytes).change;
}

/** A set as it was written, live or not. @throws {LimitsError} either code */
export async function readLimitSet(
  set: string,
  table: LimitTable,
): Promise<{ readonly change: LimitChange; readonly document: LimitsDocument }> {
  const [bytes] = await table.readChunks(set, [SHARED], { timeoutMs: TIMEOUT_MS });
  const shared = unpackedShared(bytes);
  const names = shared.roots.map(chunkOfRoot);
  const chunks = await table.readChunks(set, names, { timeoutMs: TIMEOUT_MS });
  const ofRoots = names.map((name, index) => unpackedLimits(name, chunks[index]));
  return { change: shared.change, document: joinLimits(shared, ofRoots) };
}

// DynamoDB's items end at 400 KB: a chunk is stored in parts.
const PART_BYTES_MAX = 350 * 1024;
/** 35 MB compressed are more limits than there are groups. */
const PARTS_MAX = 100;

export const BYTES = 'b';
export const PARTS_ATTRIBUTE = 'n';

/** The attributes of each part, in order. */
export function chunkPartsOf(name: string, bytes: Uint8Array): readonly Item[] {
  const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES_MAX));
  if (parts > PARTS_MAX) {
    throw new LimitsError(
      'limits_unreadable',
      `chunk ${name} has ${bytes.length} bytes: expected at most ${PARTS_MAX * PART_BYTES_MAX}`,
    );
  }
  return Array.from({ length: parts }, (_, index) => ({
    [BYTES]: { B: bytes.subarray(index * PART_BYTES_MAX, (index + 1) * PART_BYTES_MAX) },
    [PARTS_ATTRIBUTE]: { N: String(parts) },
  }));
}

/** The other way. @throws {LimitsError} `limits_unreadable` if one is missing. */
export function joined(name: string, items: readonly Item[]): Uint8Array | undefined {
  const [first] = items;
  if (first === undefined) return undefined;
  if (items.length !== Number(first[PARTS_ATTRIBUTE]?.N)) {
    throw new LimitsError(
      'limits_unreadable',
      `chunk ${name} has ${items.length} of ${first[PARTS_ATTRIBUTE]?.N} parts: publish the limits again`,
    );
  }
  return Buffer.concat(items.map((item) => item[BYTES]?.B ?? new Uint8Array()));
}
