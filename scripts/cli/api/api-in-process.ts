/** The console's API in this process: access to the table needs no sign-in. */
import { Hono } from 'hono';
import type { ClientResponse } from 'hono/client';
import { NO_USER_ID } from '../../../functions/answers/reading/context.ts';
import type { ApiDeps, ApiError } from '../../../functions/console/api/api-parts.ts';
import { apiClient } from '../../../functions/console/api/client.ts';
import { API_PATH, createApi } from '../../../functions/console/api/create-api.ts';
import { silentLog } from '../../../functions/core/environment/index.ts';
import type { Rights, RoleName } from '../../../functions/core/limits/index.ts';
import type { Roles, SignInEnv, User } from '../../../functions/core/signin/index.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { UsageError } from '../../terminal/command.ts';

export type ApiClient = ReturnType<typeof apiClient>;

export type { Rights };

/** Goes nowhere: addresses need an origin. */
const ORIGIN = 'http://in-process.invalid';

/** The caller. */
interface Caller {
  /** For people: whose request something is. */
  readonly name: string;
  readonly roles: Roles;
}

/** Converts rights for the API. A viewer of everything views all top-level groups. */
export function rolesOf(rights: Rights, { groupById }: Directory): Roles {
  const isAny = (name: RoleName): boolean => rights.some(({ role }) => role === name);
  const tops = [...groupById.values()].flatMap(({ id, parentId }) => (parentId === undefined ? [id] : []));
  const ownedGroupIds = rights.flatMap((right) => (right.role === 'owner' ? right.groups : []));
  const viewed = rights.flatMap((right) =>
    right.role !== 'viewer' ? [] : right.groups === 'all' ? tops : right.groups,
  );
  return {
    admin: isAny('admin'),
    finance: isAny('finance'),
    ownedGroupIds,
    viewerGroupIds: [...ownedGroupIds, ...viewed],
  };
}

/** Calls throw the cause of a failure, e.g. a {LedgerError}, whose message is for owners of the table. */
export function apiInProcess(deps: Omit<ApiDeps, 'log' | 'onFailure'>, { name, roles }: Caller): ApiClient {
  let broken: Error | undefined;
  const onFailure = (error: Error): void => {
    broken = error;
  };
  const app = new Hono<SignInEnv>();
  const user: User = { id: NO_USER_ID, username: name, name, roles, sessionId: '', csrfToken: '' };
  app.use(async (c, next) => {
    c.set('user', user);
    await next();
  });
  app.route(API_PATH, createApi({ ...deps, log: silentLog, onFailure }));
  const send: typeof fetch = async (input, init) => {
    broken = undefined;
    const response = await app.request(input as string | Request, init);
    if (broken !== undefined) throw broken;
    return response;
  };
  return apiClient({ origin: ORIGIN, fetch: send });
}

type AnswerOf<Response> =
  Response extends ClientResponse<infer Body, infer Status, 'json'>
    ? Status extends 200 | 201 | 202
      ? Exact<Body>
      : never
    : never;

/** JSON has no undefined: a property is there with a value, or not at all. */
type Exact<Json> = Json extends object
  ? { [Name in keyof Json]: Exact<Exclude<Json[Name], undefined>> }
  : Json;

/** The problem and its remedy. */
export type ApiRefusal = ApiError;

/** The response, or its refusal. */
export type ApiAnswer<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly status: number; readonly refused: ApiRefusal };

export async function answerOf<Response extends ClientResponse<unknown>>(
  asking: Promise<Response>,
): Promise<ApiAnswer<AnswerOf<Response>>> {
  const response = await asking;
  if (response.ok) return { ok: true, body: (await response.json()) as AnswerOf<Response> };
  return { ok: false, status: response.status, refused: (await response.json()) as ApiError };
}

/** The same where it has to be there. @throws {UsageError} for what is not there or cannot be meant, {Error} with the remedy for all else. */
export async function answeredInProcess<Response extends ClientResponse<unknown>>(
  asking: Promise<Response>,
): Promise<AnswerOf<Response>> {
  const answer = await answerOf(asking);
  if (answer.ok) return answer.body;
  const { message, remedy } = answer.refused.error;
  const text = `${message} ${remedy}`;
  throw answer.status === 404 || answer.status === 422 ? new UsageError(text) : new Error(text);
}

/** The same for optional items. */
export async function found<Response extends ClientResponse<unknown>>(
  asking: Promise<Response>,
): Promise<AnswerOf<Response> | undefined> {
  const response = await asking;
  return response.status === 404 ? undefined : answeredInProcess(Promise.resolve(response));
}
