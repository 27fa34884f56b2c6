/** What comes of the limits in force as time passes: grants that end soon, and glass that is broken. */
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LimitPointer } from '../../limits/limit-table.ts';
import type { Cursor } from '../cursor.ts';
import type { Known } from '../known.ts';
import type { Notice } from '../notice.ts';
import type { Telling } from '../telling.ts';
import { noticesOfBreakGlasses } from './break-glasses.ts';
import { noticesOfEnding } from './grants-ending.ts';

export interface DueAsked {
  readonly cursor: Cursor;
  readonly pointer: LimitPointer | undefined;
  readonly known: Known;
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly telling: Telling;
}

export interface DueTold {
  readonly notices: readonly Notice[];
  readonly next: Pick<Cursor, 'due' | 'ending' | 'breakGlasses'>;
}

/** What one kind has to say, and when it has again; Infinity: not before the limits change. */
export interface Due {
  readonly notices: readonly Notice[];
  readonly dueAtMs: number;
}

/** The first run of a set, and those at which something in it is due, read the limits; the others read nothing. */
export async function noticesDue(asked: DueAsked): Promise<DueTold> {
  const { cursor, pointer, known, telling } = asked;
  const { due, ending, breakGlasses } = cursor;
  const set = pointer?.set ?? 'packed';
  if (due?.set === set && telling.nowMs < due.atMs)
    return { notices: [], next: { due, ending, breakGlasses } };
  const ownership = await known();
  const grants = noticesOfEnding(ending, ownership, telling);
  const glasses = await noticesOfBreakGlasses(breakGlasses, ownership, asked);
  return {
    notices: [...grants.notices, ...glasses.notices],
    next: {
      due: { set, atMs: Math.min(grants.dueAtMs, glasses.dueAtMs, NEVER_MS) },
      ending: grants.ending,
      breakGlasses: glasses.breakGlasses,
    },
  };
}

/** Infinity is no number in JSON. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

export const allLimits = ({ bySubject }: LimitSet) => [...bySubject.values()].flat();
