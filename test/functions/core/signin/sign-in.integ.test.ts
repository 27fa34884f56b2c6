import { EncryptJWT } from 'jose';
import { afterEach, expect, test } from 'vitest';
import { isRecord } from '../../../../policies/document/reading.ts';
import { type Browser, newBrowser } from './browser.ts';
import { ADMINS, type Desk, type DeskOptions, openDesk, USERS } from './desk.ts';
import { parseUser, type ShownUser } from './shown-user.ts';

const MINUTE_MS = 60_000;
const open: Desk[] = [];

afterEach(async () => {
  for (const limitEdits of open.splice(0)) await limitEdits.stop();
});

const newDesk = async (options: DeskOptions = {}): Promise<Desk> => {
  const limitEdits = await openDesk(options);
  open.push(limitEdits);
  return limitEdits;
};

const signIn = async (limitEdits: Desk, who: { id: number }, browser = newBrowser()): Promise<Browser> => {
  const page = await browser.open(`${limitEdits.url}/signin`, { as: who.id });
  expect(page.status, page.text).toBe(200);
  return browser;
};

const me = async (limitEdits: Desk, browser: Browser): Promise<ShownUser | number> => {
  const response = await browser.send(`${limitEdits.url}/api/me`, {
    headers: { accept: 'application/json' },
  });
  return response.ok ? parseUser(await response.json()) : response.status;
};

/** The address with GitLab's answer, before the browser goes there. */
const untilCallback = async (limitEdits: Desk, browser: Browser, who: { id: number }): Promise<string> => {
  let url = `${limitEdits.url}/signin`;
  while (!url.startsWith(`${limitEdits.url}/signin/callback`)) {
    const response = await browser.send(url);
    await response.body?.cancel();
    const location = response.headers.get('location');
    url = location === null ? `${url}/${who.id}` : String(new URL(location, url));
  }
  return url;
};

test('whoever opens a page is sent to GitLab and comes back to that page, signed in with roles by group id', async () => {
  const limitEdits = await newDesk();
  const page = await newBrowser().open(`${limitEdits.url}/groups/101?period=2026-11`, { as: USERS.mara.id });
  expect(page.url).toBe(`${limitEdits.url}/groups/101?period=2026-11`);
  expect(page.way.some((step) => step.startsWith(`${limitEdits.gitlab.url}/oauth/authorize`))).toBe(true);
  expect(parseUser(JSON.parse(page.text))).toMatchObject({
    id: 43,
    username: 'mara',
    roles: { admin: false, finance: false, ownedGroupIds: [101], viewerGroupIds: [101, 102] },
  });
});

test('whoever takes the path of a group does not take the rights that go with its id', async () => {
  const limitEdits = await newDesk();
  limitEdits.gitlab.users.set(50, {
    id: 50,
    username: 'eve',
    name: 'Eve',
    memberships: [{ groupId: 999, path: 'company/finance', level: 50 }],
  });
  expect(await me(limitEdits, await signIn(limitEdits, { id: 50 }))).toMatchObject({
    roles: { finance: false },
  });
});

test('an answer with another state opens nothing', async () => {
  const limitEdits = await newDesk();
  const browser = newBrowser();
  const callback = new URL(await untilCallback(limitEdits, browser, USERS.fin));
  const right = String(callback);
  callback.searchParams.set('state', `A${callback.searchParams.get('state')?.slice(1)}`);
  expect(await browser.open(String(callback))).toMatchObject({ status: 400 });
  expect(await me(limitEdits, browser)).toBe(401);
  // And spoils nothing for the right one.
  expect((await browser.open(right)).status).toBe(200);
});

test("an attacker's answer signs no victim in: the browser that asked is the one that is answered", async () => {
  const limitEdits = await newDesk();
  const callback = await untilCallback(limitEdits, newBrowser(), USERS.fin);
  const victim = newBrowser();
  await victim.send(`${limitEdits.url}/signin`);
  expect((await victim.open(callback)).status).toBe(400);
  expect(await me(limitEdits, victim)).toBe(401);
});

