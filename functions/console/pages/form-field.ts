import { html } from 'hono/html';
import type { Markup } from './markup.ts';

/** What a form was sent with, or shall show: by name, trimmed. */
export type Values = Readonly<Record<string, string>>;

/** What is wrong, by the field's name. */
export type FieldProblems = ReadonlyMap<string, string>;

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: Markup | string;
  readonly type?: 'text' | 'date' | 'number' | 'url' | 'textarea';
  /** For a choice: one of its options is always chosen, even if it is the empty one. */
  readonly required?: boolean;
  readonly max?: number;
  /** Value and text; makes it a choice. */
  readonly options?: readonly (readonly [string, string])[];
  readonly short?: boolean;
  readonly autofocus?: boolean;
}

/** A label, the field, what it wants and what is wrong with it; all tied together for those who hear the page. */
export function field(spec: Field, values: Values, problems: FieldProblems): Markup {
  const { name, label, hint, required } = spec;
  const problem = problems.get(name);
  const told = [
    hint === undefined ? '' : `${name}-hint`,
    problem === undefined ? '' : `${name}-problem`,
  ].filter(Boolean);
  // An empty value that is on offer is an answer; a browser would hold a required choice back until it is another.
  const isHeldBack = required && !spec.options?.some(([value]) => value === '');
  const ties = html` id="f-${name}" name="${name}"${isHeldBack && html` required`}${told.length > 0 && html` aria-describedby="${told.join(' ')}"`}${problem !== undefined && html` aria-invalid="true"`}${spec.autofocus && html` autofocus`}`;
  return html`<div class="field"><label for="f-${name}">${label}${required !== true && html` <small class="soft">optional</small>`}</label>${control(spec, values[name] ?? '', ties)}${
    hint !== undefined && html`<small class="soft" id="${name}-hint">${hint}</small>`
  }${problem !== undefined && html`<strong class="problem" id="${name}-problem">${problem}</strong>`}</div>`;
}

function control(spec: Field, value: string, ties: Markup): Markup {
  const { type = 'text', options, max = 200, short } = spec;
  if (options !== undefined)
    return html`<select${ties}>${options.map(
      ([each, text]) => html`<option value="${each}"${each === value && html` selected`}>${text}</option>`,
    )}</select>`;
  if (type === 'textarea') return html`<textarea${ties} rows="2" maxlength="${max}">${value}</textarea>`;
  return html`<input${ties} type="${type}" value="${value}" maxlength="${max}"${short && html` class="short"`} autocomplete="off">`;
}

/** At the top of a form that was not accepted: everything at once, also what belongs to no field. */
export function problemList(
  problems: FieldProblems,
  others: readonly string[],
  labels: ReadonlyMap<string, string>,
): Markup | '' {
  if (problems.size + others.length === 0) return '';
  return html`<div class="note bad" role="alert"><p><strong>Not saved.</strong> Please look at this again:</p><ul>${[
    ...problems,
  ].map(
    ([name, text]) => html`<li><a href="#f-${name}">${labels.get(name) ?? name}</a>: ${text}</li>`,
  )}${others.map((text) => html`<li>${text}</li>`)}</ul></div>`;
}

export const hiddenFields = (values: Values): Markup[] =>
  Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
