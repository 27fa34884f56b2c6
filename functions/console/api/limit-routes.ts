import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  BacktestSchema,
  DecidedRequestSchema,
  ImportPreviewSchema,
  PreviewSchema,
  RequestRowSchema,
} from '../../answers/limits/models.ts';
import { actingUser } from '../../answers/reading/context.ts';
import { type CsvProblem, understoodText } from '../../core/limits/csv/columns.ts';
import { readRows } from '../../core/limits/csv/read-rows.ts';
import {
  AskSchema,
  BreakGlassStateSchema,
  EditsSchema,
  HistoryPageSchema,
  PreviewInputSchema,
  type SentEdit,
  VerdictSchema,
} from '../../core/limits/edit-model.ts';
import { LimitRequestSchema } from '../../core/limits/edit-outcomes.ts';
import { NO_SET } from '../../core/limits/subject-text.ts';
import { list } from '../../core/schema.ts';
import type { SignInEnv } from '../../core/signin/model.ts';
import { dialectOf, exportFile, planImport } from '../import-file.ts';
import {
  type ApiContext,
  type ApiDeps,
  type ApiError,
  apiError,
  baseHeader,
  cursor,
  errors,
  getRoute,
  invalidHook,
  jsonAnswer,
  jsonBody,
  LiveSetSchema,
  NO_BASE,
  NOT_THERE,
  postRoute,
  present,
  sendCsv,
  textId,
  tooOften,
  withProblems,
  yes,
  z,
} from './api-parts.ts';
import {
  AppliedSchema,
  baseOf,
  CHANGES,
  editResponse,
  FiledSchema,
  liveSetOf,
  notDecided,
  notFiled,
  readEdits,
  respond,
  staleError,
} from './edits.ts';
import { formatEtag } from './http.ts';

const filed = jsonAnswer(FiledSchema, 'Another user must approve it; a request was filed');
const JUDGES = [404, 412, 422, 428] as const;

const live = getRoute('/limits', 'The live set of limits; its name is the ETag', LiveSetSchema);
const history = getRoute('/limits/history', 'Changes of limits, newest first', HistoryPageSchema, {
  query: z.object({
    subject: z.string().max(255).optional(),
    before: z.coerce.number().int().positive().optional(),
    max: z.coerce.number().int().min(1).max(100).default(20),
  }),
});
const preview = postRoute(
  '/limits/preview',
  'Effect of edits; changes nothing',
  PreviewSchema,
  { headers: baseHeader, body: jsonBody(PreviewInputSchema) },
  JUDGES,
);
const backtest = {
  ...postRoute(
    '/limits/backtest',
    'Jobs of the last days that edits would have failed; changes nothing',
    BacktestSchema,
    { headers: baseHeader, query: z.object({ cursor }), body: jsonBody(PreviewInputSchema) },
    [...JUDGES, 429],
  ),
  description:
    'Replays the jobs, oldest first, as many as one request may read. Send the same again with the `next` of the answer as `cursor`, until it has none.',
};

const edits = postRoute(
  '/limits/edits',
  'Makes edits live, all or none',
  AppliedSchema,
  { headers: baseHeader, body: jsonBody(EditsSchema) },
  CHANGES,
);
const glasses = getRoute('/breakglass', 'Break-glasses and their use', list(BreakGlassStateSchema));

const csvFormat = { dialect: z.enum(['comma', 'semicolon']).default('comma') };
const csv = { 'text/csv': { schema: z.string() } };

const download = createRoute({
  method: 'get',
  path: '/limits.csv',
  summary: 'All limits in force as CSV, without grants, freezes and rollouts',
  description:
    'Next to the amount are `last_year_mean`, `last_year_most` (use of a period, within the last 365 days) and `forecast` (use of the next period). An import ignores these columns.',
  request: { query: z.object(csvFormat) },
  responses: { 200: { description: 'RFC 4180, UTF-8', content: csv } },
});

