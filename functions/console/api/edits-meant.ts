/** Edits as they are sent → edits as the desk takes them, and the set they are of. */
import type { LimitEdit, LimitsDesk, LiveLimits } from '../../core/limits/index.ts';
import { lastEdit } from '../last-edit.ts';
import { baseOf } from './api-deps.ts';
import { type ApiError, NO_BASE } from './api-error.ts';
import { type EditsShape, editOf, type UndoShape } from './edit-schemas.ts';
import { INVALID, outcomeAnswer } from './outcome-answer.ts';

type EditsAnswer =
  | {
      readonly ok: true;
      readonly edits: readonly LimitEdit[];
      /** Undefined: none is live. */
      readonly base: string | undefined;
    }
  | { readonly ok: false; readonly status: 412 | 422 | 428; readonly body: ApiError };

/** @param header - `If-Match`. @param sees - subjects the user may know of. */
export async function editsMeant(
  sent: EditsShape,
  header: string | undefined,
  desk: Pick<LimitsDesk, 'live' | 'at'>,
  sees: (subject: string) => boolean,
): Promise<EditsAnswer> {
  const said = baseOf(header);
  if (said === 'missing') return { ok: false, status: 428, body: NO_BASE };
  const { base } = said;
  const stale = (live: LiveLimits | undefined): Stale =>
    ({ ok: false, ...outcomeAnswer({ outcome: 'stale', live }, sees) }) as Stale;
  const isUndo = (edit: EditsShape[number]): edit is UndoShape => edit.kind === 'undo';
  const undo = sent.find(isUndo);
  if (undo === undefined) {
    const live = await desk.live();
    // All that can be said about a set that is gone is that it is.
    const isThere = live?.pointer.set === base || (await desk.at(base)) !== undefined;
    return isThere
      ? { ok: true, edits: sent.filter((edit) => !isUndo(edit)).map(editOf), base }
      : stale(live);
  }
  if (sent.length > 1) return invalid('is made together with other edits; expected it alone');
  const found = await lastEdit(undo.edit, desk);
  switch (found.outcome) {
    case 'nothing_live':
      return invalid('nothing was edited yet');
    case 'not_last':
      return stale(found.live);
    case 'gone':
      return invalid(
        `edit ${undo.edit} cannot be taken back: what it was an edit of is gone, replaced sets are kept for 90 days`,
      );
    case 'can_undo':
      return found.base === base ? { ok: true, edits: found.edits, base } : stale(await desk.live());
  }
}

type Stale = Extract<EditsAnswer, { ok: false }>;

const invalid = (message: string): Stale => ({
  ok: false,
  status: 422,
  body: { ...INVALID, problems: [{ path: ['edits', 0, 'edit'], message }] },
});
