import {
  type LimitChange,
  type LimitPointer,
  type LimitsDocument,
  type LimitTable,
  readChange,
  readLimitSet,
} from '../../../functions/core/limits/index.ts';

const TIMEOUT_MS = 5_000;

export interface LiveSet {
  readonly pointer: LimitPointer;
  readonly change: LimitChange;
  readonly document: LimitsDocument;
}

export const livePointer = (table: LimitTable): Promise<LimitPointer | undefined> =>
  table.getPointer({ timeoutMs: TIMEOUT_MS });

/** Undefined: no set was ever live. @throws {LimitsError} */
export async function readLiveSet(table: LimitTable): Promise<LiveSet | undefined> {
  const pointer = await livePointer(table);
  return pointer && { pointer, ...(await readLimitSet(pointer.set, table)) };
}

/** A set that is or was live. */
export interface KeptSet {
  readonly set: string;
  readonly change: LimitChange;
  readonly document: LimitsDocument;
}

/** @throws {Error} no set of this name is kept (any more). @throws {LimitsError} */
export async function readKept(set: string, table: LimitTable): Promise<KeptSet> {
  if ((await readChange(set, table)) === undefined)
    throw new Error(
      `there is no set "${set}": replaced sets are kept for 90 days; "limits sets" lists those there are`,
    );
  return { set, ...(await readLimitSet(set, table)) };
}

/** One set of the history. */
export interface SetView {
  readonly set: string;
  readonly edit: number;
  /** ISO 8601. */
  readonly at: string;
  readonly actor: string;
  readonly why: string;
  readonly source: string;
  readonly base?: string;
}

/** The live set and those it was an edit of, newest first; older ones are gone some time after they were replaced. */
export async function readSetHistory(table: LimitTable, countMax: number): Promise<readonly SetView[]> {
  const pointer = await livePointer(table);
  const shown: SetView[] = [];
  let set = pointer?.set;
  let edit = pointer?.edit ?? 0;
  while (set !== undefined && shown.length < countMax) {
    const change = await readChange(set, table);
    if (change === undefined) break;
    shown.push(setShown({ set, edit }, change));
    set = change.base;
    edit -= 1;
  }
  return shown;
}

export const setShown = (
  { set, edit }: Pick<LimitPointer, 'set' | 'edit'>,
  { atMs, actor, why, source, base }: LimitChange,
): SetView => ({
  set,
  edit,
  at: new Date(atMs).toISOString(),
  actor,
  why,
  source,
  ...(base !== undefined && { base }),
});
