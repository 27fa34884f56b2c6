import type { BacktestAnswer, EditEffect, PreviewAnswer } from '../../../answers/limits/edit-models.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import { poolText } from '../../../answers/status/texts.ts';
import type { HistoryPage, LogEntry, Oversubscription } from '../../../core/limits/edit-model.ts';
import type { ChangeRow } from '../../../core/limits/limit-changes.ts';
import {
  distance,
  leftText,
  limitAmountWords,
  limitWords,
  type PageFormat,
  pageAmount,
  pageCount,
  runsOut,
  shortInstant,
} from './amounts.tsx';
import { backtestPart } from './backtest-part.tsx';
import { address, Card, type Markup, Table } from './layout.tsx';
import { changeLines, changeTable, fieldText } from './tables.tsx';

export type ValidPreview = Extract<PreviewAnswer, { outcome: 'valid' }>;

/** Preview: changes, new run-out dates, jobs that would fail, pools. @param exact - the finished count */
export const previewPart = (preview: ValidPreview, telling: PageFormat, exact?: BacktestAnswer): Markup => (
  <>
    <Card
      id="differs"
      title={
        <>
          Changes<small class="soft">{pageCount(preview.rows.length, 'difference')}</small>
        </>
      }
    >
      {sumOfAmounts(preview.rows, telling)}
      {changeTable(preview.rows, 'Changes', telling)}
    </Card>
    {preview.effects.length > 0 && (
      <Card id="effects" title="Effect">
        {effectTable(preview.effects, telling)}
      </Card>
    )}
    {preview.rows.length > 0 && backtestPart(exact)}
    {preview.oversubscription.length > 0 && (
      <div class="note warn">
        <p>
          <strong>Given more than once.</strong> Allowed. The groups then share the rest: first come, first
          served.
        </p>
        <ul>
          {preview.oversubscription.slice(0, POOLS_SHOWN).map((pool) => (
            <li>{poolLine(pool, telling)}</li>
          ))}
        </ul>
      </div>
    )}
    {preview.needsApproval.length > 0 && (
      <div class="note warn">
        <p>
          <strong>Another user must approve this:</strong> it lets jobs go more than half as far again as they
          could in the last thirty days. If you go on, a request is filed; nothing changes until then.
        </p>
      </div>
    )}
  </>
);

const POOLS_SHOWN = 10;

/** Sum of several amounts of one unit, before and after. */
function sumOfAmounts(rows: readonly ChangeRow[], telling: PageFormat): Markup | '' {
  const amounts = rows.filter(({ about, field }) => about === 'limit' && field === 'amount');
  const [first] = amounts;
  const unit = first?.unit;
  const sum = (side: 'from' | 'to'): number => amounts.reduce((all, row) => all + Number(row[side]), 0);
  const areLike = amounts.every((row) => row.unit === unit && [row.from, row.to].every(isNumber));
  if (amounts.length < 2 || unit === undefined || !areLike) return '';
  return (
    <p>
      {pageCount(amounts.length, 'limit')}, together {pageAmount(sum('from'), unit, telling)} →{' '}
      <strong>{pageAmount(sum('to'), unit, telling)}</strong>
    </p>
  );
}

const isNumber = (value: ChangeRow['from']): boolean => typeof value === 'number';

/** Facts to confirm, with a checkbox. */
export function confirmPart(
  { needsConfirmation, lockout }: Pick<ValidPreview, 'needsConfirmation' | 'lockout'>,
  telling: PageFormat,
): Markup | '' {
  if (needsConfirmation.length + lockout.length === 0) return '';
  const milder = needsConfirmation.filter(({ field }) => field === 'mode');
  const jumps = needsConfirmation.filter(({ field }) => field !== 'mode');
  return (
    <fieldset>
      <legend>Please confirm</legend>
      {milder.length > 0 && (
        <>
          <p>
            <strong class="warn-text">Jobs pass that are rejected now.</strong> The mode becomes milder:
          </p>
          {rowList(milder, telling)}
        </>
      )}
      {jumps.length > 0 && (
        <>
          <p>
            <strong class="warn-text">More than three times as much, or less than a third.</strong> A slip of
            the finger looks like this:
          </p>
          {rowList(jumps, telling)}
        </>
      )}
      {lockout.length > 0 && (
        <>
          <p>
            <strong class="bad-text">Jobs of the platform team would be rejected:</strong>
          </p>
          <ul>
            {lockout.slice(0, POOLS_SHOWN).map((text) => (
              <li>{text}</li>
            ))}
          </ul>
        </>
      )}
      <label class="check">
        <input type="checkbox" name="confirmed" value="yes" required />
        Yes, that is what I mean
      </label>
    </fieldset>
  );
}