test('an answer works once, however often it is sent', async () => {
  const limitEdits = await newDesk();
  const browser = newBrowser();
  const callback = await untilCallback(limitEdits, browser, USERS.fin);
  const answers = await Promise.all([1, 2, 3].map(() => browser.send(callback)));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 400, 400]);
  expect((await browser.open(callback)).text).toContain('Sign in again');
});

test('an answer that comes after ten minutes is too late', async () => {
  const limitEdits = await newDesk();
  const browser = newBrowser();
  const callback = await untilCallback(limitEdits, browser, USERS.fin);
  limitEdits.advance(10 * MINUTE_MS);
  expect((await browser.open(callback)).text).toContain('more than ten minutes ago');
  expect(await me(limitEdits, browser)).toBe(401);
});

test.each([
  { seconds: 150, status: 200, guarantee: 'a clock of ours that is 30 s ahead still takes an ID token' },
  { seconds: 190, status: 400, guarantee: 'an ID token that ended more than 60 s ago is refused' },
])('$guarantee', async ({ seconds, status }) => {
  const limitEdits = await newDesk({ idTokenTtlSeconds: 120 });
  limitEdits.advance(seconds * 1_000);
  const page = await newBrowser().open(`${limitEdits.url}/signin`, { as: USERS.fin.id });
  expect(page.status).toBe(status);
});

test('an ID token that names someone else than the one GitLab signed is refused', async () => {
  let changed = 0;
  const limitEdits = await newDesk({
    async fetch(input, init) {
      const response = await fetch(input, init);
      const body: unknown = await response.clone().json();
      if (!isRecord(body) || typeof body.id_token !== 'string') return response;
      const [head, claims = '', signature] = body.id_token.split('.');
      const text = Buffer.from(claims, 'base64url').toString().replace('"sub":"42"', '"sub":"41"');
      changed += 1;
      const id_token = `${head}.${Buffer.from(text).toString('base64url')}.${signature}`;
      return Response.json({ ...body, id_token });
    },
  });
  const browser = newBrowser();
  expect((await browser.open(`${limitEdits.url}/signin`, { as: USERS.fin.id })).status).toBe(400);
  expect(changed).toBe(1);
  expect(await me(limitEdits, browser)).toBe(401);
});

test('whoever declines at GitLab reads so, and is not signed in', async () => {
  const limitEdits = await newDesk();
  const browser = newBrowser();
  const page = await browser.open(`${limitEdits.url}/signin`, { as: 'decline' });
  expect(page).toMatchObject({ status: 403 });
  expect(page.text).toContain('access_denied');
  expect(await me(limitEdits, browser)).toBe(401);
});

test('a cookie that was changed or made up opens nothing', async () => {
  const limitEdits = await newDesk();
  const browser = await signIn(limitEdits, USERS.fin);
  const id = browser.cookies(limitEdits.url).get('tollgate-session') ?? '';
  const changed = `${id.slice(0, -2)}${id.endsWith('AA') ? 'BA' : 'AA'}`;
  for (const value of [changed, 'x'.repeat(43), '', 'x'.repeat(5_000), `${id}%0a`]) {
    const other = newBrowser();
    other.setCookie(limitEdits.url, 'tollgate-session', value);
    expect(await me(limitEdits, other)).toBe(401);
  }
  expect(await me(limitEdits, browser)).toMatchObject({ id: USERS.fin.id });
});

test('the id in the cookie is new with every sign-in, and the one before opens nothing any more', async () => {
  const limitEdits = await newDesk();
  const planted = 'x'.repeat(43);
  const browser = newBrowser();
  browser.setCookie(limitEdits.url, 'tollgate-session', planted);
  await signIn(limitEdits, USERS.fin, browser);
  const first = browser.cookies(limitEdits.url).get('tollgate-session') ?? '';
  expect(first).not.toBe(planted);
  await signIn(limitEdits, USERS.fin, browser);
  const second = browser.cookies(limitEdits.url).get('tollgate-session');
  expect(second).not.toBe(first);
  const thief = newBrowser();
  thief.setCookie(limitEdits.url, 'tollgate-session', first);
  expect(await me(limitEdits, thief)).toBe(401);
});

