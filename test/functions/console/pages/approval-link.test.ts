import { expect, test } from 'vitest';
import { type Log, silentLog } from '../../../../functions/core/environment/environment.ts';
import { approvalCheck, approvalPath } from '../../../../functions/core/notify/approval-link.ts';
import { MemoryNotifier } from '../../../../functions/core/notify/message.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { dynamoCursorStore } from '../../../../functions/notices/run.ts';
import { sendNotices } from '../../../../functions/notices/send-notices.ts';
import { noticesHarness } from '../../notices/harness.ts';
import { USERS } from '../house.ts';
import { HERE, signedInConsole, type Who } from '../signed-in.ts';

const KEY = 'k'.repeat(40);
const INSTANCE = 'gitlab.example.com';
const ASKED = {
  ...{ subject: 'group/101', limit: 'money-month', amount: 200, reason: 'load test' },
  ...{ from: '2026-11-21', until: '2026-11-30' },
};

/** The console with its real sign-in, and the link that the notices mailed to whoever may decide. */
async function house() {
  const real = await noticesHarness();
  const { limitEdits, clock } = real;
  const filed = await limitEdits.request(ASKED, {
    ...{ actor: 'vera', userId: USERS.viewer.id, rights: [{ role: 'viewer', groups: [101] }] },
  });
  if (filed.outcome !== 'filed') throw new Error(filed.outcome);
  const request = filed.request.id;
  const notify = new MemoryNotifier();
  const keys = async () => [KEY];
  const asked = {
    ...real.deps,
    notify,
    cursors: dynamoCursorStore({ table: new MemoryTable(), instance: INSTANCE }),
    approvals: { instance: INSTANCE, keys },
  };
  await sendNotices(asked);
  const mail = notify.sent.find(({ text }) => text.includes('vera asks for'))?.text ?? '';
  const path = /https:\/\/budget\.example\.com(\/requests\/\S+)/.exec(mail)?.[1] ?? '';
  const logged: string[] = [];
  const note = (message: string, fields: object = {}) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { ...silentLog, info: note, warn: note, error: note };
  const checkApproval = approvalCheck({ instance: INSTANCE, keys, clock });
  const { send, openSessions } = await signedInConsole(real, { log, checkApproval });
  const link = new URL(path, HERE).searchParams.get('link') ?? '';
  const stateNow = async () =>
    (await limitEdits.requests({ actor: 'fritz', rights: [{ role: 'finance' }] })).find(
      ({ id }) => id === request,
    )?.state;
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
  expect((await send('finance', page, { link, decision: 'approve' })).status).toBe(303);
  expect(await stateNow()).toBe('approved');
  for (const again of [
    await send('admin', path),
    await send('admin', page, { link, decision: 'decline', note: 'no' }),
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
  expect((await send('finance', page, { link, decision: 'decline' })).status).toBe(422);
  expect(await stateNow()).toBe('pending');
  expect((await send('finance', page, { link, decision: 'decline', note: 'next quarter' })).status).toBe(303);
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
        : send(who, page, { link: given, decision: 'approve' });
    const altered = `${link.startsWith('A') ? 'B' : 'A'}${link.slice(1)}`;
    expect((await by('finance', altered)).status).toBe(403);
    // An owner has a page of their own for what they may decide; this link was sent to finance.
    expect((await by('owner', link)).text).toContain('This link is for finance');
    expect((await by('viewer', link)).status).toBe(403);
    await weekPasses();
    expect((await by('finance', link)).status).toBe(410);
    expect(await stateNow()).toBe('pending');
    const faults = logged.map((line) => /"fault":"(\w+)"/.exec(line)?.[1]).filter(Boolean);
    expect(faults).toEqual(['altered', 'another', 'expired']);
  },
);
