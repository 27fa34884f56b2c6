import type { BacktestAnswer } from '../../../answers/limits/edit-models.ts';
import { type CsvProblem, csvProblemText, type TotalChange } from '../../../core/limits/index.ts';
import type { User } from '../../../core/signin/index.ts';
import { ConsolePage } from '../frame.tsx';
import { SAVE_FORM } from '../parts/backtest-part.tsx';
import { hiddenFields, type Values } from '../parts/form-field.tsx';
import { Card, NotSaved, PostForm, Table } from '../parts/layout.tsx';
import { limitWords } from '../parts/limit-words.ts';
import type { Markup } from '../parts/markup.ts';
import { instant, type PageFormat, pageAmount, pageCount } from '../parts/page-format.tsx';
import { confirmPart, previewPart, type ValidPreview } from '../parts/preview-part.tsx';

const PROBLEMS_SHOWN = 100;
const NOTES_SHOWN = 20;

/** Down as a file, up as a file. */
export const importPage = (user: User, problems: readonly CsvProblem[], values: Values): Markup => (
  <ConsolePage title="CSV" at="/import" user={user}>
    <div class="head">
      <div>
        <h1>Limits as a spreadsheet</h1>
        <p>Download, edit, upload. You see every difference before anything is saved.</p>
      </div>
    </div>
    {problems.length > 0 && (
      <div class="note bad" role="alert">
        <p>
          <strong>Nothing was changed:</strong> {pageCount(problems.length, 'problem')} in the file.
        </p>
        <ul>
          {problems.slice(0, PROBLEMS_SHOWN).map((problem) => (
            <li>{csvProblemText(problem)}</li>
          ))}
        </ul>
      </div>
    )}
    <div class="two">
      <Card id="down" title="1. Download">
        <p>
          All limits in force, one a row, with the last year’s use and the forecast next to the amount.
          Grants, freezes and break-glass are not in it and stay as they are.
        </p>
        <div class="actions">
          <a class="button" href="/export.csv" download>
            CSV with commas
          </a>
          <a class="button" href="/export.csv?dialect=semicolon" download>
            CSV with semicolons, decimals with a comma
          </a>
        </div>
      </Card>
      <Card id="up" title="2. Upload">
        <PostForm user={user} action="/import" enctype="multipart/form-data">
          <div class="field">
            <label for="f-file">File</label>
            <input id="f-file" type="file" name="file" accept=".csv,text/csv" required />
          </div>
          <fieldset>
            <legend>Format</legend>
            <label class="check">
              <input type="radio" name="dialect" value="comma" checked={values.dialect !== 'semicolon'} />
              commas between cells, decimals like 500.25
            </label>
            <label class="check">
              <input type="radio" name="dialect" value="semicolon" checked={values.dialect === 'semicolon'} />
              semicolons between cells, decimals like 500,25
            </label>
          </fieldset>
          <label class="check">
            <input type="checkbox" name="prune" value="yes" checked={values.prune === 'yes'} />
            Remove limits that are not in the file
          </label>
          <p class="soft">Without it, missing rows change nothing.</p>
          <div class="field">
            <label for="f-from">In force from (optional)</label>
            <input
              id="f-from"
              type="text"
              name="from"
              maxlength={40}
              placeholder="1.1.2027"
              value={values.from ?? ''}
              aria-describedby="f-from-hint"
            />
            <small class="soft" id="f-from-hint">
              A day on which the periods of the changed limits begin. They end the day before, and the new
              ones take over.
            </small>
          </div>
          <button class="main">See the differences</button>
        </PostForm>
      </Card>
    </div>
  </ConsolePage>
);

interface ImportShown {
  readonly file: string;
  readonly preview: ValidPreview;
  readonly totals: readonly TotalChange[];
  readonly unnamed: number;
  /** Interpretations of the file, if its format varies. */
  readonly notes: readonly string[];
  /** Values of the second step: the stored file and its options. */
  readonly values: Values;
  /** Absent: not counted yet. */
  readonly exact?: BacktestAnswer | undefined;
  readonly unconfirmed?: true;
}

export function importPreviewPage(user: User, shown: ImportShown, telling: PageFormat): Markup {
  const { file, preview, totals, unnamed, notes, values, exact, unconfirmed } = shown;
  return (
    <ConsolePage title="Check the file" at="/import" user={user}>
      <div class="head">
        <div>
          <h1>{file}</h1>
          <p>
            Not saved yet: {pageCount(preview.rows.length, 'difference')}
            {values.from ? `, in force from ${values.from}` : ''}. All of them or none.
          </p>
        </div>
      </div>
      {unconfirmed && <NotSaved why="there are large changes that need to be confirmed" />}
      {notes.length > 0 && (
        <div class="note">
          <p>
            <strong>Read as:</strong>
          </p>
          <ul>
            {notes.slice(0, NOTES_SHOWN).map((note) => (
              <li>{note}</li>
            ))}
            {notes.length > NOTES_SHOWN && <li>and {pageCount(notes.length - NOTES_SHOWN, 'more cell')}</li>}
          </ul>
        </div>
      )}
      <Card id="totals" title="Totals">
        <Table
          label="Totals"
          caption="All limits of a kind that are in force at a date, before and after"
          columns={[
            'Limits',
            'In force',
            ['Count before', 'n'],
            ['Count after', 'n'],
            ['Sum before', 'n'],
            ['Sum after', 'n'],
          ]}
        >
          <tbody>
            {totals.map((total) => (
              <tr>
                <th scope="row">{limitWords(total)}</th>
                <td data-l="in force">
                  {total.since === undefined ? 'now' : <>from {instant(total.since.atMs, total.since)}</>}
                </td>
                <td class="n" data-l="count">
                  {total.before.limits.toLocaleString('en-US')}
                </td>
                <td class="n" data-l="then">
                  {total.after.limits.toLocaleString('en-US')}
                </td>
                <td class="n" data-l="sum">
                  {pageAmount(Number(total.before.amount), total.unit, telling)}
                </td>
                <td class="n" data-l="then">
                  {pageAmount(Number(total.after.amount), total.unit, telling)}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
        {unnamed > 0 && (
          <p>
            {pageCount(unnamed, 'limit')} that the file does not name{' '}
            {values.prune === 'yes' ? <strong class="warn-text">will be removed</strong> : 'stay as they are'}
            .
          </p>
        )}
      </Card>
      {previewPart(preview, telling, exact)}
      <PostForm user={user} class="card" id={SAVE_FORM} action="/import">
        {hiddenFields(values)}
        <div class="field">
          <label for="f-why">Why</label>
          <textarea id="f-why" name="why" rows={2} maxlength={500} required />
        </div>
        {confirmPart(preview, telling)}
        <div class="actions">
          <button class="main" name="step" value="apply" disabled={preview.rows.length === 0}>
            Save all of it
          </button>
          <a class="button" href="/import">
            Another file
          </a>
        </div>
      </PostForm>
    </ConsolePage>
  );
}
