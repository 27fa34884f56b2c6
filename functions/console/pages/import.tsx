import { basename } from 'node:path';
import { actingUser } from '../../answers/reading/context.ts';
import { type CsvProblem, csvProblemText, understoodText } from '../../core/limits/csv/columns.ts';
import type { WrittenTotal } from '../../core/limits/csv/export-limits.ts';
import { readRows } from '../../core/limits/csv/read-rows.ts';
import { sendCsv } from '../api/api-parts.ts';
import { dialectOf, exportFile, planImport } from '../import-file.ts';
import { readForm } from '../unreadable-request.ts';
import { stalePage } from './edit/edit-page.tsx';
import { ConsolePage } from './frame.tsx';
import { type PageContext, type PageRoutes, type PagesDeps, query, readValues, send } from './page.ts';
import { reviewEdits } from './parts/preview-part.tsx';
import * as ui from './parts/ui.ts';
import type { Stale } from './problem-page.tsx';

const PROBLEMS_SHOWN = 100;
const NOTES_SHOWN = 20;
const NAME_CHARACTERS_MAX = 100;
/** Excel reads a UTF-8 file without it as Windows-1252 and garbles the umlauts of group paths and owners. */
const BYTE_ORDER_MARK = '\ufeff';

export const importRoutes: PageRoutes = (app, deps) => {
  app.get('/import', (c) => send(c, importPage([], {})));

  app.get('/export.csv', async (c) => {
    const { text, name } = await exportFile(deps, dialectOf(query.text(c, 'dialect')));
    return sendCsv(c, BYTE_ORDER_MARK + text, name);
  });

  app.post('/import', async (c) => {
    const values = await readValues(c);
    const upload = await readUpload(c, deps, values);
    if (upload !== undefined) return importUpload(c, deps, upload, values);
    const problem = fileProblem(values.kept === undefined ? EMPTY : GONE);
    return send(c, importPage([problem], values), 422);
  });
};

const GONE = 'is not there, or has expired after an hour; upload it again';
const EMPTY = 'is empty, or none was chosen; choose one and send it again';
const fileProblem = (message: string): CsvProblem => ({ line: 0, message });