test('a membership that was taken away takes its role with it within 15 minutes', async () => {
  const limitEdits = await newDesk();
  const browser = await signIn(limitEdits, USERS.fin);
  const fin = limitEdits.gitlab.users.get(USERS.fin.id);
  if (fin !== undefined) fin.memberships = [{ groupId: ADMINS + 100, path: 'other', level: 30 }];
  let finance = 0;
  for (let minute = 1; minute <= 15; minute += 1) {
    limitEdits.advance(MINUTE_MS);
    const user = await me(limitEdits, browser);
    if (typeof user === 'object' && user.roles.finance) finance = minute;
  }
  expect(finance).toBeGreaterThan(0);
  expect(finance).toBeLessThan(15);
  expect(await me(limitEdits, browser)).toMatchObject({ roles: { finance: false, viewerGroupIds: [107] } });
});

test('whoever is blocked in GitLab is signed out within 15 minutes and cannot come back', async () => {
  // Our clock runs ahead of GitLab's here.
  const limitEdits = await newDesk({ idTokenTtlSeconds: 3_600 });
  const browser = await signIn(limitEdits, USERS.fin);
  const fin = limitEdits.gitlab.users.get(USERS.fin.id);
  if (fin !== undefined) fin.state = 'blocked';
  limitEdits.advance(15 * MINUTE_MS);
  expect(await me(limitEdits, browser)).toBe(401);
  const page = await browser.open(`${limitEdits.url}/signin`, { as: USERS.fin.id });
  expect(page.status).toBe(403);
  expect(page.text).toContain('active user');
});

test('a GitLab that is silent keeps nobody waiting, and no rights longer than 15 minutes', async () => {
  const limitEdits = await newDesk();
  const browser = await signIn(limitEdits, USERS.fin);
  limitEdits.gitlab.silent = true;
  limitEdits.advance(11 * MINUTE_MS);
  expect(await me(limitEdits, browser)).toMatchObject({ roles: { finance: true } });
  const asked = limitEdits.gitlab.calls.length;
  expect(await me(limitEdits, browser)).toMatchObject({ roles: { finance: true } });
  expect(limitEdits.gitlab.calls.length).toBe(asked);
  limitEdits.advance(4 * MINUTE_MS);
  expect(await me(limitEdits, browser)).toBe(401);
  limitEdits.gitlab.silent = false;
  expect(await me(limitEdits, browser)).toBe(401);
});

test.each([
  { everyMinutes: 70, minutes: 70, guarantee: 'an hour without a request ends the session' },
  { everyMinutes: 30, minutes: 600, guarantee: 'ten hours end it, however busy it is' },
])('$guarantee', async ({ everyMinutes, minutes }) => {
  const limitEdits = await newDesk();
  const browser = await signIn(limitEdits, USERS.fin);
  for (let passed = everyMinutes; passed <= minutes; passed += everyMinutes) {
    expect(await me(limitEdits, browser)).toMatchObject({ id: USERS.fin.id });
    limitEdits.advance(everyMinutes * MINUTE_MS);
  }
  expect(await me(limitEdits, browser)).toBe(401);
});

test('after signing out the cookie opens nothing, not even a copy of it', async () => {
  const limitEdits = await newDesk();
  const browser = await signIn(limitEdits, USERS.fin);
  const copy = newBrowser();
  const id = browser.cookies(limitEdits.url).get('tollgate-session') ?? '';
  copy.setCookie(limitEdits.url, 'tollgate-session', id);
  const user = await me(limitEdits, browser);
  if (typeof user === 'number') throw new Error('not signed in');
  const body = new URLSearchParams({ csrf: user.csrfToken });
  const out = await browser.send(`${limitEdits.url}/signout`, {
    method: 'POST',
    body,
    headers: { origin: limitEdits.url },
  });
  expect([out.status, out.headers.get('location')]).toEqual([303, '/signout']);
  expect(browser.cookies(limitEdits.url).has('tollgate-session')).toBe(false);
  expect((await browser.open(`${limitEdits.url}/signout`)).text).toContain('You are signed out');
  expect(await me(limitEdits, copy)).toBe(401);
});

