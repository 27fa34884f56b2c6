import { basename } from 'node:path';
import { Hono } from 'hono';
import { actingUser } from '../../../answers/reading/context.ts';
import { type CsvProblem, exportedLimits, exportLimits, NO_SET } from '../../../core/limits/index.ts';
import type { SignInEnv } from '../../../core/signin/index.ts';
import { readForm } from '../../unreadable-request.ts';
import { query, readValues } from '../asked.ts';
import { stalePage } from '../edit/stale-page.tsx';
import { type PageContext, type PagesDeps, pageFormatOf, send } from '../pages-deps.ts';
import { countedFor } from '../parts/backtest-part.tsx';
import type { Values } from '../parts/form-field.tsx';
import { approvalPage, forbiddenPage } from '../problem-page.tsx';
import { dialectOf, drafted, type Upload } from './draft-import.ts';
import { importPage, importPreviewPage } from './import-page.tsx';

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
