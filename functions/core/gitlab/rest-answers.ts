import { GitLabError } from './gitlab.ts';
import { answered, type RestAnswer } from './rest-call.ts';
import { nextPage } from './rest-pages.ts';

/** The body of an answer that has to be there; 404 means that this is not the address of a GitLab. */
export function readFound(path: string, answer: RestAnswer): unknown {
  if (answer.status === 200) return answer.body;
  throw new GitLabError(
    'gitlab_unreadable',
    `${answered(`GET ${path}`, answer, answer.status)}. Check that this is GitLab's address, and its version.`,
  );
}

export function readList(path: string, answer: RestAnswer): readonly unknown[] {
  const body = readFound(path, answer);
  if (Array.isArray(body)) return body;
  throw new GitLabError('gitlab_unreadable', `GET ${path}: the answer is not a list`);
}

/** What every page says beside its entries. */
export function pageEnd(unreadable: number, headers: Headers): { unreadable?: number; next?: string } {
  const next = nextPage(headers);
  return { ...(unreadable > 0 && { unreadable }), ...(next !== undefined && { next }) };
}

/** @throws {Error} if it is no plain http or https address; it is never quoted, because it could hold a password. */
export function checkBaseUrl(baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (isHttp && url.username === '' && url.password === '' && url.search === '' && url.hash === '') return;
  throw new Error(
    "GitLab's URL is no plain http or https address; expected one like https://gitlab.example.com",
  );
}
