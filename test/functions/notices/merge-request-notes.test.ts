/** Notes against the local GitLab's merge requests, with its failures. */
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import type { Log } from '../../../functions/core/environment/environment.ts';
import type { RequestVerdict } from '../../../functions/core/limits/edit-model.ts';
import { NOTE_TRIES_MAX, NOTES_PER_RUN_MAX } from '../../../functions/notices/merge-request-notes.ts';
import type { Directory } from '../../../policies/directory.ts';
import { type LocalNote, NOTE_USER_ID, noteRoutes } from '../../../scripts/local/gitlab/rest-app.ts';
import { aJob, DIRECTORY } from '../console/house.ts';
import { CONSOLE_URL, FRITZ, noticesHarness } from './harness.ts';

const GITLAB_URL = 'https://gitlab.example.com';
const TOKEN = 'glpat-secret-of-payments';
const MINUTE_MS = 60_000;
const JOB_URL = `${GITLAB_URL}/acme/payments/cards/api/-/jobs/1`;
const PLACE = '1!12';
const REF = 'refs/merge-requests/12/head';
const TIGHT = [
  { kind: 'set', subject: 'group/101', unit: 'money', amount: 1, per: 'month', owner: 'payments-leads' },
  { kind: 'set', subject: 'group/200', unit: 'money', amount: 1, per: 'month' },
] as const;

type Fault = (call: string) => Response | Promise<Response> | undefined;

interface NoteOptions {
  readonly rules?: object;
  readonly agreed?: readonly number[];
  readonly directory?: Directory;
  readonly ref?: string;
  readonly hasToken?: boolean;
}

/** Job 1 of a merge request was rejected. */
async function noteHarness(options: NoteOptions = {}) {
  const { rules = {}, agreed = [101], directory = DIRECTORY, ref = REF, hasToken = true } = options;
  const notes: LocalNote[] = [];
  const calls: string[] = [];
  const logged: string[] = [];
  const state: { fault: Fault } = { fault: () => undefined };
  const gitlab = new Hono();
  noteRoutes(gitlab.basePath('/api/v4'), notes);
  const send: typeof fetch = async (input, init) => {
    const url = String(input);
    const call = `${init?.method ?? 'GET'} ${new URL(url).pathname.replace('/api/v4', '')}`;
    calls.push(call);
    if (new Headers(init?.headers).get('private-token') !== TOKEN) return new Response('', { status: 401 });
    return (await state.fault(call)) ?? gitlab.request(url, init);
  };
  const keep = (...line: readonly unknown[]): void => void logged.push(JSON.stringify(line));
  const log: Log = { info: keep, warn: keep, error: keep };
  const harness = await noticesHarness({
    ...{ limits: TIGHT, log },
    rules: { request_notes: agreed.map((group) => ({ group })), ...rules },
    directory: async () => directory,
    notes: {
      ...{ gitlabUrl: GITLAB_URL, fetch: send, random: () => 0 },
      tokenOf: async (group) => (hasToken && group === 101 ? TOKEN : undefined),
    },
  });
  const { clock, desk, run, ask } = harness;
  await ask([aJob(1, { runnerTags: ['large'], ref })]);
  const request = (over: object = {}) =>
    harness.request({ reason: '/close @all now', link: JOB_URL, ...over });
  const decide = async (id: string, verdict: RequestVerdict['verdict'] = 'approve'): Promise<void> => {
    const { outcome } = await desk.decide(id, { verdict, note: '/merge it' }, FRITZ);
    expect(outcome).toBe(verdict === 'approve' ? 'approved' : 'declined');
  };
  /** Files a request and approves it. */
  const approve = async (over: object = {}): Promise<string> => {
    const id = await request(over);
    await decide(id);
    return id;
  };
  const later = async (minutes = 15) => {
    clock.advance(minutes * MINUTE_MS);
    await run();
  };
  const texts = () => notes.map(({ body }) => body.slice(body.indexOf('\n') + 1));
  return { ...harness, notes, calls, logged, state, request, decide, approve, later, texts };
}

