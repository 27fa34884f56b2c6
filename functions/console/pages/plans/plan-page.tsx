import type { PlanView } from '../../../answers/plans/model.ts';
import { type CsvProblem, csvProblemText, SCALED_KINDS } from '../../../core/limits/index.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { type Field, field, type Values } from '../parts/form-field.tsx';
import { Card, Crumbs, Done, PageLinks, PostForm, Table } from '../parts/layout.tsx';
import { limitWords } from '../parts/limit-words.ts';
import { address } from '../parts/links.tsx';
import type { Markup } from '../parts/markup.ts';
import { type PageFormat, pageAmount, pageCount } from '../parts/page-format.tsx';
import { planTable } from './plan-table.tsx';
import { differenceWords, planDay, stateTag } from './plan-words.tsx';

interface PlanShown {
  readonly view: PlanView;
  /** Where the page begins in the list. */
  readonly start: number;
  /** What was typed and could not be read. */
  readonly values: Values;
  readonly problems: readonly CsvProblem[];
  readonly done?: string | undefined;
}

/** One plan beside a year of use, the forecast and what is in force. */
export function planPage(user: User, shown: PlanShown, telling: PageFormat): Markup {
  const { view, problems, done } = shown;
  const here = `/plans/${encodeURIComponent(view.id)}`;
  const isOpen = view.state !== 'over';
  return (
    <ConsolePage title={view.name} at="/plans" user={user}>
      <Crumbs>
        <li>
          <a href="/plans">Plans</a>
        </li>
      </Crumbs>
      <div class="head">
        <div>
          <h1>{view.name}</h1>
          <p>
            From {planDay(view.from)} on · {stateTag(view.state)}
          </p>
        </div>
        <div class="actions">
          {isOpen && view.state !== 'adopted' && view.amounts > 0 && (
            <a class="button main" href={`${here}/adoption`}>
              Adopt it
            </a>
          )}
        </div>
      </div>
      <Done text={done} />
      {notes(view)}
      {badNote(
        'Nothing was written into the plan:',
        problems.map((problem) => (problem.line === 0 ? problem.message : csvProblemText(problem))),
      )}
      <Card id="totals" title="Totals">
        {totalsTable(view, telling)}
      </Card>
      <Card id="limits" title={<>{pageCount(view.total, 'limit')} of that day</>}>
        {view.total === 0 ? (
          <p>No budget has a period that begins on that day.</p>
        ) : (
          <PostForm user={user} action={address(here, { cursor: shown.start > 0 ? shown.start : undefined })}>
            {planTable(view, shown.values, isOpen, telling)}
            {isOpen && (
              <>
                <p class="soft">
                  An amount, or a share of what is in force such as +8 %. Left empty, a limit stays as it is.
                  Use is that of whole periods in the year before; the forecast is of the first period from
                  that day on.
                </p>
                <button class="main" name="step" value="save">
                  Write into the plan
                </button>
              </>
            )}
          </PostForm>
        )}
        {pages(view, shown.start, here)}
      </Card>
      {isOpen && view.total > 0 && (
        <div class="two">
          {shareCard(user, here, shown.values)}
          {fileCard(user, here)}
        </div>
      )}
      <PostForm user={user} action={here}>
        <button class="danger" name="step" value="discard">
          Discard the plan
        </button>
      </PostForm>
    </ConsolePage>
  );
}

const PROBLEMS_SHOWN = 20;

const badNote = (title: string, problems: readonly string[]): Markup | '' =>
  problems.length === 0 ? (
    ''
  ) : (
    <div class="note bad" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      <ul>
        {problems.slice(0, PROBLEMS_SHOWN).map((problem) => (
          <li>{problem}</li>
        ))}
      </ul>
    </div>
  );

