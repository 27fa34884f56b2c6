import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createConsoleApp } from '../../../../functions/console/app.ts';
import { createPages } from '../../../../functions/console/pages/create-pages.ts';
import { type Log, silentLog } from '../../../../functions/core/environment/environment.ts';
import { createUploads } from '../../../../functions/core/limits/limit-table.ts';
import { approvalCheck, approvalPath } from '../../../../functions/core/notify/approval-link.ts';
import { MemoryNotifier } from '../../../../functions/core/notify/message.ts';
import { createSignIn } from '../../../../functions/core/signin/create-sign-in.ts';
import { csrfTokenOf, secretHashOf } from '../../../../functions/core/signin/sessions.ts';
import { sendNotices } from '../../../../functions/notices/send-notices.ts';
import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { memorySessionStore } from '../../../support/tables/memory-session-store.ts';
import { memoryCursors, noticesHarness } from '../../notices/harness.ts';
import { USERS } from '../house.ts';

const ORIGIN = 'http://localhost:3000';
const KEY = 'k'.repeat(40);
const INSTANCE = 'gitlab.example.com';
const ASKED = {
  ...{ subject: 'group/101', limit: 'money-month', amount: 200, reason: 'load test' },
  ...{ from: '2026-11-21', until: '2026-11-30' },
};

type Who = keyof typeof USERS;

/** The console with its real sign-in, and the link that the notices mailed to whoever may decide. */
async function house() {
  const real = await noticesHarness();
  const filed = await real.desk.request(ASKED, {
    actor: 'vera',
    userId: USERS.viewer.id,
    rights: [{ role: 'viewer', groups: [101] }],
  });
  if (filed.outcome !== 'filed') throw new Error(filed.outcome);
  const notify = new MemoryNotifier();
  const keys = async () => [KEY];
  const asked = { ...real.deps, notify, cursors: memoryCursors(), approvals: { instance: INSTANCE, keys } };
  await sendNotices(asked);
  const mail = notify.sent.find(({ text }) => text.includes('vera asks for'))?.text ?? '';
  const path = /https:\/\/budget\.example\.com(\/requests\/\S+)/.exec(mail)?.[1] ?? '';
  const { desk, read, policy, clock } = real;
  const directory = async () => real.directory;
  const logged: string[] = [];
  const note = (message: string, fields: object = {}) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { ...silentLog, info: note, warn: note, error: note };
  const sessions = memorySessionStore();
  const openSessions = async (): Promise<void> => {
    for (const who of Object.keys(USERS) as Who[]) {
      const { id: userId, username, name, roles } = USERS[who];
      const nowMs = clock.nowMs();
      const times = { rolesReadAtMs: nowMs, seenAtMs: nowMs, endsAtMs: nowMs + 3_600_000 };
      await sessions.create(secretHashOf(secretHashOf(who)), { userId, username, name, roles, ...times });
    }
  };
  await openSessions();
  const signIn = createSignIn({
    issuer: `https://${INSTANCE}`,
    clientId: 'tollgate',
    clientSecret: async () => 'secret',
    redirectUrl: `${ORIGIN}/signin/callback`,
    fetch: () => Promise.reject(new Error('GitLab is away')),
    sessions,
    roles: { read: async () => undefined },
    clock,
    random: randomBytes,
    addressOf: () => 'somewhere',
    log: silentLog,
  });
  const uploads = createUploads({ table: memoryLimitTable(), clock, newId: () => 'u1' });
  const checkApproval = approvalCheck({ instance: INSTANCE, keys, clock });
  const common = { desk, read, policy, directory, clock, log };
  const pages = createPages({ ...common, uploads, zone: 'UTC', origin: ORIGIN, checkApproval });
  const app = createConsoleApp({ ...common, signIn, pages });
  const send = async (who: Who | undefined, to: string, form?: Record<string, string>) => {
    const id = who === undefined ? undefined : secretHashOf(who);
    const response = await app.request(`${ORIGIN}${to}`, {
      headers: {
        accept: 'text/html',
        ...(id !== undefined && { cookie: `tollgate-session=${id}` }),
        ...(form !== undefined && { origin: ORIGIN }),
      },
      ...(form !== undefined && {
        method: 'POST',
        body: new URLSearchParams({ csrf: csrfTokenOf(id ?? ''), ...form }),
      }),
    });
    return { status: response.status, to: response.headers.get('location'), text: await response.text() };
  };
  const link = new URL(path, ORIGIN).searchParams.get('link') ?? '';
  const stateNow = async () =>
    (await desk.requests({ actor: 'fritz', rights: [{ role: 'finance' }] })).find(
      ({ id }) => id === filed.request.id,
    )?.state;
  const request = filed.request.id;
  const toFinance =
    approvalPath({ instance: INSTANCE, request, role: 'finance' }, [KEY], clock.nowMs()) ?? '';
  const weekPasses = async (): Promise<void> => {
    clock.advance(7 * 86_400_000);
    await openSessions();
  };
  return { path, toFinance, page: `/requests/${request}`, link, send, logged, stateNow, weekPasses };
}