const upload = createRoute({
  method: 'post',
  path: '/limits/import',
  summary: 'Makes an edited file live, all rows or none',
  description: 'The column `version` of a file names the set it is an edit of; without it, `If-Match` does.',
  request: {
    headers: baseHeader,
    query: z.object({
      ...csvFormat,
      prune: yes.openapi({ description: 'Removes limits that the file does not name.' }),
      from: z.string().max(40).optional().openapi({
        description:
          'A future day, `2027-01-01`: limits that differ end the day before, and others take over.',
      }),
      dry_run: yes.openapi({ description: 'Only shows the effect.' }),
      backtest: yes.openapi({
        description: 'With `dry_run`: also counts the jobs of the last days that would have failed.',
      }),
      cursor,
      confirmed: yes,
      why: z.string().min(1).max(500),
      name: z.string().max(100).default('limits.csv'),
    }),
    body: { required: true, content: csv },
  },
  responses: {
    200: jsonAnswer(
      z.union([AppliedSchema, ImportPreviewSchema]).openapi('Imported'),
      'The result, or with `dry_run` the effect',
    ),
    202: filed,
    ...errors(CHANGES),
  },
});

export function limitRoutes(deps: ApiDeps) {
  const { limitEdits, read, source = 'api' } = deps;
  const editsOf = (c: ApiContext, sent: readonly SentEdit[]) =>
    readEdits(sent, c.req.header('if-match'), limitEdits);

  return (
    new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })
      .openapi(live, async (c) => {
        const now = await limitEdits.live();
        c.header('etag', formatEtag(now?.pointer.set));
        if (now === undefined) return c.json({}, 200);
        const { admin, finance } = c.var.user.roles;
        return c.json(admin || finance ? liveSetOf(now) : now.pointer, 200);
      })
      .openapi(history, async (c) =>
        c.json(await read.history(present(c.req.valid('query')), c.var.user), 200),
      )
      .openapi(preview, async (c) => {
        const found = await editsOf(c, c.req.valid('json').edits);
        if ('status' in found) return c.json(found.body, found.status);
        const answer = await read.preview(found.edits, found.base, c.var.user);
        return answer.outcome === 'unknown_subject' ? c.json(NOT_THERE, 404) : c.json(answer, 200);
      })
      .openapi(backtest, async (c) => {
        const found = await editsOf(c, c.req.valid('json').edits);
        if ('status' in found) return c.json(found.body, found.status);
        const { cursor: from } = c.req.valid('query');
        const answer = await read.backtest(found.edits, found.base, c.var.user, from);
        if (answer.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
        return answer.outcome === 'too_often' ? tooOften(c, answer.retryAfterSeconds) : c.json(answer, 200);
      })
      // Subjects that are not visible do not exist for the caller.
      .openapi({ ...edits, responses: { ...edits.responses, 202: filed } }, async (c) => {
        const { user } = c.var;
        const body = c.req.valid('json');
        const sees = await read.sight(user);
        const found = await editsOf(c, body.edits);
        if ('status' in found) return respond(c, found);
        const isHidden = found.edits.some((each) => 'subject' in each && !sees(each.subject));
        if (isHidden) return respond(c, { status: 404, body: NOT_THERE });
        const { edits: _, why, confirmed = false } = body;
        const by = { ...actingUser(user), base: found.base, why, source, confirmed };
        return respond(c, editResponse(await limitEdits.apply(found.edits, by), sees));
      })
      .openapi(glasses, async (c) => c.json(await read.breakGlasses(c.var.user), 200))
      .openapi(download, async (c) => {
        const { text: file, set, name } = await exportFile(deps, dialectOf(c.req.valid('query').dialect));
        c.header('etag', formatEtag(set));
        return sendCsv(c, file, name);
      })
      .openapi(upload, async (c) => {
        const { prune, dialect, from, name, why, confirmed, ...query } = c.req.valid('query');
        const { user } = c.var;
        const isDryRun = query.dry_run === 'yes';
        const parsed = readRows(new Uint8Array(await c.req.arrayBuffer()), dialectOf(dialect));
        if (!parsed.ok) return c.json(refusedFile(parsed.problems), 422);
        const { rows, notes } = parsed;
        const given = baseOf(c.req.header('if-match'));
        if (parsed.version === undefined && given === 'missing' && !isDryRun) return c.json(NO_BASE, 428);
        const matched = given === 'missing' ? undefined : (given.base ?? NO_SET);
        if (parsed.version !== undefined && matched !== undefined && matched !== parsed.version)
          return c.json(refusedFile([otherVersion(parsed.version, matched)]), 422);
        const version = parsed.version ?? matched;
        const file = { rows, version, dialect: dialectOf(dialect), prune: prune === 'yes', from };
        const plan = await planImport(file, actingUser(user), deps, isDryRun);
        if (plan.outcome === 'invalid') return c.json(refusedFile(plan.problems), 422);
        const sees = await read.sight(user);
        const { base } = plan;
        if (plan.outcome === 'stale')
          return c.json({ ...staleError(plan, sees), ...withoutAbsent({ base }) }, 412);
        const { edit, isStale, totals, unnamed } = plan;
        if (isDryRun) {
          const shown = await read.preview([edit], base, user);
          if (shown.outcome === 'unknown_subject') return c.json(NOT_THERE, 404);
          if (shown.outcome === 'invalid') return c.json(shown, 200);
          const understood = plan.understood.map((cell) => ({ ...cell, text: understoodText(cell) }));
          const asRead = { understood, unnamed, rowsRead: rows.length, notes };
          const effect = { ...shown, totals, base, ...asRead };
          if (query.backtest !== 'yes' || isStale) return c.json(effect, 200);
          const counted = await read.backtest([edit], base, user, query.cursor);
          return c.json({ ...effect, backtest: counted }, 200);
        }
        const by = { ...actingUser(user), base, why, source: `file ${name}`, confirmed: confirmed === 'yes' };
        return respond(c, editResponse(await limitEdits.apply([edit], by), sees));
      })
  );
}

