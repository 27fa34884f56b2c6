import type { SubjectView } from '../../../answers/groups/model.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import type { Field, Values } from '../parts/form-field.tsx';

export interface EditForm {
  readonly title: string;
  /** Introduction. */
  readonly note?: string;
  /** The limit it is about, to be shown as it stands. */
  readonly standing?: LimitRow;
  readonly fields: readonly Field[];
  /** Behind a fold: rarely wanted. */
  readonly more?: readonly Field[];
  /** Initial values. */
  readonly values: Values;
  /** The one button. */
  readonly submit: string;
}

/** Current state of the form's subject. */
export interface EditFormContext {
  readonly view: SubjectView | undefined;
  readonly limit: LimitRow | undefined;
  /** Today, `2026-11-21`, in the subject's zone. */
  readonly today: string;
}

export const WHY: Field = {
  name: 'why',
  label: 'Why',
  type: 'textarea',
  required: true,
  max: 500,
  hint: 'Shown in the history.',
};

export const MODES_SHOWN = [
  ['enforce', 'enforce: jobs over it are rejected'],
  ['warn', 'warn: the owner is notified, no job is rejected'],
  ['shadow', 'shadow: only recorded'],
  ['off', 'off'],
] as const;
