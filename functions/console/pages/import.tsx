import { basename } from 'node:path';
import { Hono } from 'hono';
import type { BacktestAnswer } from '../../answers/limits/edit-models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import {
  type CsvDialect,
  type CsvProblem,
  csvProblemText,
  PLAIN_CSV,
  understoodText,
} from '../../core/limits/csv/columns.ts';
import { exportLimits } from '../../core/limits/csv/export-limits.ts';
import { readRows } from '../../core/limits/csv/read-rows.ts';
import { type TotalChange, totalChanges } from '../../core/limits/csv/totals.ts';
import type { LimitEdit } from '../../core/limits/edit-model.ts';
import { baseOfFile, exportedLimits, NO_SET } from '../../core/limits/limit-reads.ts';
import type { SignInEnv, User } from '../../core/signin/model.ts';
import { importFile, type StaleOutcome, saysWhatIsInForce, staleImport } from '../import-file.ts';
import { readForm } from '../unreadable-request.ts';
import { stalePage } from './edit/edit-pages.tsx';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, query, readValues, send } from './page-deps.ts';
import { instant, limitWords, type PageFormat, pageAmount, pageCount } from './parts/amounts.tsx';
import { countedFor, SAVE_FORM } from './parts/backtest-part.tsx';
import { hiddenFields, type Values } from './parts/form-field.tsx';
import { Card, type Markup, NotSaved, PostForm, Table } from './parts/layout.tsx';
import { confirmPart, previewPart, type ValidPreview } from './parts/preview-part.tsx';
import { approvalPage, forbiddenPage } from './problem-page.tsx';

/** As spreadsheets of some countries write it. */
const SEMICOLON_CSV: CsvDialect = { delimiter: ';', decimal: ',' };
const dialectOf = (text: string | undefined): CsvDialect =>
  text === 'semicolon' ? SEMICOLON_CSV : PLAIN_CSV;

interface Upload {
  readonly bytes: Uint8Array;
  /** Key of the stored file until it is applied. */
  readonly kept: string;
  readonly name: string;
}

interface Draft {
  readonly edit: LimitEdit;
  /** The set it is an edit of; undefined: the limits packed with the deployment. */
  readonly base: string | undefined;
  readonly totals: readonly TotalChange[];
  readonly unnamed: number;
  /** Interpretations of the file's format, if it varies. */
  readonly notes: readonly string[];
}

type Drafted =
  | { readonly outcome: 'drafted'; readonly draft: Draft }
  | { readonly outcome: 'refused'; readonly problems: readonly CsvProblem[] }
  /** The file comes from a set that is no longer live. */
  | { readonly outcome: 'old'; readonly stale: StaleOutcome };

/** Reads an uploaded file as one edit of the live limits. */
async function drafted(deps: PagesDeps, { bytes }: Upload, values: Values, user: User): Promise<Drafted> {
  const dialect = dialectOf(values.dialect);
  const read = readRows(bytes, dialect);
  if (!read.ok) return { outcome: 'refused', problems: read.problems };
  const inForce = await exportedLimits(deps.desk);
  const file = {
    ...{ rows: read.rows, dialect, prune: values.prune === 'yes' },
    from: values.from || undefined,
  };
  const base = baseOfFile(read.version, inForce.set);
  // Against another set the rows would undo what others did meanwhile, unless there is nothing left to do.
  if (base !== inForce.set && !(await saysWhatIsInForce(file, inForce, deps)))
    return { outcome: 'old', stale: await staleImport(file, base, actingUser(user), deps) };
  const imported = await importFile(file, inForce, deps);
  if (!imported.ok) return { outcome: 'refused', problems: imported.problems };
  return {
    outcome: 'drafted',
    draft: {
      edit: { kind: 'replace', document: imported.document },
      base: inForce.set,
      totals: totalChanges(inForce.limits, imported.limits, deps.clock.nowMs()),
      unnamed: imported.unnamed.length,
      notes: [...read.notes.map((note) => `file: ${note}`), ...imported.understood.map(understoodText)],
    },
  };
}

const PROBLEMS_SHOWN = 100;
const NOTES_SHOWN = 20;

