import { basename } from 'node:path';
import type { BacktestAnswer } from '../../answers/limits/models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import {
  type CsvDialect,
  type CsvProblem,
  csvProblemText,
  PLAIN_CSV,
  understoodText,
} from '../../core/limits/csv/columns.ts';
import { exportLimits, totalChanges, type WrittenTotal } from '../../core/limits/csv/export-limits.ts';
import { readRows } from '../../core/limits/csv/read-rows.ts';
import type { LimitEdit } from '../../core/limits/edit-model.ts';
import { baseOfFile, exportedLimits, NO_SET } from '../../core/limits/limit-reads.ts';
import type { User } from '../../core/signin/model.ts';
import { importFile, saysWhatIsInForce, staleImport } from '../import-file.ts';
import { readForm } from '../unreadable-request.ts';
import { stalePage } from './edit/edit-page.tsx';
import { ConsolePage } from './frame.tsx';
import {
  formatOf,
  type PageContext,
  type PageRoutes,
  type PagesDeps,
  query,
  readValues,
  send,
  sendCsv,
} from './page-deps.ts';
import { instant, limitWords, type PageFormat, pageAmount, pageCount } from './parts/amounts.tsx';
import { field, hiddenFields, type Values } from './parts/form-field.tsx';
import type { Column, Markup } from './parts/layout.tsx';
import * as ui from './parts/layout.tsx';
import { confirmPart, countedFor, previewPart, SAVE_FORM, type ValidPreview } from './parts/preview-part.tsx';
import { respondToEdit, type Stale } from './problem-page.tsx';

const SEMICOLON_CSV: CsvDialect = { delimiter: ';', decimal: ',' };
const dialectOf = (text: string | undefined): CsvDialect =>
  text === 'semicolon' ? SEMICOLON_CSV : PLAIN_CSV;

const PROBLEMS_SHOWN = 100;
const NOTES_SHOWN = 20;
const NAME_CHARACTERS_MAX = 100;
/** Excel reads a UTF-8 file without it as Windows-1252 and garbles the umlauts of group paths and owners. */
const BYTE_ORDER_MARK = '\ufeff';

export const importRoutes: PageRoutes = (app, deps) => {
  app.get('/import', (c) => send(c, importPage(c.var.user, [], {})));

  app.get('/export.csv', async (c) => {
    const { document, limits, set, edit } = await exportedLimits(deps.desk);
    const file = exportLimits(document, {
      version: set ?? NO_SET,
      directory: await deps.directory(),
      figures: await deps.read.limitFigures(limits),
      dialect: dialectOf(query(c, 'dialect')),
    });
    return sendCsv(c, BYTE_ORDER_MARK + file, `limits-${edit}.csv`);
  });

  app.post('/import', async (c) => {
    const values = await readValues(c);
    const upload = await uploaded(c, deps, values);
    if (upload !== undefined) return taken(c, deps, upload, values);
    const problem = fileProblem(values.kept === undefined ? EMPTY : GONE);
    return send(c, importPage(c.var.user, [problem], values), 422);
  });
};

const GONE = 'is not there, or was kept for an hour and is gone; upload it again';
const EMPTY = 'is empty, or none was chosen; choose one and send it again';
const fileProblem = (message: string): CsvProblem => ({ line: 0, message });

/** `kept`: the key of the stored file until it is applied. */
async function uploaded(c: PageContext, { uploads }: PagesDeps, values: Values) {
  const { kept } = values;
  const { id } = c.var.user;
  const nameOf = (name: string): string => basename(name).slice(-NAME_CHARACTERS_MAX) || 'limits.csv';
  if (kept !== undefined) {
    const bytes = await uploads.read(id, kept);
    return bytes && { bytes, kept, name: nameOf(values.name ?? '') };
  }
  const { file } = await readForm(c);
  if (!(file instanceof File) || file.size === 0) return undefined;
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { bytes, kept: await uploads.keep(id, bytes), name: nameOf(file.name) };
}

