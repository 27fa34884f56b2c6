import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { Log } from '../../../functions/core/environment/environment.ts';
import { isTerminal, JOB_STATUSES } from '../../../functions/core/gitlab/gitlab.ts';
import { groupHookKey } from '../../../functions/core/gitlab/group-hooks.ts';
import { parseHintText } from '../../../functions/core/job-ends/webhook-hints.ts';
import type { InboxItem } from '../../../functions/core/ledger/store.ts';
import {
  createSettleApp,
  HOOK_BODY_BYTES_MAX,
  JOBS_PATH,
  PROOF_HEADER,
  type SettleAppDeps,
} from '../../../functions/settle/app.ts';
import { MemoryStore, type StoreFault } from '../../support/ledger/memory-store.ts';
import { NOVEMBER_21_MS } from '../../support/ledger/test-clock.ts';

const TOKEN = `whsec_${Buffer.from('the token of this year, 32 bytes').toString('base64')}`;
const NEXT_TOKEN = `whsec_${Buffer.from('the token of next year, 32 bytes').toString('base64')}`;
const STRANGER = `whsec_${Buffer.from('what somebody made up, 32 bytes.').toString('base64')}`;

const GROUP = 100;

/** As GitLab sends it, shortened. */
const event = (over: object = {}) =>
  JSON.stringify({
    ...{ object_kind: 'build', ref: 'main', build_id: 4711, build_name: 'unit', build_stage: 'test' },
    build_status: 'success',
    build_created_at: '2026-11-21 10:59:55 UTC',
    build_started_at: '2026-11-21 11:00:00 UTC',
    build_finished_at: '2026-11-21 11:01:30 UTC',
    build_duration: 90.25,
    build_failure_reason: 'unknown_failure',
    pipeline_id: 5000,
    project_id: 1001,
    runner: { id: 12, tags: ['docker'] },
    user: { id: 7 },
    project: { id: 1001, path_with_namespace: 'acme/payments/checkout' },
    ...over,
  });

function anApp(over: Partial<SettleAppDeps> = {}, fault?: () => StoreFault | undefined) {
  const items: InboxItem[] = [];
  const lines: string[] = [];
  const note = (message: string, fields?: object): void =>
    void lines.push(JSON.stringify({ message, ...fields }));
  // Which proof arrives is said once; the tests below are about what goes wrong.
  const arrived: object[] = [];
  const log: Log = { info: (_, fields) => void arrived.push({ ...fields }), warn: note, error: note };
  const store = new MemoryStore({
    instance: 'gitlab.example.com',
    onReceived: (item) => items.push(item),
    ...(fault !== undefined && { fault }),
  });
  let pausedMs = 0;
  const clock = {
    nowMs: () => NOVEMBER_21_MS,
    monotonicMs: () => pausedMs,
    sleep: async (delayMs: number) => {
      pausedMs += delayMs;
    },
  };
  const app = createSettleApp({
    inbox: store,
    secrets: async () => [TOKEN],
    clock,
    random: () => 0,
    log,
    ...over,
  });
  const post = async (body: string, headers: Record<string, string>) => {
    const response = await app.request(`${JOBS_PATH}/${GROUP}`, {
      method: 'POST',
      body,
      headers: { 'x-gitlab-event': 'Job Hook', ...headers },
    });
    const proof = response.headers.get(PROOF_HEADER) ?? undefined;
    return { status: response.status, said: await response.json(), ...(proof !== undefined && { proof }) };
  };
  return { app, post, items, lines, arrived, store };
}

/** @param secondsAgo - of the timestamp; what the library compares it with is the machine's clock. */
const signed = (
  body: string,
  { token = TOKEN, id = 'msg-1', secondsAgo = 0 }: { token?: string; id?: string; secondsAgo?: number } = {},
) => {
  const at = new Date(Date.now() - secondsAgo * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(groupHookKey(token, GROUP)).sign(id, at, body),
  };
};

const RECEIVED = { status: 200, said: { outcome: 'received' }, proof: 'signature' };
const REPEATED = { status: 200, said: { outcome: 'repeated' }, proof: 'signature' };
const DROPPED = { status: 200, said: { outcome: 'dropped' }, proof: 'signature' };
const REFUSED = { status: 401, said: { outcome: 'refused' } };

