import type { PlanRow, PlanView } from '../../../answers/plans/model.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { changeTable } from '../parts/change-table.tsx';
import { Card, Crumbs, NotSaved, PostForm, Table } from '../parts/layout.tsx';
import { limitWords } from '../parts/limit-words.ts';
import { pathMarkup } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageCount } from '../parts/page-format.tsx';
import { confirmPart, type ValidPreview } from '../parts/preview-part.tsx';
import { differenceWords, planAmount, planDay } from './plan-words.tsx';

interface AdoptionShown {
  /** With all its rows. */
  readonly view: PlanView;
  readonly preview: ValidPreview;
  readonly unconfirmed?: boolean;
}

/** What adopting a plan does, before it is done. */
export const adoptionPage = (
  user: User,
  { view, preview, unconfirmed }: AdoptionShown,
  telling: PageFormat,
): Markup => {
  const { id, name, from, set, rows } = view;
  const here = `/plans/${encodeURIComponent(id)}`;
  const planned = rows.filter(({ isPlanned }) => isPlanned);
  return (
    <ConsolePage title={`Adopt ${name}`} at="/plans" user={user}>
      <Crumbs>
        <li>
          <a href="/plans">Plans</a>
        </li>
        <li>
          <a href={here}>{name}</a>
        </li>
      </Crumbs>
      <div class="head">
        <div>
          <h1>Adopt {name}</h1>
          <p>
            Not saved yet: {pageCount(planned.length, 'limit')}. Until {planDay(from)} each is as it is today;
            from then on another takes its place.
          </p>
        </div>
      </div>
      {unconfirmed && <NotSaved why="there are large changes that need to be confirmed" />}
      <Card id="differs" title="What changes">
        {plannedTable(planned, telling)}
        <details>
          <summary>Field by field: {pageCount(preview.rows.length, 'difference')}</summary>
          {changeTable(preview.rows, 'Field by field', telling)}
        </details>
      </Card>
      {preview.needsApproval.length > 0 && (
        <div class="note warn">
          <p>
            <strong>Somebody else must approve it:</strong> it ends limits that are in force. If you go on, a
            request is filed; nothing changes until then.
          </p>
        </div>
      )}
      <PostForm user={user} class="card" action={`${here}/adoption`}>
        <input type="hidden" name="set" value={set ?? ''} />
        <div class="field">
          <label for="f-why">Why</label>
          <textarea id="f-why" name="why" rows={2} maxlength={500} required>
            {`Plan ${name}`}
          </textarea>
        </div>
        {confirmPart(preview, telling)}
        <div class="actions">
          <button class="main">Adopt all of it</button>
          <a class="button" href={here}>
            Back to the plan
          </a>
        </div>
      </PostForm>
    </ConsolePage>
  );
};

const ROWS_SHOWN = 200;

const plannedTable = (rows: readonly PlanRow[], telling: PageFormat): Markup => (
  <>
    <Table label="Limits that change" columns={['Limit', ['Today', 'n'], ['Then', 'n'], ['Change', 'n']]}>
      <tbody>
        {rows.slice(0, ROWS_SHOWN).map((row) => (
          <tr>
            <th scope="row" class="path">
              {pathMarkup(row.path)}
              <small class="soft">{limitWords(row)}</small>
            </th>
            <td class="n" data-l="today">
              {planAmount(row.today, row.unit, telling)}
            </td>
            <td class="n" data-l="then">
              <strong>{planAmount(row.planned, row.unit, telling)}</strong>
            </td>
            <td class="n">{differenceWords(row.today, row.planned)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
    {rows.length > ROWS_SHOWN && <p class="soft">and {pageCount(rows.length - ROWS_SHOWN, 'more limit')}</p>}
  </>
);
