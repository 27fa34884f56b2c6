/** The last edit of the limits, and what takes it back: the document that it was an edit of, put in its place again. */

import type { LimitsDesk } from '../core/limits/create-limits-desk.ts';
import type { LimitEdit, LiveLimits } from '../core/limits/edit-model.ts';

type LastEdit =
  | {
      readonly outcome: 'can_undo';
      readonly edits: readonly LimitEdit[];
      readonly base: string;
      readonly why: string;
    }
  /** Others edited since: only the last edit is taken back. */
  | { readonly outcome: 'not_last'; readonly live: LiveLimits }
  | { readonly outcome: 'nothing_live' }
  /** Its base has expired. */
  | { readonly outcome: 'gone' };

/** @throws {LimitsError} */
export async function lastEdit(edit: number, desk: Pick<LimitsDesk, 'live' | 'at'>): Promise<LastEdit> {
  const live = await desk.live();
  if (live === undefined) return { outcome: 'nothing_live' };
  if (live.pointer.edit !== edit) return { outcome: 'not_last', live };
  const before = await desk.at(live.change.base);
  if (before === undefined) return { outcome: 'gone' };
  const edits: readonly LimitEdit[] = [{ kind: 'replace', document: before.document }];
  return { outcome: 'can_undo', edits, base: live.pointer.set, why: live.change.why };
}
