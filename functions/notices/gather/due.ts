/** What comes of the limits in force as time passes: grants that end soon, and glass that is broken. */

import type { Cursor } from '../cursor.ts';
import type { Notice } from '../notice.ts';
import { noticesOfBreakGlasses } from './break-glasses.ts';
import type { DueAsked } from './due-asked.ts';
import { noticesOfEnding } from './grants-ending.ts';

export interface DueTold {
  readonly notices: readonly Notice[];
  readonly next: Pick<Cursor, 'due' | 'ending' | 'breakGlasses'>;
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
