/** An edit of the limits: validated as a whole, written as chunks, made live by one conditional write of the pointer, logged forever. */

import type { Directory } from '../../../policies/directory.ts';
import { parseLimits } from '../../../policies/document/parse-limits.ts';
import { type DocumentProblem, isRecord } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import { ROLLOUT_CLASSES } from '../../../policies/rollout-step.ts';
import { atOnce } from '../environment/environment.ts';
import { changeRows, NO_LIMITS } from './change-rows.ts';
import type { ChangeRow, LogEntry } from './edit-model.ts';
import {
  chunkOfRoot,
  joinLimits,
  type LimitChange,
  type LimitsDocument,
  parsedLimits,
  SHARED,
  splitLimits,
  unpackedLimits,
  unpackedShared,
} from './limit-set.ts';
import {
  ifReadable,
  type LimitPointer,
  LimitsError,
  type LimitTable,
  type LogItem,
  packJson,
  unpackJson,
} from './limit-table.ts';

export const TIMEOUT_MS = 5_000;
const WITHIN = { timeoutMs: TIMEOUT_MS };
const FLIPS_MAX = 3;
const CHUNKS_AT_ONCE = 8;
/** Days that an old set is kept for lookups and undo. Programs adopt a set within seconds. */
export const KEPT_DAYS = 90;
const RETIRE_TIMEOUT_MS = 30_000;

export type PublishOutcome =
  | { readonly outcome: 'live'; readonly pointer: LimitPointer }
  | { readonly outcome: 'invalid'; readonly problems: readonly DocumentProblem[] }
  /** Another edit came first. */
  | { readonly outcome: 'stale'; readonly live: LimitPointer | undefined };

/** @throws {LimitsError} `limits_unavailable`: the table did not respond; publish again to learn the outcome. */
export async function publishLimits(
  document: unknown,
  change: LimitChange,
  deps: {
    readonly table: LimitTable;
    readonly policy: Policy;
    /** Names the root of each group. Entries without a known root go into the shared chunk. */
    readonly directory?: Directory;
    /** In force before the first set. @default no limits */
    readonly packed?: LimitSet;
  },
): Promise<PublishOutcome> {
  const { table, policy, directory, packed = NO_LIMITS } = deps;
  const valid = parseLimits(document, '', policy, directory);
  if (!valid.ok || !isRecord(document))
    return { outcome: 'invalid', problems: valid.ok ? [] : valid.problems };
  const { base } = change;
  const from =
    base === undefined
      ? packed
      : await ifReadable(readLimitSet(base, table).then((read) => parsedLimits(read.document, base, policy)));
  const timed = from === undefined ? document : withRolloutTimes(document, from, change.atMs);
  const { set, chunks } = splitLimits(timed, change, directory);
  const live = await table.getPointer(WITHIN);
  if (live !== undefined && live.set === set) return { outcome: 'live', pointer: live };
  if (live?.set !== base) return { outcome: 'stale', live };
  const rows = from && changeRows({ from, to: valid.value, directory, nowMs: change.atMs });
  const edit = (live?.edit ?? 0) + 1;
  const log = logOf(edit, set, change, rows);
  if (log.aside !== undefined) await table.putChunk(rowsSet(set), { name: ROWS, bytes: log.aside }, WITHIN);
  await atOnce(chunks, CHUNKS_AT_ONCE, (chunk) => table.putChunk(set, chunk, WITHIN));
  const outcome = await flip({ set, edit, atMs: change.atMs }, base, log.item, table);
  const left = outcome.outcome === 'live' ? [base] : [set, ...(log.aside ? [rowsSet(set)] : [])];
  for (const each of left) if (each !== undefined) await retire(each, change.atMs, table);
  return outcome;
}

async function retire(set: string, atMs: number, table: LimitTable): Promise<void> {
  const atSeconds = Math.ceil(atMs / 1000) + KEPT_DAYS * 86_400;
  await table.retire(set, atSeconds, { timeoutMs: RETIRE_TIMEOUT_MS }).catch((error: unknown) => {
    if (!(error instanceof LimitsError)) throw error;
  });
}

