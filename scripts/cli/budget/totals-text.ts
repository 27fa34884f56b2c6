import type { WrittenTotal } from '../../../functions/answers/limits/edit-models.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { shadowCount } from '../report/shadow-words.ts';

/** Counts of an import. */
interface ImportFigures {
  readonly rowsRead: number;
  /** Interpretations of the file, if its format varies. */
  readonly notes: readonly string[];
  /** Limits the file does not name. */
  readonly unnamed: readonly { readonly subject: string; readonly limit: string }[];
  /** They are taken out. */
  readonly pruned: boolean;
}

const NOTES_SHOWN = 20;

const right = { align: 'right' } as const;
const amounts = { align: 'right', even: true } as const;

/** The check sums: who sums the column of the spreadsheet must find them again. */
export function totalsText(
  totals: readonly WrittenTotal[],
  { rowsRead, notes, unnamed, pruned }: ImportFigures,
  currency: string,
  columns: number,
  paint: Paint,
): string {
  const told = totals.map(({ kind, per, unit, since, zone, before, after }) => {
    const text = (total: WrittenTotal['before']): string => amountText(Number(total.amount), unit, currency);
    const difference = BigInt(after.amount) - BigInt(before.amount);
    const sign = difference > 0n ? '+' : '';
    return [
      per === null ? kind : `${kind} per ${per}`,
      since === null ? 'now' : `from ${instantText(Date.parse(since), zone ?? 'UTC')}`,
      shadowCount(before.limits),
      text(before),
      shadowCount(after.limits),
      text(after),
      difference === 0n ? '' : `${sign}${amountText(Number(difference), unit, currency)}`,
      after.unlimited === 0 ? '' : shadowCount(after.unlimited),
    ];
  });
  const titles = [
    { title: 'totals' },
    { title: 'in force' },
    { title: 'limits', ...right },
    { title: 'live now', ...amounts },
    { title: 'limits', ...right },
    { title: 'would be', ...amounts },
    { title: 'change', ...amounts },
    { title: 'unlimited', ...right },
  ];
  const notNamed =
    unnamed.length === 0
      ? ''
      : `${shadowCount(unnamed.length)} limits are not in the file and ${pruned ? paint.warn('are taken out') : 'stay (--prune takes them out)'}\n`;
  const understood = notes.slice(0, NOTES_SHOWN).map((note) => `${printable(note)}\n`);
  const more = notes.length - understood.length;
  const rest = more > 0 ? `… and ${shadowCount(more)} more (--json lists all)\n` : '';
  return `${shadowCount(rowsRead)} rows read\n${understood.join('')}${rest}${notNamed}${table(titles, told, columns, paint.dim)}\n`;
}
