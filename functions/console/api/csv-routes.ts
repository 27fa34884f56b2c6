/** The file for spreadsheets: out, and in again. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { BacktestAnswerSchema } from '../../answers/backtest/model.ts';
import { InvalidEditsSchema, ValidEditsSchema } from '../../answers/preview/model.ts';
import { actingUser } from '../../answers/reading/acting-user.ts';
import { count, limitKind, list, maybe, periodKind, text, unit } from '../../answers/reading/schema.ts';
import {
  baseOfFile,
  CSV_COLUMNS,
  type CsvDialect,
  type CsvProblem,
  exportedLimits,
  exportLimits,
  importLimits,
  NO_SET,
  PLAIN_CSV,
  readRows,
  totalChanges,
  type UnderstoodCell,
  type WrittenTotal,
  writtenTotals,
} from '../../core/limits/index.ts';
import type { SignInEnv } from '../../core/signin/index.ts';
import { staleImport } from '../stale-import.ts';
import { type ApiDeps, editedBy, etagOf, invalidHook } from './api-deps.ts';
import { type ApiError, apiError, NOT_THERE } from './api-error.ts';
import { AppliedSchema, FiledSchema, outcomeAnswer } from './outcome-answer.ts';
import { createRoute, errorAnswer, jsonAnswer, z } from './route-parts.ts';

/** As spreadsheets of some countries write it. */
const SEMICOLON_CSV: CsvDialect = { delimiter: ';', decimal: ',' };
const dialect = z.enum(['comma', 'semicolon']).default('comma');
const yes = z.literal('yes').optional();

const sum = z.object({
  limits: count(),
  unlimited: count('Part of `limits`: those without an amount.'),
  amount: text('Whole units; more than a number may hold.'),
});
const WrittenTotalSchema = z
  .object({
    kind: limitKind,
    unit,
    per: periodKind.nullable(),
    since: z.string().nullable().openapi({ description: 'ISO 8601; `null`: now.' }),
    before: sum,
    after: sum,
  })
  .openapi('LimitsTotal') satisfies z.ZodType<WrittenTotal>;
const UnderstoodSchema = z
  .object({
    line: count('Line of the file, from 1.'),
    column: z.enum(CSV_COLUMNS),
    written: text(),
    read: text('As limits.yaml has it.'),
  })
  .openapi('Understood') satisfies z.ZodType<UnderstoodCell>;

/** What a file would do. */
const ImportPreviewSchema = z
  .discriminatedUnion('outcome', [
    InvalidEditsSchema,
    ValidEditsSchema.extend({
      totals: list(WrittenTotalSchema).openapi({
        description: 'What all limits of a kind come to, now and from each date on.',
      }),
      understood: list(UnderstoodSchema).openapi({
        description: 'Cells that were read as something else than what stands in them.',
      }),
      backtest: maybe(BacktestAnswerSchema).openapi({ description: 'Only where it was asked for.' }),
    }),
  ])
  .openapi('ImportPreview');

const download = createRoute({
  method: 'get',
  path: '/limits.csv',
  summary:
    'All limits in force as CSV; grants, freezes and rollouts are not in it. Before any set is live these are the ones packed with the deployment',
  request: { query: z.object({ dialect }) },
  responses: {
    200: { description: 'RFC 4180, UTF-8', content: { 'text/csv': { schema: z.string() } } },
  },
});

const upload = createRoute({
  method: 'post',
  path: '/limits/import',
  summary: 'Makes an edited file live, all rows or none',
  request: {
    query: z.object({
      dialect,
      prune: yes.openapi({ description: 'Takes limits out that the file does not name.' }),
      dry_run: yes.openapi({ description: 'Only what it would do.' }),
      backtest: yes.openapi({
        description: 'With `dry_run`: counts the jobs of the last days that would have failed, too.',
      }),
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
    428: errorAnswer('Something has to be confirmed'),
  },
});

export const csvRoutes = ({ desk, read, policy, directory, clock }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
    .openapi(download, async (c) => {
      const { document, set, edit } = await exportedLimits(desk);
      const file = exportLimits(document, {
        version: set ?? NO_SET,
        directory: await directory(),
        dialect: dialectOf(c.req.valid('query').dialect),
      });
      c.header('etag', etagOf(set));
      c.header('content-disposition', `attachment; filename="limits-${edit}.csv"`);
      return c.body(file, 200, { 'content-type': 'text/csv; charset=utf-8' });
    })
    .openapi(upload, async (c) => {
      const asked = c.req.valid('query');
      const { user } = c.var;
      const rows = readRows(new Uint8Array(await c.req.arrayBuffer()), dialectOf(asked.dialect));
      if (!rows.ok) return c.json(refused(rows.problems), 422);
      const inForce = await exportedLimits(desk);
      const base = baseOfFile(rows.version, inForce.set);
      const sees = await read.sight(user);
      if (base !== inForce.set) {
        const file = {
          rows: rows.rows,
          dialect: dialectOf(asked.dialect),
          prune: asked.prune === 'yes',
          base,
        };
        const by = actingUser(user);
        const stale = outcomeAnswer(await staleImport(file, by, { desk, policy, directory }), sees);
        return c.json(stale.body as ApiError, 412);
      }
      const imported = importLimits(rows.rows, {
        document: inForce.document,
        policy,
        directory: await directory(),
        dialect: dialectOf(asked.dialect),
        prune: asked.prune === 'yes',
      });
      if (!imported.ok) return c.json(refused(imported.problems), 422);
      const edit = { kind: 'replace', document: imported.document } as const;
      if (asked.dry_run === 'yes') {
        const shown = await read.preview([edit], base, user);
        if (shown.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
        if (shown.outcome === 'invalid') return c.json(shown, 200);
        const totals = writtenTotals(totalChanges(inForce.limits, imported.limits, clock.nowMs()));
        const preview = { ...shown, totals, understood: imported.understood };
        if (asked.backtest !== 'yes') return c.json(preview, 200);
        const backtest = await read.backtest([edit], base, user);
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

const dialectOf = (name: 'comma' | 'semicolon'): CsvDialect =>
  name === 'semicolon' ? SEMICOLON_CSV : PLAIN_CSV;

const refused = (problems: readonly CsvProblem[]): ApiError => ({
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