/** `kept`: the key of the stored file until it is applied. */
async function readUpload(c: PageContext, { uploads }: PagesDeps, values: ui.Values) {
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

/** Rows of an older file put on top would undo later edits of others. */
const AGAIN = {
  back: '/import',
  hint: 'Download the current file, make your changes in it, and upload it again.',
} as const;

type Upload = NonNullable<Awaited<ReturnType<typeof readUpload>>>;

async function importUpload(c: PageContext, deps: PagesDeps, upload: Upload, values: ui.Values) {
  const { user } = c.var;
  const refused = (problems: readonly CsvProblem[]) => send(c, importPage(problems, values), 422);
  const invalid = (problems: readonly { readonly message: string }[]) =>
    refused(problems.map(({ message }) => fileProblem(message)));
  const stale = (found: Stale) => send(c, stalePage(found, AGAIN), 409);
  const { kept, name, bytes } = upload;
  const { dialect = 'comma', prune = '', from = '', why } = values;
  const parsed = readRows(bytes, dialectOf(dialect));
  if (!parsed.ok) return refused(parsed.problems);
  const { rows, version, notes } = parsed;
  const file = {
    rows,
    version,
    dialect: dialectOf(dialect),
    prune: prune === 'yes',
    from: from || undefined,
  };
  const plan = await planImport(file, actingUser(user), deps);
  if (plan.outcome === 'stale') return stale(plan);
  if (plan.outcome === 'invalid') return refused(plan.problems);
  const { edit, base } = plan;
  const cells = [...notes.map((note) => `file: ${note}`), ...plan.understood.map(understoodText)];
  return reviewEdits(c, deps, {
    ...{ edits: [edit], base, values, author: { why: why ?? '', source: `file ${name}` } },
    ...{ isSaved: values.step === 'apply' && !!why, back: '/import', saved: '/history', invalid, stale },
    unknown: () => invalid([{ message: 'names a group that is not there' }]),
    page: ({ rows: changes }) => ({
      ...{ title: 'Preview of the file', at: '/import', heading: name, action: '/import' },
      about: `Not saved yet: ${ui.pageCount(changes.length, 'difference')}${from ? `, in force from ${from}` : ''}. All are saved, or none.`,
      notes: importNotes(plan, cells, prune === 'yes'),
      fields: [ui.hiddenFields({ kept, name, dialect, prune, from }), ui.field(ui.WHY, values)],
      save: 'Save all changes',
      links: ui.button('/import', 'Choose another file'),
    }),
  });
}

const importPage = (problems: readonly CsvProblem[], values: ui.Values): ui.Markup => (
  <ConsolePage
    title="CSV"
    at="/import"
    heading="Limits as a spreadsheet"
    about="Download the file, edit it, upload it. Every difference is shown before you save."
  >
    {problems.length > 0 && (
      <ui.Note tone="bad" role="alert" lines={problems.map(csvProblemText)} max={PROBLEMS_SHOWN}>
        <strong>Nothing was changed:</strong> {ui.pageCount(problems.length, 'problem')} in the file.
      </ui.Note>
    )}
    <div class="two">
      <ui.Card id="down" title="1. Download">
        <p>One row per limit in force, with the use of the last year and the forecast.</p>
        <div class="actions">
          {ui.button('/export.csv', 'Download CSV (commas)')}
          {ui.button('/export.csv?dialect=semicolon', 'Download CSV (semicolons, decimal commas)')}
        </div>
      </ui.Card>
      <ui.Card id="up" title="2. Upload">
        <ui.PostForm action="/import" enctype="multipart/form-data">
          <div class="field">
            <label for="f-file">File</label>
            <input id="f-file" type="file" name="file" accept=".csv,text/csv" required />
          </div>
          {ui.field({ name: 'dialect', label: 'Format', required: true, options: DIALECTS }, values)}
          <label class="check">
            <input type="checkbox" name="prune" value="yes" checked={values.prune === 'yes'} />
            Remove limits that are not in the file
          </label>
          {ui.field(
            {
              ...{ name: 'from', label: 'In force from', max: 40 },
              hint: 'A day like 1.1.2027 on which periods of the changed limits begin. They end the day before.',
            },
            values,
          )}
          <button class="main">Preview differences</button>
        </ui.PostForm>
      </ui.Card>
    </div>
  </ConsolePage>
);

const DIALECTS = [
  ['comma', 'commas between cells, decimals like 500.25'],
  ['semicolon', 'semicolons between cells, decimals like 500,25'],
] as const;

type Plan = Extract<Awaited<ReturnType<typeof planImport>>, { outcome: 'planned' }>;

const importNotes = ({ totals, unnamed }: Plan, cells: readonly string[], prune: boolean): ui.Markup => (
  <>
    {cells.length > 0 && (
      <ui.Note lines={cells} max={NOTES_SHOWN}>
        <strong>Interpreted values:</strong>
      </ui.Note>
    )}
    <ui.Card id="totals" title="Totals">
      <ui.Table label="Totals" columns={TOTALS} rows={totals} />
      {unnamed.length > 0 && (
        <p>
          {ui.pageCount(unnamed.length, 'limit')} that the file does not name{' '}
          {prune ? 'will be removed' : 'stay as they are'}.
        </p>
      )}
    </ui.Card>
  </>
);

const side = ({ unit }: WrittenTotal, { amount, limits }: WrittenTotal['before']): string =>
  `${ui.pageAmount(Number(amount), unit)} in ${ui.pageCount(limits, 'limit')}`;

const TOTALS: ui.Columns<WrittenTotal> = {
  Limit: ({ kind, per }) => ui.limitWords({ kind, ...(per !== null && { per }) }),
  'In force': ({ since, zone }) =>
    since === null ? 'now' : ['from ', ui.instant(Date.parse(since), { zone: zone ?? 'UTC' })],
  Before: { style: 'n', cell: (total) => side(total, total.before) },
  After: { style: 'n', cell: (total) => side(total, total.after) },
};
