import type { LimitRow } from '../../../answers/status/model.ts';
import { limitWords } from '../parts/limit-words.ts';
import { type EditForm, type EditFormContext, WHY } from './edit-form-parts.ts';
import { breakGlassForm, grantForm, rolloutForm } from './exception-forms.ts';
import { changedLimit, newLimit, scaleForm } from './limit-forms.ts';

/** Kinds of edit forms. */
export const EDIT_KINDS = [
  'set',
  'remove',
  'scale',
  'grant',
  'revoke',
  'freeze',
  'unfreeze',
  'breakglass',
  'end-breakglass',
  'review-breakglass',
  'rollout',
] as const;

export type EditKind = (typeof EDIT_KINDS)[number];

export function editForm(kind: EditKind, context: EditFormContext): EditForm {
  const { view, limit } = context;
  const { path = '', currency = '' } = view ?? {};
  switch (kind) {
    case 'set':
      return limit === undefined
        ? newLimit(path, currency, view?.kind !== 'runner-class')
        : changedLimit(limit, path, currency);
    case 'scale':
      return scaleForm(path);
    case 'remove':
      return {
        title: `Remove ${limitName(limit)} of ${path}`,
        fields: [WHY],
        values: {},
        submit: 'See what it does',
      };
    case 'grant':
      return grantForm(context);
    case 'revoke':
      return { title: `Revoke a grant of ${path}`, fields: [WHY], values: {}, submit: 'See what it does' };
    case 'freeze':
      return {
        title: `Freeze ${path}`,
        fields: [
          {
            name: 'reason',
            label: 'Reason',
            required: true,
            max: 200,
            hint: 'Stands on the page of every job it stops.',
            autofocus: true,
          },
          {
            name: 'until',
            label: 'Until',
            type: 'date',
            short: true,
            hint: `The last day, ${view?.zone ?? 'UTC'}. Empty: until it is lifted.`,
          },
          { name: 'owner', label: 'Contact' },
          WHY,
        ],
        values: {},
        submit: 'See what it does',
      };
    case 'unfreeze':
      return { title: `Lift the freeze of ${path}`, fields: [WHY], values: {}, submit: 'See what it does' };
    case 'breakglass':
      return breakGlassForm(context);
    case 'end-breakglass':
      return { title: 'End this break-glass', fields: [WHY], values: {}, submit: 'See what it does' };
    case 'review-breakglass':
      return {
        title: 'Review this break-glass',
        fields: [
          {
            name: 'note',
            label: 'Findings',
            type: 'textarea',
            required: true,
            max: 500,
            hint: 'Was it used for its purpose? Shown with it from now on.',
            autofocus: true,
          },
        ],
        values: {},
        submit: 'See what it does',
      };
    case 'rollout':
      return rolloutForm(context);
  }
}

const limitName = (limit: LimitRow | undefined): string =>
  limit === undefined ? 'the limit' : limitWords(limit);
