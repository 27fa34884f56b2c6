import type { Freeze } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { subjectLabelOf } from '../reading/scope.ts';
import { subjectsAbove } from '../reading/subjects-above.ts';
import type { FreezeRow } from './model.ts';

/** In force and to come, its own first, then those of everything above. */
export function freezeRows(
  subject: string,
  { freezes }: LimitSet,
  directory: Directory,
  nowMs: number,
): readonly FreezeRow[] {
  if (freezes === undefined) return [];
  return [subject, ...subjectsAbove(subject, directory)].flatMap((each) =>
    (freezes.get(each) ?? [])
      .filter(({ untilMs }) => untilMs === undefined || nowMs < untilMs)
      .map((freeze) => freezeRow(freeze, each === subject ? undefined : subjectLabelOf(each, directory))),
  );
}

/** The one that holds now, if any. */
export const frozenNow = (rows: readonly FreezeRow[], nowMs: number): FreezeRow | undefined =>
  rows.find(({ fromMs }) => fromMs === undefined || fromMs <= nowMs);

const freezeRow = (
  { id, reason, owner, fromMs, untilMs, zone }: Freeze,
  above: string | undefined,
): FreezeRow => ({
  id,
  reason,
  ...withoutAbsent({ owner, fromMs, untilMs }),
  zone,
  ...(above !== undefined && { above }),
});
