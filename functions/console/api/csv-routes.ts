/** The file for spreadsheets: out, and in again. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { ImportPreviewSchema } from '../../answers/limits/edit-models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import {
  baseOfFile,
  type CsvDialect,
  type CsvProblem,
  exportedLimits,
  exportLimits,
  NO_SET,
  PLAIN_CSV,
  readRows,
  totalChanges,
  understoodText,
  writtenTotals,
} from '../../core/limits/index.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { importFile, saysWhatIsInForce, staleImport } from '../import-file.ts';
import { type ApiDeps, baseOf, editedBy, etagOf, invalidHook } from './api-deps.ts';
import { type ApiError, apiError, NO_BASE, NOT_THERE } from './api-error.ts';
import { AppliedSchema, FiledSchema, outcomeAnswer } from './outcome-answer.ts';
import { baseHeader, createRoute, cursor, errorAnswer, jsonAnswer, z } from './route-parts.ts';

/** As spreadsheets of some countries write it. */
const SEMICOLON_CSV: CsvDialect = { delimiter: ';', decimal: ',' };
const WRITTEN_AS = {
  dialect: z.enum(['comma', 'semicolon']).default('comma'),
  decimal: z.enum(['.', ',']).optional().openapi({ description: 'Left out: as usual with the dialect.' }),
};
const yes = z.literal('yes').optional();

const download = createRoute({
  method: 'get',
  path: '/limits.csv',
  summary:
    'All limits in force as CSV; grants, freezes and rollouts are not in it. Before any set is live these are the ones packed with the deployment',
  description:
    'Next to the amount are `last_year_mean`, `last_year_most` (use of a period, within the last 365 days) and `forecast` (use of the next period). An import ignores these columns.',
  request: { query: z.object(WRITTEN_AS) },
  responses: {
    200: { description: 'RFC 4180, UTF-8', content: { 'text/csv': { schema: z.string() } } },
  },
});

const upload = createRoute({
  method: 'post',
  path: '/limits/import',
  summary: 'Makes an edited file live, all rows or none',
  description:
    'A file says in its column `version` which set it is an edit of; `If-Match` says it of a file that does not.',
  request: {
    headers: baseHeader,
    query: z.object({
      ...WRITTEN_AS,
      prune: yes.openapi({ description: 'Takes limits out that the file does not name.' }),
      from: z.string().max(40).optional().openapi({
        description:
          'A day to come, `2027-01-01`: until then limits stay as they are; those that differ end the day before, and others take over.',
      }),
      dry_run: yes.openapi({ description: 'Only what it would do.' }),
      backtest: yes.openapi({
        description: 'With `dry_run`: counts the jobs of the last days that would have failed, too.',
      }),
      cursor,
      confirmed: yes,
      why: z.string().min(1).max(500),
      name: z.string().max(100).default('limits.csv'),
    }),
    body: { required: true, content: { 'text/csv': { schema: z.string() } } },
  },
  responses: {
    200: jsonAnswer(
      z.union([AppliedSchema, ImportPreviewSchema]).openapi('Imported'),
      'What it did, or with `dry_run` what it would do',
    ),
    202: jsonAnswer(FiledSchema, 'Somebody else has to approve it; a request is filed'),
    403: errorAnswer('Not with your roles'),
    404: errorAnswer('Names what is not there'),
    409: errorAnswer('Needs approval, and too many requests are waiting already'),
    412: errorAnswer('Others changed the limits since the file was exported'),
    422: errorAnswer('Cannot be done; `problems` has lines'),
    428: errorAnswer('Something has to be confirmed, or neither the file nor `If-Match` says what it is of'),
  },
});