describe('the text', () => {
  test('of an approval: amount, approver, end, and to retry', async () => {
    const { request, decide, run, notes, texts } = await noteHarness();
    const id = await request();
    await run();
    expect(notes).toEqual([]);
    await decide(id);
    await run();
    expect(texts()).toEqual([
      [
        `**Approved** by \`fritz\`: the request for more after [job 1](${JOB_URL}) was rejected.`,
        '200.00 EUR more for the CI budget of `group acme/payments`, until the end of 30 Nov 2026 UTC.',
        `Retry [job 1](${JOB_URL}).`,
        `Reasons and next steps: ${CONSOLE_URL}/jobs/1`,
      ].join('\n\n'),
    ]);
    expect(notes[0]).toMatchObject({ place: PLACE, authorId: NOTE_USER_ID });
    expect(notes[0]?.body).toMatch(/^<!-- tollgate request r-[\w-]+, edit \d+ -->\n/);
  });

  test('of a refusal has no words of people, which GitLab could take for a command', async () => {
    const { request, decide, run, notes, texts } = await noteHarness();
    await decide(await request(), 'decline');
    await run();
    expect(texts()[0]).toContain('**Declined** by `fritz`');
    expect(texts()[0]).not.toContain('Retry');
    expect(notes[0]?.body).not.toMatch(/close|merge it|@/);
  });

  const projects = [...DIRECTORY.projectById].map(
    ([id, each]) => [id, { ...each, visibility: 'public' }] as const,
  );
  test.each<[string, NoteOptions]>([
    ['by policy', { rules: { disclose: { default: 'none' } } }],
    [
      'in a public project',
      {
        rules: { disclose: { default: 'all' } },
        directory: { ...DIRECTORY, projectById: new Map(projects) },
      },
    ],
  ])('has no amount, group, name or day if nothing may be disclosed %s', async (_, options) => {
    const { approve, run, texts } = await noteHarness(options);
    await approve();
    await run();
    expect(texts()).toEqual([
      `**Approved**: the request for more after [job 1](${JOB_URL}) was rejected.\n\nRetry [job 1](${JOB_URL}).`,
    ]);
  });

  test('has no amount of a limit that did not reject the job', async () => {
    const { approve, run, edit, texts } = await noteHarness({ rules: { disclose: { default: 'all' } } });
    await edit([{ kind: 'set', subject: 'group/101', unit: 'jobs', amount: 5 }]);
    await approve({ limit: 'jobs-now', amount: 3 });
    await run();
    expect(texts()).toEqual([expect.stringContaining('**Approved** by `fritz`')]);
    expect(texts()[0]).not.toContain('more for');
  });
});

describe('no note', () => {
  test.each<[string, NoteOptions, object]>([
    ['if no group agreed', { agreed: [] }, {}],
    ['if another group agreed', { agreed: [200] }, {}],
    ['if the job is of a branch', { ref: 'main' }, {}],
    ['if the request names no job', {}, { link: '' }],
    ['if the request has another link', {}, { link: 'https://example.com/acme' }],
    ['if the job is unknown', {}, { link: JOB_URL.replace('/jobs/1', '/jobs/4711') }],
    ['if the job does not count for the requested limit', {}, { subject: 'group/200' }],
  ])('%s', async (_, options, over) => {
    const { approve, run, later, calls } = await noteHarness(options);
    await approve(over);
    await run();
    await later();
    expect(calls).toEqual([]);
  });

  test('if the job was admitted', async () => {
    const { ask, approve, run, edit, calls } = await noteHarness();
    await edit([{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 900 }]);
    await ask([aJob(2, { ref: REF })]);
    await approve({ link: JOB_URL.replace('/jobs/1', '/jobs/2') });
    await run();
    expect(calls).toEqual([]);
  });

  test('if the decision is a day old', async () => {
    const { approve, later, calls } = await noteHarness();
    await approve();
    await later(24 * 60);
    expect(calls).toEqual([]);
  });
});