async function flip(
  pointer: LimitPointer,
  base: string | undefined,
  entry: LogItem,
  table: LimitTable,
): Promise<PublishOutcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      const flipped = await table.flip(pointer, base, WITHIN, entry);
      // An earlier try may have been written although its response was lost.
      if (flipped.outcome === 'flipped' || flipped.live?.set === pointer.set)
        return { outcome: 'live', pointer };
      return { outcome: 'stale', live: flipped.live };
    } catch (error) {
      if (!(error instanceof LimitsError) || tries === FLIPS_MAX) throw error;
    }
  }
}

/** Reads author and reason of a set. Undefined: it is gone, or never existed. @throws {LimitsError} either code */
export async function readChange(set: string, table: LimitTable): Promise<LimitChange | undefined> {
  const [bytes] = await table.readChunks(set, [SHARED], WITHIN);
  return bytes && unpackedShared(bytes).change;
}

export async function readLimitSet(
  set: string,
  table: LimitTable,
): Promise<{ readonly change: LimitChange; readonly document: LimitsDocument }> {
  const [bytes] = await table.readChunks(set, [SHARED], WITHIN);
  const shared = unpackedShared(bytes);
  const names = shared.roots.map(chunkOfRoot);
  const chunks = await table.readChunks(set, names, WITHIN);
  const ofRoots = names.map((name, index) => unpackedLimits(name, chunks[index]));
  return { change: shared.change, document: joinLimits(shared, ofRoots) };
}

/* When each step of a rollout began: written into the document as it becomes live. */

export const rolledOutSubject = ({ instance, group, project }: LimitsDocument): string =>
  instance === true ? 'instance' : project === undefined ? `group/${group}` : `project/${project}`;

/** `2026-11-21T12:00:00Z`, as all instants in a limits document. */
export const writtenSecond = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** A changed mode begins at `atMs`; an unchanged one goes on, also where a file leaves the time out. */
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
      const field = `${ruleClass}_since`;
      if (entry[ruleClass] === undefined) delete next[field];
      else if (entry[ruleClass] !== before?.[ruleClass]) next[field] = writtenSecond(atMs);
      else if (before?.sinceMs?.[ruleClass] !== undefined)
        next[field] = writtenSecond(before.sinceMs[ruleClass]);
    }
    return next;
  };
  return { ...document, rollout: rollout.map((entry) => (isRecord(entry) ? timed(entry) : entry)) };
}

/*
 * The change log: one item per edit, kept forever. Rows of a large edit are written next to the chunks of its set, before it is
 * published, and stay when those expire.
 */

export interface LoggedChange extends Omit<LogEntry, 'edit'> {
  readonly request?: string;
  /** All subjects it changed; absent: too many to list. */
  readonly subjects?: readonly string[];
}

/** An item with this many rows and texts stays below 8 KB, so a page of a hundred is one read. */
const ROWS_INLINE_MAX = 40;
const SUBJECTS_MAX = 40;
/** About 3 MB compressed; `count` has the total. A first import of 10 000 limits has half of them. */
const LOGGED_ROWS_MAX = 100_000;
const ROWS = 'rows';
const rowsSet = (set: string): string => `changes#${set}`;

/** @param rows - undefined: the base cannot be read any more. */
function logOf(
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
  const item = { edit, bytes: packJson(logged) };
  return rows === undefined || inline ? { item } : { item, aside: packJson(rows.slice(0, LOGGED_ROWS_MAX)) };
}

export function loggedChangeOf({ edit, bytes }: LogItem): LoggedChange {
  const logged = unpackJson(bytes, `entry ${edit} of the change log`);
  if (isRecord(logged) && typeof logged.set === 'string') return logged as unknown as LoggedChange;
  throw new LimitsError('limits_unreadable', `entry ${edit} of the change log is damaged`);
}

export async function rowsOf(
  logged: LoggedChange,
  table: LimitTable,
): Promise<readonly ChangeRow[] | undefined> {
  if (logged.rows !== undefined || logged.count === 0) return logged.rows;
  const [bytes] = await table.readChunks(rowsSet(logged.set), [ROWS], WITHIN);
  return bytes && (unpackJson(bytes, `rows of ${logged.set}`) as readonly ChangeRow[]);
}