interface Draft {
  readonly edit: LimitEdit;
  readonly base: string | undefined;
  readonly totals: readonly WrittenTotal[];
  readonly unnamed: number;
  readonly notes: readonly string[];
}

async function drafted(
  deps: PagesDeps,
  bytes: Uint8Array,
  values: Values,
  user: User,
): Promise<Draft | readonly CsvProblem[] | Stale> {
  const dialect = dialectOf(values.dialect);
  const read = readRows(bytes, dialect);
  if (!read.ok) return read.problems;
  const inForce = await exportedLimits(deps.desk);
  const prune = values.prune === 'yes';
  const file = { rows: read.rows, dialect, prune, from: values.from || undefined };
  const base = baseOfFile(read.version, inForce.set);
  // Against another set the rows would undo what others did meanwhile, unless there is nothing left to do.
  if (base !== inForce.set && !(await saysWhatIsInForce(file, inForce, deps)))
    return staleImport(file, base, actingUser(user), deps);
  const imported = await importFile(file, inForce, deps);
  if (!imported.ok) return imported.problems;
  return {
    edit: { kind: 'replace', document: imported.document },
    base: inForce.set,
    totals: totalChanges(inForce.limits, imported.limits, deps.clock.nowMs()),
    unnamed: imported.unnamed.length,
    notes: [...read.notes.map((note) => `file: ${note}`), ...imported.understood.map(understoodText)],
  };
}

/** Rows of an older file put on top would undo what others did since. */
const AGAIN = {
  back: '/import',
  hint: 'Download the file as it is now, make your changes in it, and upload it again.',
} as const;

type Upload = NonNullable<Awaited<ReturnType<typeof uploaded>>>;

async function taken(c: PageContext, deps: PagesDeps, upload: Upload, values: Values): Promise<Response> {
  const { user } = c.var;
  const format = formatOf(c, deps);
  const refused = (problems: readonly CsvProblem[]) => send(c, importPage(user, problems, values), 422);
  const invalid = (problems: readonly { readonly message: string }[]) =>
    refused(problems.map(({ message }) => fileProblem(message)));
  const stale = (found: Stale) => send(c, stalePage(found, AGAIN, format), 409);
  const draft = await drafted(deps, upload.bytes, values, user);
  if (!('edit' in draft)) return 'outcome' in draft ? stale(draft) : refused(draft);
  const { edit, base } = draft;
  const preview = await deps.read.preview([edit], base, user);
  if (preview.outcome === 'unknown_subject') return invalid([{ message: 'names a group that is not there' }]);
  if (preview.outcome === 'invalid') return invalid(preview.problems);
  const { dialect = 'comma', prune = '', from = '', why } = values;
  const along = { kept: upload.kept, name: upload.name, dialect, prune, from };
  const shown = { preview, ...draft, values: along };
  if (values.step !== 'apply' || !why) {
    const exact = await countedFor(deps, [edit], base, values, user);
    return send(c, importPreviewPage({ ...shown, exact }, format));
  }
  const confirmed = values.confirmed === 'yes';
  const by = { ...actingUser(user), why, source: `file ${upload.name}`, base, confirmed };
  return respondToEdit(c, deps, await deps.desk.apply([edit], by), {
    ...{ back: '/import', saved: '/history', invalid, stale },
    unconfirmed: () => send(c, importPreviewPage({ ...shown, unconfirmed: true }, format), 409),
  });
}