export const csvRoutes = ({ desk, read, policy, directory, clock }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(download, async (c) => {
      const { document, limits, set, edit } = await exportedLimits(desk);
      const file = exportLimits(document, {
        version: set ?? NO_SET,
        directory: await directory(),
        figures: await read.limitFigures(limits),
        dialect: askedDialect(c.req.valid('query')),
      });
      c.header('etag', etagOf(set));
      c.header('content-disposition', `attachment; filename="limits-${edit}.csv"`);
      return c.body(file, 200, { 'content-type': 'text/csv; charset=utf-8' });
    })
    .openapi(upload, async (c) => {
      const asked = c.req.valid('query');
      const { user } = c.var;
      const [isDryRun, prune, dialect] = [
        asked.dry_run === 'yes',
        asked.prune === 'yes',
        askedDialect(asked),
      ];
      const rows = readRows(new Uint8Array(await c.req.arrayBuffer()), dialect);
      if (!rows.ok) return c.json(refusedFile(rows.problems), 422);
      const said = baseOf(c.req.header('if-match'));
      if (rows.version === undefined && said === 'missing' && !isDryRun) return c.json(NO_BASE, 428);
      const matched = said === 'missing' ? undefined : (said.base ?? NO_SET);
      if (rows.version !== undefined && matched !== undefined && matched !== rows.version)
        return c.json(refusedFile([otherVersion(rows.version, matched)]), 422);
      const inForce = await exportedLimits(desk);
      const file = { rows: rows.rows, dialect, prune, from: asked.from };
      const saidBase = baseOfFile(rows.version ?? matched, inForce.set);
      const isThere =
        saidBase !== inForce.set && (await saysWhatIsInForce(file, inForce, { policy, directory, clock }));
      const base = isThere ? inForce.set : saidBase;
      const isStale = base !== inForce.set;
      const before = isStale ? await desk.at(base) : inForce;
      const sees = await read.sight(user);
      if (before === undefined || (isStale && !isDryRun)) {
        const by = actingUser(user);
        const found = await staleImport(file, base, by, { desk, policy, directory, clock });
        const stale = outcomeAnswer(found, sees);
        return c.json({ ...(stale.body as ApiError), ...(base !== undefined && { base }) }, 412);
      }
      const imported = await importFile(file, before, { policy, directory, clock });
      if (!imported.ok) return c.json(refusedFile(imported.problems), 422);
      const edit = { kind: 'replace', document: imported.document } as const;
      if (isDryRun) {
        const shown = await read.preview([edit], base, user);
        if (shown.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
        if (shown.outcome === 'invalid') return c.json(shown, 200);
        const understood = imported.understood.map((cell) => ({ ...cell, text: understoodText(cell) }));
        const preview = {
          ...shown,
          totals: writtenTotals(totalChanges(before.limits, imported.limits, clock.nowMs())),
          ...{ base, understood, unnamed: imported.unnamed, rowsRead: rows.rows.length, notes: rows.notes },
        };
        if (asked.backtest !== 'yes' || isStale) return c.json(preview, 200);
        const backtest = await read.backtest([edit], base, user, asked.cursor);
        return c.json({ ...preview, backtest }, 200);
      }
      const by = {
        ...editedBy(user, base, { why: asked.why, confirmed: asked.confirmed === 'yes' }),
        source: `file ${asked.name}`,
      };
      const answer = outcomeAnswer(await desk.apply([edit], by), sees);
      if (answer.status === 200) return c.json(answer.body, 200);
      return answer.status === 202 ? c.json(answer.body, 202) : c.json(answer.body, answer.status);
    });

function askedDialect({
  dialect,
  decimal,
}: {
  readonly dialect: 'comma' | 'semicolon';
  readonly decimal?: CsvDialect['decimal'] | undefined;
}): CsvDialect {
  const usual = dialect === 'semicolon' ? SEMICOLON_CSV : PLAIN_CSV;
  return decimal === undefined ? usual : { ...usual, decimal };
}

const otherVersion = (version: string, matched: string): CsvProblem => ({
  line: 0,
  column: 'version',
  message: `the file was exported from set ${version}, and \`If-Match\` says ${matched}; leave one of them out`,
});

const refusedFile = (problems: readonly CsvProblem[]): ApiError => ({
  ...apiError(
    'invalid',
    'The file cannot be taken as it is: see the problems.',
    'Correct them and send it again; nothing was changed.',
  ),
  problems: problems.map(({ line, column, message }) => ({
    path: [line, ...(column === undefined ? [] : [column])],
    message,
  })),
});
