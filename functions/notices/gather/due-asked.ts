import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { LimitPointer } from '../../core/limits/limit-table.ts';
import type { Cursor } from '../cursor.ts';
import type { Known } from '../known.ts';
import type { Notice } from '../notice.ts';
import type { Telling } from '../telling.ts';

export interface DueAsked {
  readonly cursor: Cursor;
  readonly pointer: LimitPointer | undefined;
  readonly known: Known;
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly telling: Telling;
}

/** What one kind has to say, and when it has again; Infinity: not before the limits change. */
export interface Due {
  readonly notices: readonly Notice[];
  readonly dueAtMs: number;
}

export const allLimits = ({ bySubject }: LimitSet) => [...bySubject.values()].flat();
