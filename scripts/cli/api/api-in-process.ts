import { Hono } from 'hono';
import { NO_USER_ID } from '../../../functions/answers/reading/context.ts';
import type { ApiDeps } from '../../../functions/console/api/api-parts.ts';
import { apiClient } from '../../../functions/console/api/client.ts';
import { createApi } from '../../../functions/console/api/create-api.ts';
import { editResponse } from '../../../functions/console/api/edits.ts';
import { API_PATH } from '../../../functions/console/api/http.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import type { ApplyOutcome } from '../../../functions/core/limits/edit-outcomes.ts';
import type { Roles, SignInEnv, User } from '../../../functions/core/signin/model.ts';
import type { ApiAnswer, ApiClient, EditAnswer } from './answers.ts';

const ORIGIN = 'http://in-process.invalid';

const ADMIN: Roles = { admin: true, finance: false, ownedGroupIds: [], viewerGroupIds: [] };

export function apiInProcess(deps: Omit<ApiDeps, 'log' | 'onFailure'>, name: string): ApiClient {
  let broken: Error | undefined;
  const onFailure = (error: Error): void => {
    broken = error;
  };
  const app = new Hono<SignInEnv>();
  const user: User = { id: NO_USER_ID, username: name, name, roles: ADMIN, sessionId: '', csrfToken: '' };
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

/** Gives an outcome of limit edits in this process the form of the API's answer. */
export function editAnswer(outcome: ApplyOutcome): EditAnswer {
  const { status, body } = editResponse(outcome, () => true);
  const answer: ApiAnswer<unknown> =
    status === 200 || status === 202 ? { ok: true, body } : { ok: false, status, refused: body };
  return answer as EditAnswer;
}