const rowList = (rows: readonly ChangeRow[], telling: PageFormat): Markup => (
  <ul>
    {rows.slice(0, POOLS_SHOWN).map((row) => (
      <li>
        {row.path ?? row.subject} <code>{row.limit}</code>: {fieldText(row.from, row.unit, telling)} →{' '}
        <strong>{fieldText(row.to, row.unit, telling)}</strong>
      </li>
    ))}
    {rows.length > POOLS_SHOWN && <li>and {(rows.length - POOLS_SHOWN).toLocaleString('en-US')} more</li>}
  </ul>
);

function effectTable(effects: readonly EditEffect[], telling: PageFormat): Markup {
  return (
    <Table
      label="Effect"
      caption="Limits before and after"
      columns={['Limit', 'When', ['Amount', 'n'], ['Left', 'n'], 'Runs out']}
    >
      {effects.map((effect) => effectLines(effect, telling))}
    </Table>
  );
}

function effectLines({ path, limit, before, after }: EditEffect, telling: PageFormat): Markup {
  const known = after ?? before;
  const name = known === undefined ? limit : limitWords(known);
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" rowspan={2} class="path">
          {path}
          <small class="soft">{name}</small>
        </th>
        {cells('now', before, telling)}
      </tr>
      <tr>{cells('then', after, telling)}</tr>
    </tbody>
  );
}

const cells = (when: string, row: EditEffect['before'], telling: PageFormat): Markup =>
  row === undefined ? (
    <>
      <td>{when}</td>
      <td class="n soft">none</td>
      <td class="n">–</td>
      <td>–</td>
    </>
  ) : (
    <>
      <td>{when}</td>
      <td class="n">{limitAmountWords(row, telling)}</td>
      <td
        class={`n${(row.left ?? 0) < 0 ? ' bad-text' : ''}`}
        data-l={row.left !== undefined && row.left >= 0 ? 'left' : undefined}
      >
        {leftText(row, telling)}
      </td>
      <td data-l={hasDate(row) ? 'runs out' : undefined}>
        {row.per === undefined || row.amount === 'unlimited' ? '–' : runsOut(row, telling.nowMs)}
      </td>
    </>
  );

/** `in 5 days` needs the heading of its column where the table is stacked; `lasts` does not. */
const hasDate = ({ forecast }: LimitRow): boolean =>
  forecast?.outcome === 'runs_out' && forecast.atMs !== undefined;

const poolLine = (pool: Oversubscription, telling: PageFormat): Markup => (
  <>
    {pool.path ?? pool.subject} <code>{pool.limit}</code>:{' '}
    {poolText(pool, pool.amount, (whole) => pageAmount(whole, pool.unit, telling))}
    {pool.larger.length > 0 && <>; larger than the pool, or unlimited: {pool.larger.join(', ')}</>}
  </>
);

const ROWS_SHOWN = 6;

/** History of changes with author and reason; newest first. */
export function historyPart(history: HistoryPage, subject: string | undefined, telling: PageFormat): Markup {
  if (history.entries.length === 0 && history.next === undefined)
    return <p class="soft">Nothing was changed yet.</p>;
  return (
    <>
      <ol class="timeline">{history.entries.map((entry) => line(entry, telling))}</ol>
      {history.next !== undefined && (
        <p>
          <a href={address('/history', { subject, before: history.next })}>Earlier changes</a>
        </p>
      )}
    </>
  );
}

const line = (entry: LogEntry, telling: PageFormat): Markup => (
  <li>
    <strong>{entry.why}</strong>
    <p class="soft">
      {entry.actor} via {entry.source}, {shortInstant(entry.atMs, telling)} (
      {distance(entry.atMs, telling.nowMs)}), <a href={editHref(entry)}>edit {entry.edit}</a>
    </p>
    {entry.rows !== undefined ? (
      changeLines(entry.rows, telling, { max: ROWS_SHOWN, moreHref: editHref(entry) })
    ) : entry.count === 0 ? (
      <p class="soft">Its changes are unknown.</p>
    ) : (
      <p>
        <a href={editHref(entry)}>{pageCount(entry.count, 'difference')}</a>
      </p>
    )}
  </li>
);

const editHref = ({ edit }: LogEntry): string => `/history/${edit}`;