function notes({ gone, problems, state, request }: PlanView): Markup {
  return (
    <>
      {state === 'asked' && request !== undefined && (
        <div class="note warn">
          <p>
            <a href={`/requests/${encodeURIComponent(request)}`}>A request</a> waits for somebody else to
            approve it. What is written into the plan from now on is not in it.
          </p>
        </div>
      )}
      {badNote('It does not fit the limits as they are by now:', problems)}
      {gone.length > 0 && (
        <div class="note warn">
          <p>
            Planned for limits that are none of that day any more, and left out:{' '}
            {gone
              .slice(0, PROBLEMS_SHOWN)
              .map(({ path, limit }) => `${path} ${limit}`)
              .join(', ')}
            .
          </p>
        </div>
      )}
    </>
  );
}

const totalsTable = ({ totals }: PlanView, telling: PageFormat): Markup => (
  <>
    <Table
      label="Totals"
      caption="All limits of a kind and period, parents and children alike"
      columns={['Limits', ['Count', 'n'], ['Today', 'n'], ['Planned', 'n'], ['Difference', 'n']]}
    >
      <tbody>
        {totals.map((total) => {
          const [today, planned] = [Number(total.today), Number(total.planned)];
          const difference = planned - today;
          return (
            <tr>
              <th scope="row">{limitWords(total)}</th>
              <td class="n">{pageCount(total.limits, 'limit')}</td>
              <td class="n" data-l="today">
                {pageAmount(today, total.unit, telling)}
              </td>
              <td class="n" data-l="planned">
                <strong>{pageAmount(planned, total.unit, telling)}</strong>
              </td>
              <td class="n" data-l="difference">
                {difference === 0 ? (
                  'none'
                ) : (
                  <>
                    {difference < 0 ? '−' : '+'}
                    {pageAmount(Math.abs(difference), total.unit, telling)}{' '}
                    <small class="soft">{differenceWords(today, planned)}</small>
                  </>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </Table>
    <p class="soft">A limit and those below it are both counted; limits without an end are not.</p>
  </>
);

function pages({ total, rows, next }: PlanView, start: number, here: string): Markup | '' {
  if (rows.length === total) return '';
  const before =
    start > 0 ? address(here, { cursor: start > rows.length ? start - PAGE_ROWS : undefined }) : undefined;
  return (
    <PageLinks previous={before} next={next === undefined ? undefined : address(here, { cursor: next })}>
      {start + 1} to {start + rows.length} of {pageCount(total, 'limit')}
    </PageLinks>
  );
}

/** As many as a form takes fields for. */
export const PAGE_ROWS = 40;

/** What is used at once has no period to plan. */
const SHARE_FIELDS: readonly Field[] = [
  { name: 'by', label: 'Share', required: true, hint: 'Such as +8 %' },
  { name: 'group', label: 'Group', hint: 'With everything below it; empty: all' },
  {
    name: 'unit',
    label: 'Of',
    required: true,
    options: SCALED_KINDS.slice(0, 2).map((each) => [each, each]),
  },
  { name: 'round', label: 'To the nearest', hint: 'Such as 10' },
];

const shareCard = (user: User, here: string, values: Values): Markup => (
  <Card id="share" title="All by a share">
    <PostForm user={user} action={here}>
      <div class="fields">{SHARE_FIELDS.map((each) => field(each, values, new Map()))}</div>
      <button name="step" value="scale">
        Write into the plan
      </button>
    </PostForm>
  </Card>
);

const fileCard = (user: User, here: string): Markup => (
  <Card id="file" title="As a spreadsheet">
    <p>Download, edit the column “limit”, upload. All rows or none.</p>
    <div class="actions field">
      <a class="button" href={`${here}/plan.csv`} download>
        CSV with commas
      </a>
      <a class="button" href={`${here}/plan.csv?dialect=semicolon`} download>
        CSV with semicolons
      </a>
    </div>
    <PostForm user={user} action={`${here}/file`} enctype="multipart/form-data">
      <div class="field">
        <label for="f-file">File</label>
        <input id="f-file" type="file" name="file" accept=".csv,text/csv" required />
      </div>
      <label class="check">
        <input type="checkbox" name="dialect" value="semicolon" /> semicolons, decimals with a comma
      </label>
      <button>Write into the plan</button>
    </PostForm>
  </Card>
);
