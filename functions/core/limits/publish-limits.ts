/** An edit of the limits: validated as a whole, written as chunks, made live by one conditional write of the pointer, logged forever. */

import type { Directory } from '../../../policies/directory.ts';
import { parseLimits, STORED } from '../../../policies/document/parse-limits.ts';
import { type DocumentProblem, isRecord } from '../../../policies/document/reading.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Policy } from '../../../policies/policy.ts';
import { ROLLOUT_CLASSES } from '../../../policies/rollout-step.ts';
import { atOnce } from '../environment/environment.ts';
import { rowsSet, writeLog } from './change-log.ts';
import { changeRows, NO_LIMITS } from './change-rows.ts';
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
  WITHIN,
} from './limit-table.ts';

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
  const valid = parseLimits(document, '', policy, directory, STORED);
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
  const log = await writeLog(edit, set, change, rows, table);
  await atOnce(chunks, CHUNKS_AT_ONCE, (chunk) => table.putChunk(set, chunk, WITHIN));
  const outcome = await flip({ set, edit, atMs: change.atMs }, base, log.item, table);
  const unused = outcome.outcome === 'live' ? [base] : [set, log.hasRowsSet ? rowsSet(set) : undefined];
  for (const each of unused) if (each !== undefined) await retire(each, change.atMs, table);
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
  const names = [...shared.roots].map(chunkOfRoot);
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
