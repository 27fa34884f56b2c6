/** Answers of the API, whether it runs at a console or in this process. */
import type { ClientResponse } from 'hono/client';
import type { CountedSpan } from '../../../functions/answers/limits/models.ts';
import type { ApiError } from '../../../functions/console/api/api-parts.ts';
import type { apiClient } from '../../../functions/console/api/client.ts';
import { formatEtag } from '../../../functions/console/api/http.ts';
import { type TerminalIo, UsageError } from '../../terminal/command.ts';
import { type SetView, setShown } from '../limits/set-view.ts';
import { shadowCount } from '../report/shadow-words.ts';

export type ApiClient = ReturnType<typeof apiClient>;

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

export type ApiRefusal = ApiError;

export type ApiAnswer<Body> =
  | { readonly ok: true; readonly body: Body }
  | { readonly ok: false; readonly status: number; readonly refused: ApiError };

export async function answerOf<Response extends ClientResponse<unknown>>(
  asking: Promise<Response>,
): Promise<ApiAnswer<AnswerOf<Response>>> {
  const response = await asking;
  if (response.ok) return { ok: true, body: (await response.json()) as AnswerOf<Response> };
  return { ok: false, status: response.status, refused: (await response.json()) as ApiError };
}

/** A wrong flag for what is not there or cannot be meant; a failure for all else, such as a console that does not answer. */
export function refusalError(status: number, { message, remedy }: ApiRefusal['error']): Error {
  const text = `${message} ${remedy}`;
  return status === 404 || status === 422 ? new UsageError(text) : new Error(text);
}

/** The same where it has to be there. @throws {UsageError} for what is not there or cannot be meant, {Error} with the remedy for all else. */
export async function readInProcess<Response extends ClientResponse<unknown>>(
  asking: Promise<Response>,
): Promise<AnswerOf<Response>> {
  const answer = await answerOf(asking);
  if (answer.ok) return answer.body;
  throw refusalError(answer.status, answer.refused.error);
}

export async function found<Response extends ClientResponse<unknown>>(
  asking: Promise<Response>,
): Promise<AnswerOf<Response> | undefined> {
  const response = await asking;
  return response.status === 404 ? undefined : readInProcess(Promise.resolve(response));
}

export async function allPages<Page extends { readonly next?: string }>(
  ask: (from: { readonly cursor?: string }) => Promise<Page>,
): Promise<readonly [Page, ...Page[]]> {
  const pages: [Page, ...Page[]] = [await ask({})];
  for (let cursor = pages[0].next; cursor !== undefined; cursor = pages.at(-1)?.next)
    pages.push(await ask({ cursor }));
  return pages;
}

/** Asks until everything is counted, and shows on the terminal how far it is. @returns the last answer */
export async function countToTheEnd<Answer>(
  ask: (query: { readonly cursor?: string }) => Promise<Answer>,
  spanOf: (answer: Answer) => Pick<CountedSpan, 'days' | 'daysCounted' | 'jobsRead' | 'next'> | undefined,
  io: Pick<TerminalIo, 'err' | 'progress'>,
): Promise<Answer> {
  let answer = await ask({});
  let span = spanOf(answer);
  const isShown = io.progress && span?.next !== undefined;
  while (span?.next !== undefined) {
    const { days, daysCounted, jobsRead, next } = span;
    if (isShown)
      io.err(`\r${daysCounted} of ${days} days counted, ${shadowCount(jobsRead)} records read\u001b[K`);
    answer = await ask({ cursor: next });
    span = spanOf(answer);
  }
  if (isShown) io.err('\r\u001b[K');
  return answer;
}

type EditsCall = ApiClient['limits']['edits']['$post'];
type LiveSetAnswer = AnswerOf<Awaited<ReturnType<ApiClient['limits']['$get']>>>;

export type SentEdit = Parameters<EditsCall>[0]['json']['edits'][number];

export type EditAnswer = Awaited<ReturnType<typeof answerOf<Awaited<ReturnType<EditsCall>>>>>;

export const ifMatchSet = (set: string | undefined) => ({ 'if-match': formatEtag(set) });

export const liveSet = async (api: ApiClient): Promise<SetView | undefined> =>
  readSetView(await readInProcess(api.limits.$get()));

export function readSetView({ set, edit = 0, atMs = 0, ...change }: LiveSetAnswer): SetView | undefined {
  const { actor = '', why = '', source = '', base } = change;
  if (set === undefined) return undefined;
  return setShown({ set, edit }, { atMs, actor, why, source, ...(base !== undefined && { base }) });
}
