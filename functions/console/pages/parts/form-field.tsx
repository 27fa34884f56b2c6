import type { Markup } from './layout.tsx';

/** Values of a form, by name, trimmed. */
export type Values = Readonly<Record<string, string>>;

/** Problems, by field name. */
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
  const ties = {
    id: `f-${name}`,
    name,
    required: isHeldBack,
    'aria-describedby': told.length > 0 ? told.join(' ') : undefined,
    'aria-invalid': problem === undefined ? undefined : ('true' as const),
    autofocus: spec.autofocus,
  };
  return (
    <div class="field">
      <label for={`f-${name}`}>
        {label}
        {required !== true && (
          <>
            {' '}
            <small class="soft">optional</small>
          </>
        )}
      </label>
      {control(spec, values[name] ?? '', ties)}
      {hint !== undefined && (
        <small class="soft" id={`${name}-hint`}>
          {hint}
        </small>
      )}
      {problem !== undefined && (
        <strong class="problem" id={`${name}-problem`}>
          {problem}
        </strong>
      )}
    </div>
  );
}

function control(spec: Field, value: string, ties: object): Markup {
  const { type = 'text', options, max = 200, short } = spec;
  if (options !== undefined)
    return (
      <select {...ties}>
        {options.map(([each, text]) => (
          <option value={each} selected={each === value}>
            {text}
          </option>
        ))}
      </select>
    );
  if (type === 'textarea')
    return (
      <textarea {...ties} rows={2} maxlength={max}>
        {value}
      </textarea>
    );
  return (
    <input
      {...ties}
      type={type}
      value={value}
      maxlength={max}
      class={short ? 'short' : undefined}
      autocomplete="off"
    />
  );
}

/** List of all problems at the top of a refused form, also those without a field. */
export function problemList(
  problems: FieldProblems,
  others: readonly string[],
  labels: ReadonlyMap<string, string>,
): Markup | '' {
  if (problems.size + others.length === 0) return '';
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>Not saved.</strong> Please look at this again:
      </p>
      <ul>
        {[...problems].map(([name, text]) => (
          <li>
            <a href={`#f-${name}`}>{labels.get(name) ?? name}</a>: {text}
          </li>
        ))}
        {others.map((text) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  );
}

export const hiddenFields = (values: Values): Markup[] =>
  Object.entries(values).map(([name, value]) => <input type="hidden" name={name} value={value} />);
