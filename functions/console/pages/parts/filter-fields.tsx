import type { Markup } from './markup.ts';

/** Fields of a form of filters: each stands in its label. */
export const searchField = (label: string, search: string | undefined, placeholder: string): Markup => (
  <label>
    {label}
    <input type="search" name="q" value={search ?? ''} maxlength={200} placeholder={placeholder} />
  </label>
);

export type ChoiceList = readonly (readonly [value: string, text: string])[];

export const choice = (
  label: string,
  name: string,
  chosen: string | undefined,
  choices: ChoiceList,
): Markup => (
  <label>
    {label}
    <select name={name}>
      {choices.map(([value, text]) => (
        <option value={value} selected={value === (chosen ?? '')}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