const importPage = (user: User, problems: readonly CsvProblem[], values: Values): Markup => (
  <ConsolePage
    title="CSV"
    at="/import"
    user={user}
    heading="Limits as a spreadsheet"
    about="Download, edit, upload. You see every difference before anything is saved."
  >
    {problems.length > 0 && (
      <ui.Note tone="bad" role="alert" lines={problems.map(csvProblemText)} max={PROBLEMS_SHOWN}>
        <strong>Nothing was changed:</strong> {pageCount(problems.length, 'problem')} in the file.
      </ui.Note>
    )}
    <div class="two">
      <ui.Card id="down" title="1. Download">
        <p>All limits in force, one a row, with the last year’s use and the forecast.</p>
        <div class="actions">
          {ui.button('/export.csv', 'CSV with commas')}
          {ui.button('/export.csv?dialect=semicolon', 'CSV with semicolons, decimals with a comma')}
        </div>
      </ui.Card>
      <ui.Card id="up" title="2. Upload">
        <ui.PostForm user={user} action="/import" enctype="multipart/form-data">
          <div class="field">
            <label for="f-file">File</label>
            <input id="f-file" type="file" name="file" accept=".csv,text/csv" required />
          </div>
          {field({ name: 'dialect', label: 'Format', required: true, options: DIALECTS }, values)}
          <label class="check">
            <input type="checkbox" name="prune" value="yes" checked={values.prune === 'yes'} />
            Remove limits that are not in the file
          </label>
          {field(
            {
              ...{ name: 'from', label: 'In force from', max: 40 },
              hint: 'A day like 1.1.2027 on which periods of the changed limits begin. They end the day before.',
            },
            values,
          )}
          <button class="main">See the differences</button>
        </ui.PostForm>
      </ui.Card>
    </div>
  </ConsolePage>
);

const DIALECTS = [
  ['comma', 'commas between cells, decimals like 500.25'],
  ['semicolon', 'semicolons between cells, decimals like 500,25'],
] as const;

interface ImportShown extends Draft {
  readonly preview: ValidPreview;
  readonly values: Values;
  readonly exact?: BacktestAnswer | undefined;
  readonly unconfirmed?: true;
}

function importPreviewPage(shown: ImportShown, format: PageFormat): Markup {
  const { preview, totals, unnamed, notes, values, exact, unconfirmed } = shown;
  return (
    <ConsolePage
      title="Check the file"
      at="/import"
      user={format.user}
      heading={values.name}
      about={`Not saved yet: ${pageCount(preview.rows.length, 'difference')}${values.from ? `, in force from ${values.from}` : ''}. All of them or none.`}
    >
      {unconfirmed && <ui.NotConfirmed />}
      {notes.length > 0 && (
        <ui.Note lines={notes} max={NOTES_SHOWN}>
          <strong>Read as:</strong>
        </ui.Note>
      )}
      <ui.Card id="totals" title="Totals">
        <ui.Table label="Totals" columns={totalColumns(format)} rows={totals} />
        {unnamed > 0 && (
          <p>
            {pageCount(unnamed, 'limit')} that the file does not name{' '}
            {values.prune === 'yes' ? 'will be removed' : 'stay as they are'}.
          </p>
        )}
      </ui.Card>
      {previewPart(preview, format, exact)}
      <ui.PostForm user={format.user} class="card" id={SAVE_FORM} action="/import">
        {hiddenFields(values)}
        {field({ name: 'why', label: 'Why', type: 'textarea', required: true, max: 500 }, {})}
        {confirmPart(preview, format)}
        <div class="actions">
          <button class="main" name="step" value="apply" disabled={preview.rows.length === 0}>
            Save all of it
          </button>
          {ui.button('/import', 'Another file')}
        </div>
      </ui.PostForm>
    </ConsolePage>
  );
}

function totalColumns(format: PageFormat): readonly Column<WrittenTotal>[] {
  const side = ({ unit }: WrittenTotal, { amount, limits }: WrittenTotal['before']): string =>
    `${pageAmount(Number(amount), unit, format)} in ${pageCount(limits, 'limit')}`;
  return [
    { head: 'Limits', cell: ({ kind, per }) => limitWords({ kind, ...(per !== null && { per }) }) },
    {
      head: 'In force',
      cell: ({ since, zone }) =>
        since === null ? 'now' : ['from ', instant(Date.parse(since), { zone: zone ?? 'UTC' })],
    },
    { head: 'Before', style: 'n', cell: (total) => side(total, total.before) },
    { head: 'After', style: 'n', cell: (total) => side(total, total.after) },
  ];
}