const otherVersion = (version: string, matched: string): CsvProblem => ({
  line: 0,
  column: 'version',
  message: `the file was exported from set ${version}, and \`If-Match\` says ${matched}; leave one out`,
});

const REFUSED_FILE = apiError(
  'invalid',
  'The file cannot be imported: see the problems.',
  'Correct them and send it again; nothing was changed.',
);

const refusedFile = (problems: readonly CsvProblem[]): ApiError =>
  withProblems(
    REFUSED_FILE,
    problems.map(({ line, column, message }) => ({
      path: [line, ...(column === undefined ? [] : [column])],
      message,
    })),
  );

const file = createRoute({
  method: 'post',
  path: '/requests',
  summary: 'Files a request for more',
  request: { body: jsonBody(AskSchema) },
  responses: {
    201: jsonAnswer(LimitRequestSchema, 'The request waits for a decision'),
    ...errors([403, 404, 409, 422]),
  },
});

const decide = postRoute(
  '/requests/{id}/decision',
  'Approves, which grants the amount or makes the edit live, or declines',
  DecidedRequestSchema,
  { params: textId, body: jsonBody(VerdictSchema) },
  [403, 404, 409, 422],
);

export const requestRoutes = ({ limitEdits, read }: ApiDeps) =>
  new OpenAPIHono<SignInEnv>({ defaultHook: invalidHook })

    .openapi(
      getRoute('/requests', 'Your requests and those of your groups, newest first', list(RequestRowSchema)),
      async (c) => c.json(await read.requests(c.var.user), 200),
    )
    .openapi(file, async (c) => {
      const { user } = c.var;
      const request = c.req.valid('json');
      const sees = await read.sight(user);
      if (!sees(request.subject)) return c.json(NOT_THERE, 404);
      const outcome = await limitEdits.request(request, actingUser(user));
      if (outcome.outcome === 'filed') return c.json(outcome.request, 201);
      const { status, body } = notFiled(outcome);
      return c.json(body, status);
    })
    .openapi(decide, async (c) => {
      const { user } = c.var;
      const { id } = c.req.valid('param');
      // Requests that the user may not see do not exist for them.
      const known = (await read.requests(user)).some((request) => request.id === id);
      if (!known) return c.json(NOT_THERE, 404);
      const outcome = await limitEdits.decide(id, c.req.valid('json'), actingUser(user));
      if (outcome.outcome === 'declined') return c.json(outcome.request, 200);
      if (outcome.outcome === 'approved') {
        const { set, edit } = outcome.pointer;
        return c.json({ ...outcome.request, live: { set, edit } }, 200);
      }
      const { status, body } = notDecided(outcome);
      return c.json(body, status);
    });
