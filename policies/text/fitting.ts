import { oneLine, plain, shortened } from './plain-text.ts';

/** Job lists and chat previews show about this much. */
export const HEADLINE_CHARACTERS_MAX = 120;
const LABEL_CHARACTERS_MIN = 12;

/** How much a line says beside its core, usually of an instant: date and clock and how far away, only how far, nothing. */
export type Detail = 'instant' | 'relative' | 'none';

const DETAILS: readonly Detail[] = ['instant', 'relative', 'none'];

/** A first line about a subject. Says as much as fits; at last the name is shortened, because the numbers matter more. */
export function fitted(subjectLabel: string, line: (label: string, detail: Detail) => string): string {
  const label = oneLine(subjectLabel);
  const fitting = DETAILS.map((detail) => line(label, detail)).find(fits);
  if (fitting !== undefined) return fitting;
  const over = line(label, 'none').length - HEADLINE_CHARACTERS_MAX;
  return cut(line(shortened(label, Math.max(LABEL_CHARACTERS_MIN, label.length - over)), 'none'));
}

/** The first that fits; put the one that tells most first. */
export const firstFitting = (...lines: readonly [string, ...string[]]): string =>
  lines.find(fits) ?? cut(lines.at(-1) ?? lines[0]);

/** The end goes if it must. */
export const cut = (line: string): string =>
  plain(fits(line) ? line : `${line.slice(0, HEADLINE_CHARACTERS_MAX - 1)}…`);

const fits = (line: string): boolean => line.length <= HEADLINE_CHARACTERS_MAX;
