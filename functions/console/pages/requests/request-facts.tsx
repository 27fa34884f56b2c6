import { readInstant } from '../../../../policies/document/values.ts';
import { type Edge, edgeText } from '../../../../policies/text/edge-text.ts';
import { unitRow } from '../../../../policies/units/unit.ts';
import type { RequestRow } from '../../../answers/limits/edit-models.ts';
import { fieldText } from '../parts/change-table.tsx';
import { Fact } from '../parts/layout.tsx';
import { leftText, limitAmountWords, limitWords } from '../parts/limit-words.ts';
import { outside } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { instant, type PageFormat, pageCount } from '../parts/page-format.tsx';

/** `+200 EUR`, or of an edit `money-month: 300.00 EUR → 900.00 EUR`. */
export function wantedText({ amount, edit, limitNow }: RequestRow, telling: PageFormat): string {
  if (edit === undefined)
    return `+${String(amount).replace(/^\+/, '')}${limitNow !== undefined && unitRow(limitNow.unit).inCurrency ? ` ${telling.currency}` : ''}`;
  const row = edit.rows.find(({ field }) => field === 'amount') ?? edit.rows[0];
  if (row === undefined) return pageCount(edit.count, 'difference');
  const more = edit.count > 1 ? ` and ${edit.count - 1} more` : '';
  const what = row.field === 'amount' ? row.limit : `${row.limit} ${row.field}`;
  const [from, to] = [row.from, row.to].map((value) => fieldText(value, row.unit, telling));
  return `${what}: ${from} → ${to}${more}`;
}

/** Why, for when, and how the limit stands. */
export const requestFacts = (row: RequestRow, telling: PageFormat): Markup => {
  const { reason, limit, limitNow, ticket, link, expiresAtMs } = row;
  return (
    <>
      <p>{reason}</p>
      <dl class="facts">
        {row.from !== undefined && <Fact name="Counts">{spanText(row)}</Fact>}
        <Fact name="Limit">
          {limitNow === undefined ? (
            <code>{limit}</code>
          ) : (
            <>
              {limitWords(limitNow)}: {leftText(limitNow, telling)}
              {(limitNow.left ?? 0) < 0 ? '' : ' left'} of {limitAmountWords(limitNow, telling)}
            </>
          )}
        </Fact>
        <Fact name="Ticket">{ticket}</Fact>
        {link !== undefined && <Fact name="From">{outside(link, link)}</Fact>}
        <Fact name="Waits until">{instant(expiresAtMs, telling)}</Fact>
      </dl>
    </>
  );
};

/** In the limit's zone, which is what its days are meant in; as it was written where the limit is gone. */
function spanText({ from = '', until = '', limitNow }: RequestRow): string {
  const said = (written: string, which: Edge): string => {
    const zone = limitNow?.zone;
    const atMs = zone === undefined ? undefined : readInstant(written, which, zone);
    return zone === undefined || atMs === undefined ? written : edgeText(atMs, which, zone);
  };
  // Both edges are of one zone, which the second names.
  const begins = said(from, 'start').replace(` ${limitNow?.zone}`, '');
  return `${begins} to ${said(until, 'end')}`;
}
