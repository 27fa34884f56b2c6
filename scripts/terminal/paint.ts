import { plainLines } from '../../policies/text/plain-text.ts';

/** Colours of results; without a terminal they change nothing. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly strong: (text: string) => string;
}

export const paintWhen = (colours: boolean): Paint => ({
  good: sgr(colours, 32, 39),
  bad: sgr(colours, 31, 39),
  warn: sgr(colours, 33, 39),
  dim: sgr(colours, 2, 22),
  strong: sgr(colours, 1, 22),
});

/** https://no-color.org: set and not empty means none. FORCE_COLOR is what CI systems set for logs that show them. */
export function coloursWanted(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  return isTerminal && env.TERM !== 'dumb';
}

/** Cleans untrusted names, so that a terminal does not interpret them. */
export const printable = (text: string): string => plainLines(text.replaceAll('\t', ' '), '�');

/** The same of a text that we have painted: only our colours stay. */
export const printablePainted = (text: string): string =>
  text
    .split(COLOURS)
    .map((part) => (part.startsWith('\u001b[') ? part : printable(part)))
    .join('');

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const COLOURS = /(\u001b\[[\d;]*m)/g;
const sgr =
  (colours: boolean, on: number, off: number) =>
  (text: string): string =>
    colours && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
