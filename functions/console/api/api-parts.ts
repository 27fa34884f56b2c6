import { createRoute, type Hook, type RouteConfig, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Directory } from '../../../policies/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { ConsoleReader } from '../../answers/create-console-read.ts';
import { roleName } from '../../answers/groups/me.ts';
import type { Log } from '../../core/environment/environment.ts';
import type { LimitEdits } from '../../core/limits/create-limit-edits.ts';
import { ChangeRowSchema } from '../../core/limits/edit-model.ts';
import { ACTS, type Denial } from '../../core/limits/edit-outcomes.ts';
import { count, instantMs, list, maybe, text as words } from '../../core/schema.ts';
import type { SignInEnv } from '../../core/signin/model.ts';
import type { ReportSender } from './notify-owner.ts';

export { subjectAsked as subject } from '../../core/limits/edit-model.ts';
export { z };

export interface ApiDeps {
  readonly limitEdits: LimitEdits;
  readonly read: ConsoleReader;
  readonly policy: Policy;
  readonly directory: () => Promise<Directory | undefined>;
  readonly clock: { nowMs(): number };
  readonly origin?: string;
  readonly notifyOwner?: ReportSender;
  readonly log: Log;
  readonly source?: string;
  /** Receives errors answered with 500 or 503, for a caller in the same process. @default only the log, without a message */
  readonly onFailure?: (error: Error) => void;
}

export type ApiContext = Context<SignInEnv>;

const DeniedSchema = z
  .object({
    row: ChangeRowSchema,
    act: z.enum(ACTS),
    needs: list(roleName, 'Roles that may, weakest first.'),
    sentence: z.string().openapi({ example: 'to loosen it you must be of finance or an administrator' }),
  })
  .openapi('Denied') satisfies z.ZodType<Denial & { readonly sentence: string }>;

const some = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  z.array(schema).optional().openapi({ description });

export const LiveSetSchema = z
  .object({
    set: maybe(words('Absent: none was ever live.')),
    edit: maybe(count('The edit that made it live.')),
    atMs: maybe(instantMs()),
    actor: maybe(words('This and the following: for finance and administrators.')),
    why: maybe(words()),
    source: maybe(words()),
    base: maybe(words('The set it was an edit of.')),
  })
  .openapi('LiveSet');

const ErrorSchema = z
  .object({
    error: z.object({
      code: z.string().openapi({ description: 'Stable; for programs.', example: 'stale' }),
      message: z.string(),
      remedy: z.string(),
    }),
    problems: some(
      z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
      'With `invalid`: all problems, with their places.',
    ),
    denied: some(DeniedSchema, 'With `forbidden`: the changes, and who may make them.'),
    rows: some(ChangeRowSchema, 'With `needs_confirmation` and `needs_approval`: the changes.'),
    lockout: some(z.string(), 'With `needs_confirmation`: jobs of the platform that would be rejected.'),
    base: z.string().optional().openapi({ description: 'With `stale`: the set a file is an edit of.' }),
    live: LiveSetSchema.optional().openapi({ description: 'With `stale`: the live set.' }),
    mine: some(ChangeRowSchema, 'With `stale`: the effect of the edits on their base.'),
    theirs: some(ChangeRowSchema, 'With `stale`: changes by others since, of the same subjects.'),
  })
  .openapi('Error');

export type ApiError = z.infer<typeof ErrorSchema>;

export const apiError = (code: string, message: string, remedy: string): ApiError => ({
  error: { code, message, remedy },
});

export const withProblems = (
  error: ApiError,
  problems: readonly { readonly path: readonly (string | number)[]; readonly message: string }[],
): ApiError => ({ ...error, problems: problems.map(({ path, message }) => ({ path: [...path], message })) });

