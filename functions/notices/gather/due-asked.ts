import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Ledger } from '../../core/ledger/index.ts';
import type { LimitPointer } from '../../core/limits/index.ts';
import type { Cursor } from './cursor.ts';
import type { OwnershipReader } from './known.ts';
import type { Notice } from './notice.ts';
import type { NoticeFormat } from './notice-format.ts';

export interface DueContext {
  readonly cursor: Cursor;
  readonly pointer: LimitPointer | undefined;
  readonly known: OwnershipReader;
  readonly ledger: Pick<Ledger, 'readCounters'>;
  readonly telling: NoticeFormat;
}

/** What one kind has to say, and when it has again; Infinity: not before the limits change. */
export interface DueNotices {
  readonly notices: readonly Notice[];
  readonly dueAtMs: number;
}

export const allLimits = ({ bySubject }: LimitSet) => [...bySubject.values()].flat();
