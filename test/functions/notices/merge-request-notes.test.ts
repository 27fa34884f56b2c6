/** Notes against the local GitLab's merge requests, with its failures. */
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import type { Log } from '../../../functions/core/environment/environment.ts';
import type { RequestDecision } from '../../../functions/core/limits/edit-model.ts';
import type { Directory } from '../../../policies/directory.ts';
import { type LocalNote, NOTE_USER_ID, noteRoutes } from '../../support/note-routes.ts';
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
  const { clock, limitEdits, run, ask } = harness;
  await ask([aJob(1, { runnerTags: ['large'], ref })]);
  const request = (over: object = {}) =>
    harness.request({ reason: '/close @all now', link: JOB_URL, ...over });
  const decide = async (id: string, decision: RequestDecision['decision'] = 'approve'): Promise<void> => {
    const { outcome } = await limitEdits.decide(id, { decision, note: '/merge it' }, FRITZ);
    expect(outcome).toBe(decision === 'approve' ? 'approved' : 'declined');
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
  test('of an approval: approver, to retry, and the page of the job', async () => {
    const { request, decide, run, notes, texts } = await noteHarness();
    const id = await request();
    await run();
    expect(notes).toEqual([]);
    await decide(id);
    await run();
    expect(texts()).toEqual([
      [
        `**Approved** by \`fritz\`: the request for more after [job 1](${JOB_URL}) was rejected.`,
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
  ])('has no name and no page if nothing may be disclosed %s', async (_, options) => {
    const { approve, run, texts } = await noteHarness(options);
    await approve();
    await run();
    expect(texts()).toEqual([
      `**Approved**: the request for more after [job 1](${JOB_URL}) was rejected.\n\nRetry [job 1](${JOB_URL}).`,
    ]);
  });
});

describe('no note', () => {
  test.each<[string, NoteOptions, object]>([
    ['if no group agreed', { agreed: [] }, {}],
    ['if the job is of a branch', { ref: 'main' }, {}],
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

  test('if the decision is two hours old', async () => {
    const { approve, later, calls } = await noteHarness();
    await approve();
    await later(2 * 60);
    expect(calls).toEqual([]);
  });
});

describe('exactly one note', () => {
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
    ['too many calls', () => new Response('', { status: 429, headers: { 'retry-after': '60' } })],
    ['no response', () => Promise.reject(new DOMException('too long', 'TimeoutError'))],
  ])('%s: mail is sent, and a later run writes the note', async (_, fault) => {
    const { approve, run, later, state, notes, texts, logged, lastText } = await noteHarness();
    state.fault = fault;
    await approve();
    await run();
    expect(lastText()).toContain('Approved: dana asks for');
    expect(notes).toEqual([]);
    expect(logged.at(-1)).toContain('merge request not notified');
    expect(logged.join('')).not.toContain(TOKEN);
    state.fault = () => undefined;
    await later();
    expect(texts()).toEqual([expect.stringContaining('**Approved**')]);
  });

  test('that is slow does not keep a run from ending in time', async () => {
    const { request, decide, run, state, calls, clock } = await noteHarness();
    for (const amount of [1, 2, 3]) await decide(await request({ amount }), 'decline');
    state.fault = () => {
      clock.advance(21_000);
      return undefined;
    };
    await run();
    expect(calls.length).toBeLessThanOrEqual(2);
  });
});
