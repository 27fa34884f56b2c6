import type { LimitsDesk } from '../core/limits/create-limits-desk.ts';
import type { LimitEdit } from '../core/limits/edit-model.ts';

/** What takes back the last edit: the document that it was an edit of. Only the last edit is taken back. */
export async function lastEdit(edit: number, desk: Pick<LimitsDesk, 'live' | 'at'>) {
  const live = await desk.live();
  if (live === undefined) return { outcome: 'nothing_live' as const };
  if (live.pointer.edit !== edit) return { outcome: 'not_last' as const, live };
  const before = await desk.at(live.change.base);
  if (before === undefined) return { outcome: 'gone' as const };
  const edits: readonly LimitEdit[] = [{ kind: 'replace', document: before.document }];
  return { outcome: 'can_undo' as const, edits, base: live.pointer.set, why: live.change.why };
}