test('a pending sign-in in a cookie says nothing, cannot be made up, and goes with its end', async () => {
  const limitEdits = await newDesk();
  const browser = newBrowser();
  const callback = await untilCallback(limitEdits, browser, USERS.fin);
  const [[name = '', sealed = ''] = []] = browser.cookies(limitEdits.url);
  expect(name).toMatch(/^tollgate-signin-[\w-]{16}$/);
  expect(browser.received.find((each) => each.startsWith(name))).toMatch(
    /Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const state = new URL(callback).searchParams.get('state') ?? '';
  for (const part of sealed.split('.'))
    expect(Buffer.from(part, 'base64url').toString()).not.toContain(state);
  const forged = await new EncryptJWT({
    state,
    nonce: 'n',
    codeVerifier: 'v',
    returnTo: 'https://evil.example',
  })
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .setExpirationTime('5m')
    .encrypt(new Uint8Array(32));
  const parts = sealed.split('.');
  const body = parts[3] ?? '';
  const changed = [...parts.slice(0, 3), `${body.slice(1)}${body[0]}`, parts[4]].join('.');
  for (const value of [forged, changed, 'x.y', '', 'x'.repeat(9_000)]) {
    const other = newBrowser();
    other.setCookie(limitEdits.url, name, value);
    expect((await other.open(callback)).text).toContain('Sign in again');
  }
  expect((await browser.open(callback)).status).toBe(200);
  expect([...browser.cookies(limitEdits.url).keys()]).toEqual(['tollgate-session']);
});

test('two tabs that sign in at the same time both arrive, each at its own page', async () => {
  const limitEdits = await newDesk();
  const browser = newBrowser();
  const begin = async (path: string): Promise<string> => {
    const response = await browser.send(`${limitEdits.url}/signin?returnTo=${encodeURIComponent(path)}`);
    return response.headers.get('location') ?? '';
  };
  const [one, two] = [await begin('/groups/1'), await begin('/groups/2')];
  expect(await browser.open(one, { as: USERS.fin.id })).toMatchObject({
    status: 200,
    url: `${limitEdits.url}/groups/1`,
  });
  expect(await browser.open(two, { as: USERS.fin.id })).toMatchObject({
    status: 200,
    url: `${limitEdits.url}/groups/2`,
  });
});

test('a form or a call changes something only from our own page with the token of its session', async () => {
  const limitEdits = await newDesk();
  const browser = await signIn(limitEdits, USERS.fin);
  const user = await me(limitEdits, browser);
  const other = await me(limitEdits, await signIn(limitEdits, USERS.fin));
  if (typeof user === 'number' || typeof other === 'number') throw new Error('not signed in');
  const post = async (csrf: string, headers: Record<string, string>): Promise<number> => {
    const body = new URLSearchParams({ csrf, amount: '5' });
    return (await browser.send(`${limitEdits.url}/limits`, { method: 'POST', body, headers })).status;
  };
  const here = { origin: limitEdits.url };
  expect(await post(user.csrfToken, here)).toBe(200);
  expect(await post(user.csrfToken, { ...here, 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(await post(user.csrfToken, { 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(await post(user.csrfToken, {})).toBe(403);
  expect(await post(user.csrfToken, { origin: 'https://evil.example' })).toBe(403);
  expect(await post(user.csrfToken, { origin: 'null' })).toBe(403);
  expect(
    await post(user.csrfToken, { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }),
  ).toBe(403);
  expect(await post(user.csrfToken, { ...here, 'sec-fetch-site': 'same-site' })).toBe(403);
  expect(await post(user.csrfToken, { ...here, 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await post('', here)).toBe(403);
  expect(await post(other.csrfToken, here)).toBe(403);
  const call = async (headers: Record<string, string>): Promise<Response> =>
    browser.send(`${limitEdits.url}/api/limits`, {
      method: 'POST',
      body: '{"amount":5}',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...here, ...headers },
    });
  expect(await (await call({ 'x-csrf-token': user.csrfToken })).json()).toEqual({ amount: 5 });
  const refused = await call({});
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'not_from_here' } });
  const out = await browser.send(`${limitEdits.url}/signout`, { method: 'POST', headers: here });
  expect(out.status).toBe(403);
  expect(await me(limitEdits, browser)).toMatchObject({ id: USERS.fin.id });
});

test('the thirty-first sign-in of a minute from one address is told to wait, and the next minute it works', async () => {
  const limitEdits = await newDesk();
  const browser = newBrowser();
  const begin = async (): Promise<Response> => browser.send(`${limitEdits.url}/signin`);
  for (let count = 1; count <= 30; count += 1) expect((await begin()).status).toBe(302);
  const refused = await begin();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  limitEdits.advance(MINUTE_MS);
  expect((await begin()).status).toBe(302);
});

test('without a session a page leads to the sign-in, a form and a call get 401', async () => {
  const limitEdits = await newDesk();
  const browser = newBrowser();
  const page = await browser.send(`${limitEdits.url}/groups/1?a=b`);
  expect([page.status, page.headers.get('location')]).toEqual([
    302,
    '/signin?returnTo=%2Fgroups%2F1%3Fa%3Db',
  ]);
  const call = await browser.send(`${limitEdits.url}/api/me`);
  expect(call.status).toBe(401);
  expect(await call.json()).toEqual({
    error: { code: 'signed_out', message: expect.any(String), remedy: expect.any(String) },
  });
  const form = await browser.send(`${limitEdits.url}/limits`, {
    method: 'POST',
    headers: { origin: limitEdits.url },
  });
  expect(form.status).toBe(401);
});

test("a wrong client secret is ours to mend, and says so without GitLab's answer", async () => {
  const limitEdits = await newDesk({ clientSecret: async () => 'wrong-secret-1234' });
  const page = await newBrowser().open(`${limitEdits.url}/signin`, { as: USERS.fin.id });
  expect(page.status).toBe(503);
  expect(page.text).toContain('invalid_client');
  expect(page.text + limitEdits.logged()).not.toContain('wrong-secret-1234');
});

test('no log, page or cookie has a code, a token, a secret, a verifier or the id of a session', async () => {
  const seen: string[] = [];
  const limitEdits = await newDesk({
    async fetch(input, init) {
      seen.push(...new URLSearchParams(String(init?.body ?? '')).values());
      const response = await fetch(input, init);
      const text = await response.clone().text();
      for (const name of ['access_token', 'id_token', 'refresh_token'])
        seen.push(
          ...[new RegExp(`"${name}":"([^"]+)"`).exec(text)?.[1] ?? ''].filter((token) => token !== ''),
        );
      return response;
    },
  });
  const browser = await signIn(limitEdits, USERS.fin);
  const id = browser.cookies(limitEdits.url).get('tollgate-session') ?? '';
  const pages =
    (await browser.open(`${limitEdits.url}/`)).text +
    (await browser.open(`${limitEdits.url}/signin/callback`)).text;
  const secrets = [
    ...seen.filter((value) => value.length > 30 && !value.startsWith('http')),
    limitEdits.gitlab.token,
  ];
  expect(secrets.length).toBeGreaterThanOrEqual(5);
  for (const secret of secrets) {
    expect(limitEdits.logged() + pages).not.toContain(secret);
    const ours = browser.received.filter((cookie) => cookie.startsWith('tollgate'));
    expect(ours.join('\n')).not.toContain(secret);
  }
  expect(limitEdits.logged() + pages).not.toContain(id);
  expect(limitEdits.logged()).toContain('signed in');
});