test('a scanner that opens the mailed link decides nothing, signed in or not', async () => {
  const { path, send, stateNow } = await house();
  expect(path).toMatch(/^\/requests\/[\w-]+\?link=/);
  const stranger = await send(undefined, path);
  expect(stranger.status).toBe(302);
  // The way back has the link.
  expect(decodeURIComponent(stranger.to ?? '')).toBe(`/signin?returnTo=${path}`);
  for (let visit = 0; visit < 3; visit += 1) expect((await send('finance', path)).status).toBe(200);
  expect(await stateNow()).toBe('pending');
});

test('somebody who may decide opens the link, sees what it does, approves with one post, and the link is used up', async () => {
  const { path, page, link, send, stateNow, logged } = await house();
  const shown = await send('finance', path);
  expect(shown.text).toContain('Changes');
  expect(shown.text).toContain(`name="link" value="${link}"`);
  expect((await send('finance', page, { link, verdict: 'approve' })).status).toBe(303);
  expect(await stateNow()).toBe('approved');
  for (const again of [
    await send('admin', path),
    await send('admin', page, { link, verdict: 'decline', note: 'no' }),
  ]) {
    expect(again.status).toBe(409);
    expect(again.text).toContain('A link works once');
  }
  expect(await stateNow()).toBe('approved');
  expect(logged.join('\n')).toContain('approval link used');
  expect(logged.filter((line) => line.includes('"fault":"used"'))).toHaveLength(2);
  expect(logged.join('\n')).not.toContain(link);
});

test('it is declined with a reason, and without one nothing happens', async () => {
  const { page, link, send, stateNow } = await house();
  expect((await send('finance', page, { link, verdict: 'decline' })).status).toBe(422);
  expect(await stateNow()).toBe('pending');
  expect((await send('finance', page, { link, verdict: 'decline', note: 'next quarter' })).status).toBe(303);
  expect(await stateNow()).toBe('declined');
});

test.each(['GET', 'POST'] as const)(
  '%s: a link that was altered, is of another role or too old is refused and noted',
  async (method) => {
    const { page, toFinance, send, stateNow, logged, weekPasses } = await house();
    const link = toFinance.split('=')[1] ?? '';
    const by = (who: Who, given: string) =>
      method === 'GET'
        ? send(who, `${page}?link=${given}`)
        : send(who, page, { link: given, verdict: 'approve' });
    const altered = `${link.startsWith('A') ? 'B' : 'A'}${link.slice(1)}`;
    expect((await by('finance', altered)).status).toBe(403);
    // An owner has a page of their own for what they may decide; this link was sent to finance.
    expect((await by('owner', link)).text).toContain('This link is not yours');
    expect((await by('viewer', link)).status).toBe(403);
    await weekPasses();
    expect((await by('finance', link)).status).toBe(410);
    expect(await stateNow()).toBe('pending');
    const faults = logged.map((line) => /"fault":"(\w+)"/.exec(line)?.[1]).filter(Boolean);
    expect(faults).toEqual(['altered', 'another', 'expired']);
  },
);