export const UNREADABLE = apiError(
  'malformed',
  'The body or an encoding in the address cannot be read; nothing was changed.',
  'Send JSON in UTF-8 with `content-type: application/json`, or a form as the pages send it.',
);
export const NOT_THERE = apiError(
  'unknown',
  'This does not exist, or it is not in one of your groups.',
  'Check the id, or ask the owner of the group for membership.',
);
export const BROKEN = apiError(
  'failed',
  'An internal error occurred.',
  'Try again. If it fails again, ask the platform team.',
);
export const NO_BASE = apiError(
  'base_missing',
  'The request does not name the set of limits that it edits.',
  'Send `If-Match` with the ETag of GET /api/v1/limits.',
);
const TOO_OFTEN = apiError(
  'too_often',
  'Counting jobs costs thousands of reads, so six counts a minute are allowed.',
  'Wait as long as `retry-after` says. The preview gives an estimate without a wait.',
);

export function tooOften(c: ApiContext, retryAfterSeconds: number) {
  c.header('retry-after', String(retryAfterSeconds));
  return c.json(TOO_OFTEN, 429);
}

export const INVALID = apiError(
  'invalid',
  'The request does not have the expected form: see the problems.',
  'Correct them; /api/v1/openapi.json describes what is expected.',
);
const PROBLEMS_MAX = 50;

export const invalidHook: Hook<unknown, SignInEnv, string, Response | undefined> = (result, c) => {
  if (result.success) return undefined;
  const problems = result.error.issues.slice(0, PROBLEMS_MAX).map(({ path, message }) => ({
    path: path.map((step) => (typeof step === 'symbol' ? String(step) : step)),
    message,
  }));
  return c.json(withProblems(INVALID, problems), 422);
};

/** @param schema - a model of functions/answers: the type that the reader returns */
export const jsonAnswer = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

const ERROR_TEXTS = {
  403: 'Not with your roles; `denied` says who may',
  404: 'Unknown, or not in one of your groups',
  409: 'Decided before, or too many requests are waiting already',
  412: 'Others changed the limits since `If-Match`; `mine` and `theirs` show both',
  413: 'Too large',
  422: 'Cannot be done; `problems` says why',
  428: '`If-Match` is missing, or something has to be confirmed',
  429: 'Too many counts; `retry-after` says how long to wait',
} as const;
type ErrorStatus = keyof typeof ERROR_TEXTS;

export const errors = <Status extends ErrorStatus>(statuses: readonly Status[]) =>
  Object.fromEntries(
    statuses.map((status) => [status, jsonAnswer(ErrorSchema, ERROR_TEXTS[status])]),
  ) as Readonly<Record<Status, ReturnType<typeof jsonAnswer<typeof ErrorSchema>>>>;

type Request = NonNullable<RouteConfig['request']>;

const routeBy =
  <const Method extends 'get' | 'post'>(method: Method) =>
  <
    Path extends string,
    Schema extends z.ZodType,
    R extends Request = Record<never, never>,
    Status extends ErrorStatus = never,
  >(
    path: Path,
    summary: string,
    schema: Schema,
    request: R = {} as R,
    statuses: readonly Status[] = [],
  ) =>
    createRoute({
      method,
      path,
      summary,
      request,
      responses: { 200: jsonAnswer(schema, 'Done'), ...errors(statuses) },
    });
export const getRoute = routeBy('get');
export const postRoute = routeBy('post');

export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true,
  content: { 'application/json': { schema } },
});

export const text = (max: number) => z.string().max(max);
export const whole = z.coerce.number().int();
export const yes = z.literal('yes').optional();
export const upTo = (max: number) => whole.min(1).max(max).optional();
export const textId = z.object({
  id: text(100)
    .min(1)
    .openapi({ param: { name: 'id', in: 'path' } }),
});

/** `If-Match: "<set>"`, the base of the edits; `"none"` while none was ever live. */
export const baseHeader = z.object({
  'if-match': z.string().max(100).optional().openapi({ example: '"b1946ac92492d2347c6235b4"' }),
});

export const cursor = z
  .string()
  .max(100)
  .optional()
  .openapi({ description: '`next` of the previous answer.' });

type Present<Shape> = { [Key in keyof Shape]: Exclude<Shape[Key], undefined> };

export const present = <Shape extends object>(asked: Shape) => withoutAbsent(asked) as Present<Shape>;

export const sendCsv = (c: Context, text: string, name: string) =>
  c.body(text, 200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  });

export const found = <View extends object>(c: ApiContext, view: View | undefined) =>
  view === undefined ? c.json(NOT_THERE, 404) : c.json(view, 200);
