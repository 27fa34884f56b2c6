import { expect, test } from 'vitest';
import { ownSessions, SESSION_MS } from '../../../../functions/core/signin/sessions.ts';
import { memorySessionStore } from '../../../support/tables/memory-session-store.ts';
import { SESSION } from './session-contract.ts';

const NOW_MS = 1_795_262_400_000;
const MINUTE_MS = 60_000;
const hashOf = (name: string): string => name.padEnd(43, 'x');

/** User 42 in this browser, another one, one that was left alone, a terminal, and one that is over; user 43 in one. */
async function signedIn() {
  const store = memorySessionStore();
  const add = (name: string, seenAgoMs: number, more: object = {}) =>
    store.create(hashOf(name), {
      ...SESSION,
      seenAtMs: NOW_MS - seenAgoMs,
      endsAtMs: NOW_MS - 120 * MINUTE_MS + SESSION_MS,
      ...more,
    });
  await add('this', MINUTE_MS);
  await add('other', 30 * MINUTE_MS);
  await add('left-alone', 60 * MINUTE_MS);
  await add('terminal', 90 * MINUTE_MS, { terminal: true });
  await add('over', 0, { endsAtMs: NOW_MS });
  await add('theirs', 0, { userId: 43 });
  const sessions = ownSessions(store, { nowMs: () => NOW_MS });
  const me = { id: 42, sessionId: hashOf('this') };
  const left = async () => {
    const names = ['this', 'other', 'terminal', 'theirs'];
    const found = await Promise.all(names.map((name) => store.read(hashOf(name))));
    return names.filter((_, index) => found[index] !== undefined);
  };
  return { sessions, me, left };
}

test('somebody sees the sessions of theirs that still open something, the one that asks first', async () => {
  const { sessions, me } = await signedIn();
  const rows = await sessions.list(me);
  expect(
    rows.map(({ isThis, isTerminal, seenAgoMs }) => [isThis, isTerminal, seenAgoMs / MINUTE_MS]),
  ).toEqual([
    [true, false, 1],
    [false, false, 30],
    [false, true, 90],
  ]);
  expect(rows[0]?.beganAgoMs).toBe(120 * MINUTE_MS);
});

test('what names a session in a page is not what names it in the table', async () => {
  const { sessions, me } = await signedIn();
  for (const { handle } of await sessions.list(me)) expect(handle).toMatch(/^.{16}$/);
});

test('one, the others or all are ended, and nobody else’s', async () => {
  const one = await signedIn();
  const [, other] = await one.sessions.list(one.me);
  expect(await one.sessions.end(one.me, { handle: other?.handle ?? '' })).toBe(1);
  expect(await one.left()).toEqual(['this', 'terminal', 'theirs']);
  const [theirs] = await one.sessions.list({ id: 43, sessionId: '' });
  expect(await one.sessions.end(one.me, { handle: theirs?.handle ?? '' })).toBe(0);
  const others = await signedIn();
  expect(await others.sessions.end(others.me, 'others')).toBe(2);
  expect(await others.left()).toEqual(['this', 'theirs']);
  const all = await signedIn();
  expect(await all.sessions.end(all.me, 'all')).toBe(3);
  expect(await all.left()).toEqual(['theirs']);
});
