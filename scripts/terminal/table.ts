import stringWidth from 'string-width';
import { plainLines } from '../../policies/text/plain-text.ts';
import type { TerminalIo } from './command.ts';

interface TerminalColumn {
  /** Above the column. Either all columns have one, or none has. */
  readonly title?: string;
  readonly align?: 'left' | 'right';
  /** Aligns amounts to the same number of decimals, `2.500` above `0.125`. */
  readonly even?: true;
}

export const right = (title: string): TerminalColumn => ({ title, align: 'right' });
export const amounts = (title: string): TerminalColumn => ({ title, align: 'right', even: true });

const GAP = '  ';
/** Narrower than this a terminal wraps the text itself better than we cut it. */
const COLUMNS_MIN = 40;

/** Aligned rows. A column may be its title alone. The last one is cut to the width; `Number.POSITIVE_INFINITY` for files. */
export function table(
  titled: Titles,
  rows: Rows,
  width: number,
  paintTitle: (text: string) => string = (text) => text,
): string {
  const columns = titled.map((each): TerminalColumn => (typeof each === 'string' ? { title: each } : each));
  const hasTitles = columns.some(({ title }) => title !== undefined);
  const shown = evenDecimals(
    rows.map((row) => row.map(printablePainted)),
    columns,
  );
  const lines = hasTitles ? [columns.map(({ title }) => paintTitle(title ?? '')), ...shown] : shown;
  const widths = columns.map((_, index) =>
    Math.max(0, ...lines.map((line) => stringWidth(line[index] ?? ''))),
  );
  return lines.map((line) => `${rowText(line, columns, widths, width)}\n`).join('');
}

function evenDecimals(rows: readonly (readonly string[])[], columns: readonly TerminalColumn[]) {
  const places = columns.map(({ even }, index) =>
    even ? Math.max(0, ...rows.map((row) => findDecimals(row[index] ?? '').length)) : 0,
  );
  return rows.map((row) =>
    row.map((cell, index) => {
      const decimals = findDecimals(cell);
      const wanted = places[index] ?? 0;
      return decimals === '' || decimals.length === wanted
        ? cell
        : cell.replace(`.${decimals}`, `.${decimals.padEnd(wanted, '0')}`);
    }),
  );
}

const findDecimals = (cell: string): string =>
  cell.split('.').length === 2 ? (/\d\.(\d+)/.exec(cell)?.[1] ?? '') : '';

function rowText(
  row: readonly string[],
  columns: readonly TerminalColumn[],
  widths: readonly number[],
  width: number,
): string {
  const before = columns
    .slice(0, -1)
    .map((column, index) => padded(row[index] ?? '', widths[index] ?? 0, column.align));
  const last = columns.length - 1;
  const used = before.reduce((sum, cell) => sum + stringWidth(cell) + GAP.length, 0);
  const room = Math.max(Math.max(width, COLUMNS_MIN) - used, 8);
  const text = row[last] ?? '';
  const shown =
    columns[last]?.align === 'right' ? padded(text, widths[last] ?? 0, 'right') : cutToColumns(text, room);
  return [...before, shown].join(GAP).trimEnd();
}

function padded(text: string, width: number, align: TerminalColumn['align']): string {
  const fill = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return align === 'right' ? `${fill}${text}` : `${text}${fill}`;
}

/** A text with colours is left whole: cutting it could leave the terminal painted. */
export function cutToColumns(text: string, columns: number): string {
  if (stringWidth(text) <= columns || text.includes('\u001b')) return text;
  let cut = '';
  for (const character of text) {
    if (stringWidth(cut + character) > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/** Breaks a text between words; lines after the first are indented. A word longer than a line is left whole. */
export function wrapped(text: string, columns: number, indent = ''): string {
  const words = text.split(/(?<=\S) +/);
  const lines: string[] = [];
  let line = words[0] ?? '';
  for (const word of words.slice(1)) {
    if (stringWidth(line) + 1 + stringWidth(word) <= columns) line = `${line} ${word}`;
    else {
      lines.push(line);
      line = `${indent}${word}`;
    }
  }
  return [...lines, line].join('\n');
}

/** Lines, each with its break. Those that are absent or empty are left out. */
export const textLines = (lines: readonly (string | false | undefined)[]): string =>
  lines.map((line) => (line ? `${line}\n` : '')).join('');

type Titles = readonly (string | TerminalColumn)[];
type Rows = readonly (readonly string[])[];

export type Screen = ReturnType<typeof screenOf>;

/** Colours and tables of one terminal, of its width. */
export function screenOf({ colours, columns }: Pick<TerminalIo, 'colours' | 'columns'>) {
  const paint = paintWhen(colours);
  const titled = (titles: Titles, rows: Rows): string => table(titles, rows, columns, paint.dim);
  return {
    ...paint,
    columns,
    table: titled,
    /** The first rows, a screen or two, with a line about the others. @param all - says how to see them */
    firstRows: (titles: Titles, rows: Rows, { max = 40, all = '--json' } = {}): string => {
      const more = rows.length - max;
      const rest = more > 0 ? paint.dim(`… and ${more} more: ${all} has them all\n`) : '';
      return `${titled(titles, rows.slice(0, max))}${rest}`;
    },
  };
}

export type Paint = ReturnType<typeof paintWhen>;

export const paintWhen = (colours: boolean) => ({
  good: sgr(colours, 32, 39),
  bad: sgr(colours, 31, 39),
  warn: sgr(colours, 33, 39),
  dim: sgr(colours, 2, 22),
  strong: sgr(colours, 1, 22),
});

/** https://no-color.org: set and not empty means none. FORCE_COLOR is what CI systems set for logs that show them. */
export function coloursWanted(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>) {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  return isTerminal && env.TERM !== 'dumb';
}

/** Cleans untrusted names, so that a terminal does not interpret them. */
export const printable = (text: string): string => plainLines(text.replaceAll('\t', ' '), '�');

/** The same of a text that we have painted: only our colours stay. */
const printablePainted = (text: string): string =>
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