/** The page to download and upload limits as CSV. */
const importPage = (user: User, problems: readonly CsvProblem[], values: Values): Markup => (
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

function importPreviewPage(user: User, shown: ImportShown, telling: PageFormat): Markup {
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

const NAME_CHARACTERS_MAX = 100;
/** Excel reads a UTF-8 file without it as Windows-1252 and garbles the umlauts of group paths and owners. */
const BYTE_ORDER_MARK = '\ufeff';

/** `GET /import`, `GET /export.csv`; `POST /import` first shows what a file would do, then does it. */
export function importRoutes(deps: PagesDeps): Hono<SignInEnv> {
  const app = new Hono<SignInEnv>();

  app.get('/import', (c) => send(c, importPage(c.var.user, [], {})));

  app.get('/export.csv', async (c) => {
    const { document, limits, set, edit } = await exportedLimits(deps.desk);
    const file = exportLimits(document, {
      version: set ?? NO_SET,
      directory: await deps.directory(),
      figures: await deps.read.limitFigures(limits),
      dialect: dialectOf(query(c, 'dialect')),
    });
    return c.body(BYTE_ORDER_MARK + file, 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="limits-${edit}.csv"`,
    });
  });

  app.post('/import', async (c) => {
    const { user } = c.var;
    const values = await readValues(c);
    const upload = await uploaded(c, deps, values);
    if (upload === undefined)
      return send(c, importPage(user, [values.kept === undefined ? EMPTY : GONE], values), 422);
    return values.step === 'apply' ? apply(c, deps, upload, values) : preview(c, deps, upload, values);
  });

  return app;
}

const GONE: CsvProblem = {
  line: 0,
  message: 'is not there, or was kept for an hour and is gone; upload it again',
};
const EMPTY: CsvProblem = { line: 0, message: 'is empty, or none was chosen; choose one and send it again' };

async function uploaded(c: PageContext, { uploads }: PagesDeps, values: Values): Promise<Upload | undefined> {
  const { kept } = values;
  if (kept !== undefined) {
    const bytes = await uploads.read(c.var.user.id, kept);
    return bytes && { bytes, kept, name: nameOf(values.name ?? '') };
  }
  const { file } = await readForm(c);
  if (!(file instanceof File) || file.size === 0) return undefined;
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { bytes, kept: await uploads.keep(c.var.user.id, bytes), name: nameOf(file.name) };
}

const nameOf = (name: string): string => basename(name).slice(-NAME_CHARACTERS_MAX) || 'limits.csv';

async function preview(
  c: PageContext,
  deps: PagesDeps,
  upload: Upload,
  values: Values,
  unconfirmed?: true,
): Promise<Response> {
  const { user } = c.var;
  const answer = await drafted(deps, upload, values, user);
  if (answer.outcome === 'refused') return send(c, importPage(user, answer.problems, values), 422);
  if (answer.outcome === 'old') return send(c, stalePage(user, answer.stale, AGAIN, pageFormatOf(deps)), 409);
  const { edit, base, totals, unnamed, notes } = answer.draft;
  const shown = await deps.read.preview([edit], base, user);
  if (shown.outcome !== 'valid') return send(c, importPage(user, problemsOf(shown), values), 422);
  const exact = await countedFor(deps, [edit], base, values, user);
  const along = {
    kept: upload.kept,
    name: upload.name,
    dialect: values.dialect ?? 'comma',
    prune: values.prune ?? '',
    from: values.from ?? '',
  };
  const markup = importPreviewPage(
    user,
    {
      file: upload.name,
      preview: shown,
      totals,
      unnamed,
      notes,
      values: along,
      exact,
      ...(unconfirmed && { unconfirmed }),
    },
    pageFormatOf(deps),
  );
  return send(c, markup, unconfirmed ? 409 : 200);
}

async function apply(c: PageContext, deps: PagesDeps, upload: Upload, values: Values): Promise<Response> {
  const { user } = c.var;
  const answer = await drafted(deps, upload, values, user);
  if (answer.outcome !== 'drafted' || !values.why) return preview(c, deps, upload, values);
  const { edit, base } = answer.draft;
  const outcome = await deps.desk.apply([edit], {
    ...actingUser(user),
    why: values.why,
    source: `file ${upload.name}`,
    base,
    confirmed: values.confirmed === 'yes',
  });
  switch (outcome.outcome) {
    case 'live':
      deps.log.info('limits imported', {
        user: user.id,
        edit: outcome.pointer.edit,
        rows: outcome.rows.length,
      });
      return c.redirect(`/history?saved=${outcome.pointer.edit}`, 303);
    case 'unchanged':
      return c.redirect('/history?saved=nothing', 303);
    case 'invalid':
      return send(c, importPage(user, problemsOf(outcome), values), 422);
    case 'forbidden':
      return send(c, forbiddenPage(user, outcome.denied, [], '/import'), 403);
    case 'stale':
      return send(c, stalePage(user, outcome, AGAIN, pageFormatOf(deps)), 409);
    case 'needs_confirmation':
      return preview(c, deps, upload, values, true);
    case 'needs_approval':
      return send(c, approvalPage(user, outcome, '/import'), 202);
  }
}

/** Rows of an older file put on top would undo what others did since. */
const AGAIN = {
  back: '/import',
  hint: 'Download the file as it is now, make your changes in it, and upload it again.',
} as const;

const problemsOf = (answer: {
  readonly outcome: string;
  readonly problems?: readonly { readonly message: string }[];
}): readonly CsvProblem[] =>
  answer.problems?.map(({ message }) => ({ line: 0, message })) ?? [
    { line: 0, message: 'names a group that is not there' },
  ];
