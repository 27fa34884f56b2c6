import type { Directory } from '../../../../policies/place/directory.ts';
import type { ChangeRow } from '../changes/change-row.ts';
import { changeRows, NO_LIMITS } from '../changes/change-rows.ts';
import type { LiveLimits } from './live-limits.ts';
import type { ReadLimitSet } from './plan.ts';

interface Since {
  /** The outdated base of the edits. */
  readonly before: ReadLimitSet;
  readonly live: LiveLimits | undefined;
  readonly directory: Directory | undefined;
  readonly nowMs: number;
}

/** Returns later changes by others to the same subjects. */
export function visibleRows(
  mine: readonly ChangeRow[],
  { before, live, directory, nowMs }: Since,
): readonly ChangeRow[] {
  const subjects = new Set(mine.map(({ subject }) => subject));
  const to = live?.limits ?? NO_LIMITS;
  const all = changeRows({ from: before.limits, to, directory, nowMs });
  return all.filter(({ subject }) => subjects.has(subject));
}