describe('exactly one note', () => {
  test('without more calls of GitLab after it is written', async () => {
    const { approve, run, later, edit, calls, notes } = await noteHarness();
    await approve();
    await run();
    const made = calls.length;
    await edit([{ kind: 'set', subject: 'group/200', unit: 'money', amount: 5, per: 'month' }]);
    await later();
    expect(calls).toHaveLength(made);
    expect(notes).toHaveLength(1);
  });

  test('after a lost response, or a lost cursor', async () => {
    const { request, decide, run, later, runWith, cursors, state, notes, texts } = await noteHarness();
    const id = await request();
    const before = await cursors.read();
    await decide(id);
    state.fault = async (call) => {
      if (!call.startsWith('POST')) return undefined as unknown as Response;
      state.fault = () => undefined;
      const body = `<!-- tollgate request ${id}, edit 1 -->\nold`;
      notes.push({ id: 1, authorId: NOTE_USER_ID, place: PLACE, body });
      throw new Error('reset');
    };
    await run();
    await later();
    expect(texts()).toEqual([expect.stringContaining('**Approved**')]);
    await runWith({ cursors: { read: async () => before, write: async () => true } });
    expect(notes).toHaveLength(1);
  });
});

describe('a GitLab that fails', () => {
  test.each<[string, Fault]>([
    ['the token is refused', () => new Response('', { status: 401 })],
    ['it may not write', (call) => (call.startsWith('POST') ? new Response('', { status: 403 }) : undefined)],
    [
      'the merge request is gone',
      (call) => (call.includes('notes') ? new Response('', { status: 404 }) : undefined),
    ],
    ['too many calls', () => new Response('', { status: 429, headers: { 'retry-after': '60' } })],
    ['no response', () => Promise.reject(new DOMException('too long', 'TimeoutError'))],
    ['its own error', () => new Response('', { status: 500 })],
  ])('%s: mail is sent, and the note is tried again five times', async (_, fault) => {
    const { approve, run, later, state, notes, calls, logged, cursors, lastText } = await noteHarness();
    state.fault = fault;
    const id = await approve();
    await run();
    expect(lastText()).toContain('Approved: dana asks for');
    expect(cursors.now()?.notes?.[id]).toMatchObject({ tries: 1 });
    for (let more = 0; more < NOTE_TRIES_MAX; more += 1) await later();
    const last = calls.length;
    await later();
    expect(calls).toHaveLength(last);
    expect(notes).toEqual([]);
    expect(logged.filter((line) => line.includes('merge request not notified'))).toHaveLength(NOTE_TRIES_MAX);
    expect(logged.at(-1)).toContain('given up');
    expect(logged.join('')).not.toContain(TOKEN);
  });

  test('gets the note once it works again', async () => {
    const { approve, run, later, state, texts } = await noteHarness();
    await approve();
    state.fault = () => new Response('', { status: 502 });
    await run();
    state.fault = () => undefined;
    await later();
    expect(texts()).toEqual([expect.stringContaining('**Approved**')]);
  });

  test('that limits the rate is called once per run, and a run ends in time', async () => {
    const { request, decide, run, state, calls, clock } = await noteHarness();
    for (const amount of [1, 2, 3]) await decide(await request({ amount }), 'decline');
    state.fault = () => new Response('', { status: 429, headers: { 'retry-after': '3600' } });
    await run();
    expect(calls).toHaveLength(1);
    state.fault = () => {
      clock.advance(21_000);
      return undefined;
    };
    clock.advance(60 * MINUTE_MS);
    calls.length = 0;
    await run();
    expect(calls.length).toBeLessThanOrEqual(2);
  });
});

test('notes beyond the bound of one run wait for the next; earlier decisions go first', async () => {
  const { request, decide, later, run, notes, clock } = await noteHarness();
  const ids: string[] = [];
  for (let asked = 0; asked < NOTES_PER_RUN_MAX + 2; asked += 1) {
    const id = await request();
    ids.push(id);
    clock.advance(1_000);
    await decide(id, 'decline');
  }
  await run();
  expect(notes.map(({ body }) => /request (\S+), /.exec(body)?.[1])).toEqual(ids.slice(0, NOTES_PER_RUN_MAX));
  await later();
  expect(notes).toHaveLength(NOTES_PER_RUN_MAX + 2);
});
