import { expect, test } from 'vitest';
import { gitlabRoles, rolesBy } from '../../../../functions/core/signin/gitlab-roles.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const SECRET = 'glpat-not-for-logs';
const USER = { id: 42, username: 'fin', name: 'Fin', state: 'active' };
const membership = (source_id: number, access_level: number, source_type = 'Namespace') => ({
  source_id,
  access_level,
  source_type,
  source_name: 'any',
});

type Answer = { readonly status?: number; readonly body: unknown; readonly next?: string };

const source = (answer: (call: string) => Answer, calls: string[] = []) =>
  gitlabRoles(
    { adminGroupId: 7, financeGroupId: 8 },
    {
      baseUrl: 'https://gitlab.example.com',
      token: async () => SECRET,
      clock: manualClock(),
      async fetch(input) {
        const { pathname, search } = new URL(String(input));
        calls.push(`${pathname}${search}`);
        const { status = 200, body, next = '' } = answer(`${pathname}${search}`);
        return new Response(JSON.stringify(body), { status, headers: { 'x-next-page': next } });
      },
    },
  );

const withMemberships = (entries: readonly unknown[]) =>
  source((call) => ({ body: call.includes('memberships') ? entries : USER }));

test.each([
  { level: 5, owned: false, viewer: false, guarantee: 'minimal access shows nothing' },
  { level: 10, owned: false, viewer: false, guarantee: 'a guest, who may be a customer, sees no figures' },
  { level: 20, owned: false, viewer: false, guarantee: 'a reporter sees none unless settings say so' },
  { level: 30, owned: false, viewer: true, guarantee: 'a developer sees, and edits nothing' },
  { level: 40, owned: true, viewer: true, guarantee: 'a maintainer owns the group' },
  { level: 50, owned: true, viewer: true, guarantee: 'an owner owns the group' },
])('$guarantee', async ({ level, owned, viewer }) => {
  const account = await withMemberships([membership(101, level)]).read(42);
  expect(account?.roles).toEqual({
    admin: false,
    finance: false,
    ownedGroupIds: owned ? [101] : [],
    viewerGroupIds: viewer ? [101] : [],
  });
});

test('settings widen who sees and narrow who owns', () => {
  const memberships = [
    { groupId: 1, level: 10 },
    { groupId: 2, level: 40 },
    { groupId: 3, level: 50 },
  ];
  expect(rolesBy(memberships, { ownersFrom: 'owner', viewersFrom: 'guest' })).toMatchObject({
    ownedGroupIds: [3],
    viewerGroupIds: [1, 2, 3],
  });
});

test('without settings nobody is admin or finance, whatever groups there are', () => {
  const memberships = Array.from({ length: 50 }, (_, groupId) => ({ groupId, level: 50 }));
  expect(rolesBy(memberships, {})).toMatchObject({ admin: false, finance: false });
});

test('minimal access to the group of the admins or of finance is no membership of it', async () => {
  const account = await withMemberships([membership(7, 5), membership(8, 10)]).read(42);
  expect(account?.roles).toMatchObject({ admin: false, finance: true });
});

test('a project whose id is that of the group of the admins makes nobody an admin', async () => {
  const account = await withMemberships([membership(7, 50, 'Project'), membership(-7, 50), 'odd', null]).read(
    42,
  );
  expect(account?.roles).toMatchObject({ admin: false, ownedGroupIds: [] });
});

test('all pages count, and only group memberships are asked for: without the type, requests for access come along', async () => {
  const calls: string[] = [];
  const roles = source((call) => {
    if (!call.includes('memberships')) return { body: USER };
    const isSecond = call.includes('&page=2') || call.includes('?page=2');
    return isSecond ? { body: [membership(8, 30)] } : { body: [membership(101, 40)], next: '2' };
  }, calls);
  const account = await roles.read(42);
  expect(account?.roles).toMatchObject({ finance: true, ownedGroupIds: [101], viewerGroupIds: [8, 101] });
  expect(
    calls.filter((call) => call.includes('memberships')).every((call) => call.includes('type=Namespace')),
  ).toBe(true);
});

test('a list without an end is refused with a remedy instead of followed', async () => {
  const calls: string[] = [];
  const roles = source((call) => ({ body: call.includes('memberships') ? [] : USER, next: '2' }), calls);
  await expect(roles.read(42)).rejects.toMatchObject({ code: 'user_refused', status: 403 });
  expect(calls.length).toBeLessThan(30);
});

test.each(['blocked', 'deactivated', 'banned', 'ldap_blocked', 'blocked_pending_approval'])(
  'a user who is %s is as good as none',
  async (state) => {
    expect(await source(() => ({ body: { ...USER, state } })).read(42)).toBeUndefined();
  },
);

test('a user GitLab does not know is none', async () => {
  expect(await source(() => ({ status: 404, body: {} })).read(42)).toBeUndefined();
});

test.each([
  { status: 503, body: {} },
  { status: 401, body: {} },
  { status: 403, body: {} },
  { status: 429, body: {} },
  { status: 302, body: {} },
  { status: 200, body: [] },
  { status: 200, body: { id: 42 } },
])('GitLab answering $status with $body is gitlab_unavailable, without the token', async (answer) => {
  const error: unknown = await source(() => answer)
    .read(42)
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'gitlab_unavailable', status: 503 });
  expect(error).not.toHaveProperty('cause');
  expect(JSON.stringify(error) + String(error)).not.toContain(SECRET);
});
