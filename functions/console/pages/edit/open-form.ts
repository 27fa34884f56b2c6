import { writtenDay } from '../../../../policies/text/edge-text.ts';
import type { SubjectView } from '../../../answers/subject/model.ts';
import type { User } from '../../../core/signin/user.ts';
import type { PagesDeps } from '../pages-deps.ts';
import type { Values } from '../parts/form-field.tsx';
import type { EditContext, EditForm } from './edit-form-parts.ts';
import { type EditKind, editForm } from './edit-kinds.ts';

export interface Opened {
  readonly kind: EditKind;
  readonly form: EditForm;
  readonly context: EditContext;
  /** The live set. */
  readonly base: string | undefined;
}

/** The form of a kind of edit; undefined: there is nothing to edit, or it is not theirs to see. */
export async function openForm(
  deps: PagesDeps,
  kind: EditKind,
  values: Values,
  user: User,
): Promise<Opened | undefined> {
  const { subject, limit: limitId } = values;
  let view: SubjectView | undefined;
  let base: string | undefined;
  if (subject === undefined || subject === '') {
    if (kind !== 'end-breakglass' && kind !== 'review-breakglass') return undefined;
    base = (await deps.desk.live())?.pointer.set;
  } else {
    view = await deps.read.subject(subject, limitId === undefined ? {} : { limit: limitId }, user);
    if (view === undefined) return undefined;
    base = view.set;
  }
  const limit = kind === 'grant' ? undefined : view?.limits.find(({ id }) => id === limitId);
  if (kind === 'set' && limitId !== undefined && limit === undefined) return undefined;
  const today = writtenDay(deps.clock.nowMs(), view?.zone ?? deps.zone);
  const context = { view, limit, today };
  return { kind, form: editForm(kind, context), context, base };
}
