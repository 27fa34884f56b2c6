import type { LimitRow } from '../../../answers/standing/model.ts';
import type { SubjectView } from '../../../answers/subject/model.ts';
import type { Field, Values } from '../parts/form-field.tsx';

export interface EditForm {
  readonly title: string;
  /** What to know before one begins. */
  readonly note?: string;
  /** The limit it is about, to be shown as it stands. */
  readonly standing?: LimitRow;
  readonly fields: readonly Field[];
  /** Behind a fold: rarely wanted. */
  readonly more?: readonly Field[];
  /** What the form shows first. */
  readonly values: Values;
  /** The one button. */
  readonly submit: string;
}

/** What the form is about, as it stands. */
export interface EditFormContext {
  readonly view: SubjectView | undefined;
  readonly limit: LimitRow | undefined;
  /** Today, `2026-11-21`, in the zone of what is edited. */
  readonly today: string;
}

export const WHY: Field = {
  name: 'why',
  label: 'Why',
  type: 'textarea',
  required: true,
  max: 500,
  hint: 'Stands in the history, for everybody who wonders later.',
};

export const MODES_SHOWN = [
  ['enforce', 'enforce: jobs over it are rejected'],
  ['warn', 'warn: the owner is told, no job is rejected'],
  ['shadow', 'shadow: only recorded'],
  ['off', 'off'],
] as const;
