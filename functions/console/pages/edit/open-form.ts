import { withoutDay } from '../../../../policies/limits/limit.ts';
import { writtenDay } from '../../../../policies/text/edge-text.ts';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { User } from '../../../core/signin/index.ts';
import type { PagesDeps } from '../pages-deps.ts';
import type { Values } from '../parts/form-field.tsx';
import type { EditForm, EditFormContext } from './edit-form-parts.ts';
import { type EditKind, editForm } from './edit-kinds.ts';
import { type EditFormView, untouched } from './edit-pages.tsx';

interface OpenForm {
  readonly kind: EditKind;
  readonly form: EditForm;
  readonly context: EditFormContext;
  /** The live set. */
  readonly base: string | undefined;
}

/** The form of a kind of edit; undefined: there is nothing to edit, or it is not theirs to see. */
export async function openForm(
  deps: PagesDeps,
  kind: EditKind,
  values: Values,
  user: User,
): Promise<OpenForm | undefined> {
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

/**
 * A new limit that is there already: the form to change that one, with the amount and the reason that were typed. The rest
 * stays as it stands, above all the mode, which the form of a new limit only proposes.
 */
export function standingOf({ kind, context, base }: OpenForm, values: Values): EditFormView | undefined {
  const { subject = '', unit, per, amount = '', why = '' } = values;
  if (kind !== 'set' || values.limit !== undefined || (values.each ?? '') !== '') return undefined;
  const limit = context.view?.limits.find(
    (each) =>
      each.byDefault !== true && each.kind === unit && withoutDay(each.id) === `${unit}-${per || 'now'}`,
  );
  if (limit === undefined) return undefined;
  const form = editForm('set', { ...context, limit });
  const note = 'There is such a limit already, so this changes it. Its mode and all else stay as they are.';
  const typed = { ...form.values, amount, why };
  const along = { subject, limit: limit.id, ...asHiddenFields(form.values), base: base ?? '' };
  return untouched('set', { ...form, note }, { ...along, ...typed });
}

/** Original values are kept under these names, so that only changes are sent. */
const WAS = 'was.';

export const asHiddenFields = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${WAS}${name}`, value]));

export const wasOf = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(WAS) ? [[name.slice(WAS.length), value]] : [],
    ),
  );
