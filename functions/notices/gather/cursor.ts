/** How far everybody was told: one item, written after the messages were taken. */
import { createHash } from 'node:crypto';
import { recipientKey } from '../../core/notify/recipient.ts';
import type { Notice, NoticeMark, ToldTally } from './notice.ts';

export interface Cursor {
  /** The last edit of the change log that was told. */
  readonly edit: number;
  /** In this set of limits nothing falls due before `dueAtMs`. */
  readonly due?: { readonly set: string; readonly atMs: number };
  /** Per request: how often it was told as waiting, when last, and whether its end was told. */
  readonly requests: Readonly<Record<string, ToldRequest>>;
  /** Grants whose end was told, with that end: forgotten when it has passed. */
  readonly ending: Readonly<Record<string, number>>;
  /** The day on which forecasts were looked at last, and which were told, with the end of their period. */
  readonly forecasts?: { readonly day: string; readonly told: Readonly<Record<string, number>> };
  /** Per break-glass: jobs it let in, and how often and when last its review was asked for. */
  readonly breakGlasses: Readonly<Record<string, ToldBreakGlass>>;
  /** The first day whose counts were ever told or known; absent in a cursor that kept only two days. */
  readonly talliesSince?: string;
  /** Keyed by day and subject. `*` is the whole instance, to see whether anything moved: all that is kept of past days. */
  readonly tallies: Readonly<Record<string, Readonly<Record<string, ToldTally>>>>;
  /** Jobs were rejected before the last run: their lists may be a moment behind their counts, so they are read once more. */
  readonly again?: boolean;
  /** Per request about a job of a merge request: what its note says. Absent: nobody agreed to any. */
  readonly notes?: Readonly<Record<string, ToldNote>>;
  /** Marks of notices that were taken in a run that did not get to its end. */
  readonly told: readonly string[];
}

export interface ToldRequest {
  readonly asked: number;
  readonly atMs: number;
  readonly decided: boolean;
}

export interface ToldNote {
  /** Stands for what it says; absent: there is none, or nobody knows. */
  readonly text?: string;
  /** The number of the limits that it was looked at with. */
  readonly edit: number;
  /** Unix ms; till then another edit may change what it says. */
  readonly untilMs?: number;
  /** That failed since it was written. */
  readonly tries: number;
  readonly againAtMs?: number;
}

export interface ToldBreakGlass {
  readonly used: number;
  readonly reviews: number;
  readonly atMs: number;
}

export interface StoredCursor {
  readonly rev: number;
  readonly cursor: Cursor;
}

export interface CursorStore {
  /** Consistent; undefined: nobody was ever told anything. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<StoredCursor | undefined>;
  /** False: another run wrote meanwhile. @throws {LedgerError} `ledger_unavailable`: it may be written or not. */
  write(stored: StoredCursor): Promise<boolean>;
}

/** An instance's first cursor: nobody was told anything. */
export const START: Cursor = {
  edit: 0,
  requests: {},
  ending: {},
  breakGlasses: {},
  tallies: {},
  told: [],
};

/** An item of DynamoDB holds 400 KB: the oldest marks go first, and what they marked is told again. */
const MARKS_MAX = 20_000;
const MARK_CHARACTERS = 12;

/** Stands for one notice to one addressee. */
export const markOf = (notice: Pick<Notice, 'id' | 'to'>): string =>
  createHash('sha256')
    .update(`${recipientKey(notice.to)} ${notice.id}`)
    .digest('base64url')
    .slice(0, MARK_CHARACTERS);

/** Those that were taken, of a run that told not all of them. */
export function partlyTold(cursor: Cursor, taken: readonly Notice[]): Cursor {
  const told = [...cursor.told, ...taken.map(markOf)].slice(-MARKS_MAX);
  let next: Cursor = { ...cursor, told };
  for (const each of taken.flatMap(({ passes = [] }) => passes)) next = passed(next, each);
  return next;
}

function passed(cursor: Cursor, passes: NoticeMark): Cursor {
  if (passes.kind === 'break-glass') {
    const before = cursor.breakGlasses[passes.id] ?? { reviews: 0, atMs: 0 };
    const breakGlasses = { ...cursor.breakGlasses, [passes.id]: { ...before, used: passes.used } };
    return { ...cursor, breakGlasses };
  }
  const { day, subject, tally } = passes;
  const ofDay = cursor.tallies[day] ?? {};
  const told = { ...ofDay, [subject]: { ...ofDay[subject], ...tally } };
  return { ...cursor, tallies: { ...cursor.tallies, [day]: told } };
}
