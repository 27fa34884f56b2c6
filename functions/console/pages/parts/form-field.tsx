import { type Markup, Note, soft } from './layout.tsx';

export type Values = Readonly<Record<string, string>>;

export type FieldProblems = ReadonlyMap<string, string>;
export const NO_PROBLEMS: FieldProblems = new Map();

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: Markup | string | undefined;
  readonly type?: 'text' | 'date' | 'number' | 'url' | 'textarea';
  /** For a choice: one of its options is always chosen, even if it is the empty one. */
  readonly required?: boolean;
  readonly max?: number;
  readonly options?: readonly (readonly [string, string])[];
  readonly short?: boolean | undefined;
  readonly autofocus?: boolean;
}

export const WHY = {
  ...{ name: 'why', label: 'Reason for the change', hint: 'Shown in the history.' },
  ...{ type: 'textarea', required: true, max: 500 },
} as const satisfies Field;

export function field(spec: Field, values: Values, problems: FieldProblems = NO_PROBLEMS): Markup {
  const { name, label, hint, required } = spec;
  const problem = problems.get(name);
  const ids = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ');
  // An empty value that is on offer is an answer; a browser would hold a required choice back until it is another.
  const isHeldBack = required && !spec.options?.some(([value]) => value === '');
  const ties = {
    ...{ id: `f-${name}`, name, required: isHeldBack, autofocus: spec.autofocus },
    'aria-describedby': ids || undefined,
    'aria-invalid': problem === undefined ? undefined : ('true' as const),
  };
  return (
    <div class="field">
      <label for={`f-${name}`}>
        {label} {required !== true && soft('optional')}
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

function control({ type = 'text', options, max = 200, short }: Field, value: string, ties: object): Markup {
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
  const style = short ? 'short' : undefined;
  return <input {...ties} type={type} value={value} maxlength={max} class={style} autocomplete="off" />;
}

export function problemList(
  problems: FieldProblems,
  others: readonly string[],
  fields: readonly Field[],
): Markup | '' {
  if (problems.size + others.length === 0) return '';
  const labelOf = (name: string): string => fields.find((each) => each.name === name)?.label ?? name;
  return (
    <Note
      tone="bad"
      role="alert"
      lines={[
        ...[...problems].map(([name, text]) => (
          <>
            <a href={`#f-${name}`}>{labelOf(name)}</a>: {text}
          </>
        )),
        ...others,
      ]}
    >
      <strong>Not saved.</strong> Correct these fields:
    </Note>
  );
}

export const hiddenFields = (values: Values): Markup[] =>
  Object.entries(values).map(([name, value]) => <input type="hidden" name={name} value={value} />);
