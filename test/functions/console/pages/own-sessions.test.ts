import { expect, test } from 'vitest';
import { SignInError } from '../../../../functions/core/signin/model.ts';
import { pagesApp } from './pages-server.ts';

const MINUTE_MS = 60_000;
const ROW = { isTerminal: false, isThis: false, beganAgoMs: 120 * MINUTE_MS, seenAgoMs: 30 * MINUTE_MS };

function house() {
  const ended: unknown[] = [];
  const sessions = {
    list: async () => [
      { ...ROW, handle: 'a', isThis: true },
      { ...ROW, handle: 'b' },
      { ...ROW, handle: 'c', isTerminal: true },
    ],
    end: async (_: unknown, which: unknown) => ended.push(which),
  };
  const { app } = pagesApp('full', { sessions });
  const post = (fields: Readonly<Record<string, string>>) =>
    app.request('/me/sessions', {
      method: 'POST',
      body: new URLSearchParams({ csrf: 'token-of-this-session', ...fields }),
    });
  return { app, ended, post };
}

test('everybody reads where they are signed in, and ends any but the one they read it in', async () => {
  const { app, ended, post } = house();
  const page = await (await app.request('/me')).text();
  expect(page.match(/A (browser|terminal) /g)).toEqual(['A browser ', 'A browser ', 'A terminal ']);
  expect(page).toContain('2 hours ago');
  expect([...page.matchAll(/name="handle" value="(\w)"/g)].map(([, handle]) => handle)).toEqual(['b', 'c']);
  expect((await post({ handle: 'b' })).headers.get('location')).toBe('/me');
  await post({ step: 'others' });
  await post({});
  expect(ended).toEqual([{ handle: 'b' }, 'others']);
});

test('the page comes without them while nobody can read them, and says so of what was not ended', async () => {
  const gone = () => Promise.reject(new SignInError('sessions_unavailable', 'away', 'Try again.'));
  const { app } = pagesApp('full', { sessions: { list: gone, end: gone } });
  const page = await app.request('/me');
  expect([page.status, (await page.text()).includes('id="sessions"')]).toEqual([200, false]);
  const body = new URLSearchParams({ csrf: 'token-of-this-session', step: 'others' });
  expect((await app.request('/me/sessions', { method: 'POST', body })).status).toBe(503);
});
