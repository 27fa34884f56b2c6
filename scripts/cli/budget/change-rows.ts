import type { ChangeRow, Oversubscription } from '../../../functions/answers/limits/edit-models.ts';
import { poolText } from '../../../functions/answers/status/texts.ts';
import { readInstant } from '../../../policies/document/values.ts';
import { edgeText } from '../../../policies/text/edge-text.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable, widthOf } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { wrapped } from '../evaluation/wrapped.ts';
import { shadowCount } from '../report/shadow-words.ts';

/** A screenful; --json has all. */
const ROWS_SHOWN = 40;

/** `loosens  acme/payments  money-month  amount  7.50 EUR → 9.00 EUR`; what is new or gone as a whole is one line. */
export function changeRowsText(
  rows: readonly ChangeRow[],
  currency: string,
  columns: number,
  paint: Paint,
): string {
  const lines = together(rows);
  const shown = lines.slice(0, ROWS_SHOWN).map((line) => {
    const [row] = line;
    return [
      painted(line, paint),
      printable(row.path ?? row.subject),
      printable(row.about === 'limit' ? row.limit : `${row.about} ${row.id ?? row.limit}`),
      row.whole ?? row.field,
      row.whole === undefined ? amountDifferenceText(row, currency) : wholeText(line, currency),
    ];
  });
  const more = lines.length - shown.length;
  // A single row is never cut off: until when a freeze holds stands at the end of its line.
  const only = shown.length === 1 ? (shown[0]?.join('  ') ?? '') : '';
  if (widthOf(only) > columns) return `${wrapped(only, columns, '  ')}\n`;
  const rest = more > 0 ? paint.dim(`… and ${shadowCount(more)} more (--json lists all)\n`) : '';
  return table([{}, {}, {}, {}, {}], shown, columns) + rest;
}

type Line = readonly [ChangeRow, ...ChangeRow[]];

/** Rows of one thing that came or went, which follow each other. */
function together(rows: readonly ChangeRow[]): readonly Line[] {
  const lines: [ChangeRow, ...ChangeRow[]][] = [];
  for (const row of rows) {
    const last = lines.at(-1);
    if (last !== undefined && row.whole !== undefined && nameOf(row) === nameOf(last[0])) last.push(row);
    else lines.push([row]);
  }
  return lines;
}

const nameOf = ({ about, subject, limit, id, whole }: ChangeRow): string =>
  [whole, about, subject, limit, id].join('\n');

/** The strongest of the line. */
function painted(line: Line, paint: Paint): string {
  const has = (effect: ChangeRow['effect']): boolean => line.some((row) => row.effect === effect);
  return has('loosens')
    ? paint.warn('loosens')
    : has('tightens')
      ? paint.good('tightens')
      : paint.dim('changes');
}

/** `7.50 EUR → 9.00 EUR` */
export const amountDifferenceText = (row: ChangeRow, currency: string): string =>
  `${valueText(row.from, row, currency)} → ${valueText(row.to, row, currency)}`;

const wholeText = (line: Line, currency: string): string =>
  line.map((row) => `${row.field} ${valueText(row.to ?? row.from, row, currency)}`).join(', ');

function valueText(value: ChangeRow['from'], row: ChangeRow, currency: string): string {
  const { unit, field, zone = 'UTC' } = row;
  if (value === null) return 'nothing';
  if (typeof value === 'number' && unit !== undefined) return amountText(value, unit, currency);
  const atMs = field === 'from' || field === 'until' ? readInstant(String(value), 'start') : undefined;
  if (atMs !== undefined) return edgeText(atMs, field === 'from' ? 'start' : 'end', zone);
  return printable(String(value));
}

/** Lists limits below the sum of their children; empty if there are none. */
export function oversubscriptionText(all: readonly Oversubscription[], currency: string): string {
  return all
    .slice(0, ROWS_SHOWN)
    .map((pool) => {
      const { path, subject, limit, amount, unit, larger } = pool;
      const sums = poolText(pool, amount, (whole) => amountText(whole, unit, currency));
      const above =
        larger.length === 0 ? '' : `; larger than it, or unlimited: ${larger.map(printable).join(', ')}`;
      return `pool: ${printable(path ?? subject)} ${printable(limit)}: ${sums}${above}\n`;
    })
    .join('');
}