test('a signed end of a job becomes one inbox item that says what GitLab said, and no more', async () => {
  const { post, items, lines } = anApp();
  const body = event({ commit: { message: 'a secret plan' } });
  expect(await post(body, signed(body))).toEqual(RECEIVED);
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ id: 'msg-1', receivedAtMs: NOVEMBER_21_MS });
  const { groupId, gitlabJob } = parseHintText(items[0]?.body ?? '') ?? {};
  expect(groupId).toBe(GROUP);
  expect(gitlabJob).toEqual({
    ...{ jobId: 4711, projectId: 1001, status: 'success', projectPath: 'acme/payments/checkout' },
    ...{ jobName: 'unit', jobStage: 'test', pipelineId: 5000, userId: 7, ref: 'main' },
    ...{ runnerId: 12, runnerTags: ['docker'] },
    createdAtMs: Date.UTC(2026, 10, 21, 10, 59, 55),
    startedAtMs: Date.UTC(2026, 10, 21, 11),
    finishedAtMs: Date.UTC(2026, 10, 21, 11, 1, 30),
    durationSeconds: 90.25,
    failureReason: 'unknown_failure',
  });
  expect(items[0]?.body).not.toContain('secret');
  expect(lines).toEqual([]);
});

test('the signature of either token is good while one replaces the other, with or without whsec_', async () => {
  const { post } = anApp({ secrets: async () => [TOKEN.slice('whsec_'.length), NEXT_TOKEN] });
  const body = event();
  expect(await post(body, signed(body, { id: 'a' }))).toEqual(RECEIVED);
  expect(await post(body, signed(body, { id: 'b', token: NEXT_TOKEN }))).toEqual(RECEIVED);
});

const body = event();
const SECRET = 'a plain secret of the years before';
const LEGACY = { legacyTokens: async () => [SECRET, ''] };
test.each<[string, Record<string, string>, Partial<SettleAppDeps>]>([
  ['signed with another token', signed(body, { token: STRANGER }), {}],
  ['signed for another body', signed(event({ build_id: 1 })), {}],
  ['signed under another id', { ...signed(body), 'webhook-id': 'msg-2' }, {}],
  [
    'moved to another time',
    { ...signed(body, { secondsAgo: 60 }), 'webhook-timestamp': `${Math.floor(Date.now() / 1000)}` },
    {},
  ],
  ['more than five minutes old', signed(body, { secondsAgo: 301 }), {}],
  ['more than five minutes from the future', signed(body, { secondsAgo: -310 }), {}],
  ['a timestamp that is no number', { ...signed(body), 'webhook-timestamp': 'now' }, {}],
  ['a signature without a version', { ...signed(body), 'webhook-signature': 'abc' }, {}],
  ['no headers at all', {}, {}],
  ['no secret configured', signed(body), { secrets: async () => [] }],
  ['a token where none is taken', { 'x-gitlab-token': TOKEN }, {}],
  ['the wrong token', { 'x-gitlab-token': `${groupHookKey(SECRET, GROUP)}2` }, LEGACY],
  ['the deployment’s secret itself', { 'x-gitlab-token': SECRET }, LEGACY],
  ['another group’s token', { 'x-gitlab-token': groupHookKey(SECRET, GROUP + 1) }, LEGACY],
  ['an empty token', { 'x-gitlab-token': '' }, LEGACY],
  ['no token', {}, LEGACY],
])('refused without a word on why, and nothing written: %s', async (_, headers, over) => {
  const { post, items } = anApp(over);
  expect(await post(body, headers)).toEqual(REFUSED);
  expect(items).toEqual([]);
});

test('the plain token is taken where it is configured, and a signature beside it still is', async () => {
  const { post, arrived } = anApp(LEGACY);
  const plain = (id: string) => ({ 'x-gitlab-token': groupHookKey(SECRET, GROUP), 'idempotency-key': id });
  expect(await post(body, plain('k1'))).toEqual({ ...RECEIVED, proof: 'token' });
  expect(await post(body, { ...signed(body), 'x-gitlab-token': 'wrong' })).toEqual(RECEIVED);
  expect(await post(body, plain('k2'))).toEqual({ ...RECEIVED, proof: 'token' });
  // Said once each, so that a log tells which proof GitLab sends.
  expect(arrived).toEqual([{ proof: 'token' }, { proof: 'signature' }]);
});

test('the right token beside a signature that does not verify opens nothing', async () => {
  const { post, items } = anApp(LEGACY);
  const forged = { ...signed(body, { token: STRANGER }), 'x-gitlab-token': groupHookKey(SECRET, GROUP) };
  expect(await post(body, forged)).toEqual(REFUSED);
  expect(await post(body, { ...forged, 'webhook-signature': '' })).toEqual(REFUSED);
  expect(items).toEqual([]);
});

test('a token that anybody could guess is not taken, and is told by its number', async () => {
  const { post, lines } = anApp({ legacyTokens: async () => ['short'] });
  expect(await post(body, { 'x-gitlab-token': groupHookKey('short', GROUP) })).toEqual(REFUSED);
  expect(lines.join()).toContain('"number":1');
  expect(lines.join()).not.toContain('"short"');
});

