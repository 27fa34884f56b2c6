/** What a parser of an unknown value gives back: the model, or every problem found, never only the first. */
export type ParseResult<Value, Problem = string> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Where in a document, and what is wrong there with the remedy. */
export interface DocumentProblem {
  readonly path: DocumentPath;
  readonly message: string;
  /** It is the key that is wrong, not its value. */
  readonly atKey?: boolean;
}

export type DocumentPath = readonly (string | number)[];

const KEY_CHARACTERS_MAX = 60;

/** `rules[2].match.groups[0]`; the document itself is `document`. */
export function documentPathText(path: DocumentPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w-]{1,60}$/.test(step)) text += text === '' ? step : `.${step}`;
    // A key that is no word is set apart, so that it cannot be taken for the rest of the sentence.
    else text += `[${JSON.stringify(step.slice(0, KEY_CHARACTERS_MAX))}]`;
  }
  return text === '' ? 'document' : text;
}

/** `rules[2].mode: 'hard' is not a mode; expected off, shadow, warn or enforce`. */
export const problemText = (problem: DocumentProblem): string =>
  `${documentPathText(problem.path)}: ${problem.message}`;
