import type { Values } from '../parts/form-field.tsx';
import { editForm } from './edit-kinds.ts';
import { type FormShown, untouched } from './edit-pages.tsx';
import type { Opened } from './open-form.ts';
import { asWas } from './was.ts';

/**
 * A new limit that is there already: the form to change that one, with the amount and the reason that were typed. The rest
 * stays as it stands, above all the mode, which the form of a new limit only proposes.
 */
export function standingOf({ kind, context, base }: Opened, values: Values): FormShown | undefined {
  const { subject = '', unit, per, amount = '', why = '' } = values;
  if (kind !== 'set' || values.limit !== undefined) return undefined;
  const limit = context.view?.limits.find(
    (each) => each.byDefault !== true && each.kind === unit && each.id === `${unit}-${per || 'now'}`,
  );
  if (limit === undefined) return undefined;
  const form = editForm('set', { ...context, limit });
  const note = 'There is such a limit already, so this changes it. Its mode and all else stay as they are.';
  const typed = { ...form.values, amount, why };
  const along = { subject, limit: limit.id, ...asWas(form.values), base: base ?? '' };
  return untouched('set', { ...form, note }, { ...along, ...typed });
}