test.each([
  ['of one byte', Buffer.from('x')],
  ['of 15 bytes', Buffer.from('fifteen  bytes!')],
  ['of one byte sixteen times', Buffer.alloc(16, 'x')],
])('a signing token %s signs nothing, and is told by its number', async (_, secret) => {
  const token = `whsec_${secret.toString('base64')}`;
  const { post, lines, items } = anApp({ secrets: async () => [token] });
  expect(await post(body, signed(body, { token }))).toEqual(REFUSED);
  expect(items).toEqual([]);
  expect(lines.join()).toContain('"number":1');
  expect(lines.join()).not.toContain(token);
  const both = anApp({ secrets: async () => [token, TOKEN] });
  expect(await both.post(body, signed(body))).toEqual(RECEIVED);
});

test('a body over 1 MB is refused before anything else, one of 1 MB is not', async () => {
  const { post, items } = anApp();
  const padded = (bytes: number): string => {
    const bare = event({ pad: '' });
    return event({ pad: 'x'.repeat(bytes - bare.length) });
  };
  const fits = padded(HOOK_BODY_BYTES_MAX);
  expect(await post(fits, signed(fits))).toEqual(RECEIVED);
  const over = padded(HOOK_BODY_BYTES_MAX + 1);
  expect(await post(over, signed(over, { id: 'msg-2' }))).toEqual({
    status: 413,
    said: { outcome: 'too_large' },
  });
  expect(items).toHaveLength(1);
});

test.each(JOB_STATUSES)('a job that is %s is written down only if it has ended', async (status) => {
  const { post, items } = anApp();
  const sent = event({ build_status: status });
  expect(await post(sent, signed(sent))).toEqual(isTerminal(status) ? RECEIVED : DROPPED);
  expect(items).toHaveLength(isTerminal(status) ? 1 : 0);
});

test.each([
  ['another event', { 'x-gitlab-event': 'Pipeline Hook' }, event()],
  ['another kind of object', {}, event({ object_kind: 'pipeline' })],
  ['an event without a job', {}, event({ build_id: null })],
  ['no JSON', {}, 'build'],
])(
  'what GitLab sends and nobody can use is dropped, so that the webhook stays on: %s',
  async (_, headers, sent) => {
    const { post, items } = anApp();
    expect(await post(sent, { ...signed(sent), ...headers })).toEqual(DROPPED);
    expect(items).toEqual([]);
  },
);

test('a delivery that comes again is written once, another about the same job is written as well', async () => {
  const { post, items } = anApp(LEGACY);
  expect(await post(body, signed(body))).toEqual(RECEIVED);
  expect(await post(body, signed(body))).toEqual(REPEATED);
  expect(await post(body, signed(body, { id: 'msg-2' }))).toEqual(RECEIVED);
  const token = { 'x-gitlab-token': groupHookKey(SECRET, GROUP) };
  const by = { proof: 'token' };
  expect(await post(body, { ...token, 'idempotency-key': 'k1' })).toEqual({ ...RECEIVED, ...by });
  expect(await post(body, { ...token, 'idempotency-key': 'k1' })).toEqual({ ...REPEATED, ...by });
  // GitLab before 17.4 names deliveries in no way: the same body is the same delivery.
  expect(await post(body, token)).toEqual({ ...RECEIVED, ...by });
  expect(await post(body, token)).toEqual({ ...REPEATED, ...by });
  expect(items).toHaveLength(4);
});

test('what could not be written down is answered 503, and so is a sender nobody could check', async () => {
  const FAILED = { status: 503, said: { outcome: 'failed' } };
  const silent = anApp({}, () => ({ kind: 'lost-before' }));
  expect(await silent.post(body, signed(body))).toEqual({ ...FAILED, proof: 'signature' });
  const blind = anApp({ secrets: () => Promise.reject(new Error('AccessDenied for /tollgate/secret')) });
  expect(await blind.post(body, signed(body))).toEqual(FAILED);
  expect([...silent.lines, ...blind.lines].join()).not.toContain('/tollgate/secret');
});

test('a write that fails or whose answer is lost is made again, because nobody repeats the delivery', async () => {
  const faults: StoreFault[] = [{ kind: 'lost-before' }, { kind: 'lost-after' }];
  const { post, items } = anApp({}, () => faults.shift());
  expect(await post(body, signed(body))).toMatchObject({ status: 200 });
  expect(items).toHaveLength(1);
  expect(faults).toEqual([]);
});
