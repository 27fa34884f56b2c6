import { type Paint, widthOf } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { wrapped } from '../../terminal/wrapped.ts';

/** Less of the last column says nothing. */
const LAST_ROOM = 12;
const INDENT = '  ';

/** A table where the terminal is wide enough for it; else one paragraph a row, its first cells above the others with their titles. */
export function wideOrLong(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
  paint: Paint,
): string {
  const widths = titles.map((title, at) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[at] ?? ''))),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + INDENT.length, 0);
  if (before + Math.min(LAST_ROOM, widths.at(-1) ?? 0) <= columns)
    return table(
      titles.map((title) => ({ title })),
      rows,
      columns,
      paint.dim,
    );
  return rows
    .map((row) => {
      const head = row.slice(0, 2).filter((cell) => cell !== '');
      const rest = titles.flatMap((title, at) => (at < 2 || !row[at] ? [] : [`${title} ${row[at]}`]));
      return `${head.join(INDENT)}\n${wrapped(`${INDENT}${rest.join(', ')}`, columns, INDENT)}\n`;
    })
    .join('');
}
