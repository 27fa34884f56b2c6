/** The whole console behind its real sign-in, with a session for every person of {@link USERS}. */

import { randomBytes } from 'node:crypto';
import { createConsoleApp } from '../../../functions/console/app.ts';
import { createAssets } from '../../../functions/console/pages/assets.ts';
import { createPages } from '../../../functions/console/pages/create-pages.ts';
import type { PagesDeps } from '../../../functions/console/pages/page.ts';
import { renderNotice } from '../../../functions/console/pages/problem-page.tsx';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createUploads } from '../../../functions/core/limits/limit-table.ts';
import { createSignIn, type SignInOptions } from '../../../functions/core/signin/create-sign-in.ts';
import { hashSecret, makeCsrfToken, ownSessions } from '../../../functions/core/signin/sessions.ts';
import { memoryLimitTable } from '../../support/tables/memory-limit-table.ts';
import { memorySessionStore } from '../../support/tables/memory-session-store.ts';
import { type consoleHouse, USERS } from './house.ts';

/** The console in the browser; mails name another one. */
export const HERE = 'http://localhost:3000';
const ELSEWHERE = 'https://budget.example.com';
export type Who = keyof typeof USERS;
/** Jobs have no session. */
export const EVERYBODY = (Object.keys(USERS) as Who[]).filter((who) => !who.startsWith('job'));
export const sessionOf = (who: Who): string => hashSecret(who);

type Parts = Pick<ReturnType<typeof consoleHouse>, 'limitEdits' | 'read' | 'policy' | 'directory'> & {
  readonly clock: { nowMs(): number };
};
type Form = Readonly<Record<string, string | File>>;

export async function signedInConsole(
  { limitEdits, read, policy, directory, clock }: Parts,
  more: Partial<Omit<PagesDeps, 'sessions'> & Pick<SignInOptions, 'issuer' | 'fetch'>> & {
    readonly here?: string;
  } = {},
) {
  const { here = HERE, log = silentLog } = more;
  const sessions = memorySessionStore();
  const openSessions = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    for (const who of EVERYBODY) {
      const { id: userId, username, name, roles } = USERS[who];
      const times = { rolesReadAtMs: nowMs, seenAtMs: nowMs, endsAtMs: nowMs + 3_600_000 };
      await sessions.create(hashSecret(sessionOf(who)), { userId, username, name, roles, ...times });
    }
  };
  await openSessions();
  const roles = { read: async (userId: number) => Object.values(USERS).find(({ id }) => id === userId) };
  const signIn = createSignIn({
    ...{ issuer: 'https://gitlab.example.com', clientId: 'tollgate', clientSecret: async () => 'secret' },
    ...{ fetch: () => Promise.reject(new Error('GitLab is away')), redirectUrl: `${here}/signin/callback` },
    ...{ sessions, roles, clock, random: randomBytes, log },
    render: renderNotice,
    ...{ addressOf: () => 'somewhere', sessionLimit: { take: () => undefined } },
    ...more,
  });
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `u${ids}`;
  };
  const common = { limitEdits, read, policy, directory: async () => directory, clock, log };
  const pages = createPages({
    ...{ ...common, zone: 'UTC', origin: ELSEWHERE, sessions: ownSessions(sessions, clock) },
    uploads: createUploads({ table: memoryLimitTable(), clock, newId }),
    ...more,
  });
  const app = createConsoleApp({ ...common, signIn, pages, assets: createAssets() });
  /** As a browser sends it: a page, or a form with the token of its session. */
  const send = async (
    who: Who | undefined,
    path: string,
    form?: Form,
    { origin = here, token = who === undefined ? '' : makeCsrfToken(sessionOf(who)) } = {},
  ) => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ ...form, csrf: token })) body.set(name, value);
    const cookie = who === undefined ? undefined : `tollgate-session=${sessionOf(who)}`;
    const answer = await app.request(here + path, {
      headers: { accept: 'text/html', ...(cookie && { cookie }), ...(form && { origin }) },
      ...(form && { method: 'POST', body }),
    });
    const { status, headers } = answer;
    // A byte order mark stays.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer());
    return { status, to: headers.get('location'), type: headers.get('content-type') ?? '', text };
  };
  const as = (who: Who) => ({
    get: (path: string) => send(who, path),
    post: (path: string, form: Form) => send(who, path, form),
  });
  return { app, pages, send, as, openSessions };
}

/** The hidden fields and what stands in the others, as a browser would send them. */
export const fieldsOf = (html: string): Record<string, string> =>
  Object.fromEntries(
    [
      /<input[^>]*\sname="([^"]+)"[^>]*\svalue="([^"]*)"/g,
      /<input type="hidden" name="([^"]+)" value="([^"]*)"/g,
    ]
      .flatMap((input) => [...html.matchAll(input)])
      .map(([, name = '', value = '']) => [name, value])
      .filter(([name]) => name !== 'csrf'),
  );
