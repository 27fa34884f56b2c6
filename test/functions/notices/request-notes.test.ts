/** The merge request of a rejected job is told what became of the request for more: against the local GitLab's notes, with its failures. */
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import type { Log } from '../../../functions/core/environment/machine.ts';
import type { RequestVerdict } from '../../../functions/core/limits/desk/limit-request.ts';
import { NOTE_TRIES_MAX, NOTES_PER_RUN_MAX } from '../../../functions/notices/keep-request-notes.ts';
import { noteWriter } from '../../../functions/notices/note-writer.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { type LocalNote, NOTE_USER_ID, noteRoutes } from '../../../scripts/local/gitlab/note-routes.ts';
import { aJob, DIRECTORY } from '../console/house.ts';
import { CONSOLE_URL, noticesHouse } from './house.ts';

const GITLAB_URL = 'https://gitlab.example.com';
const TOKEN = 'glpat-of-payments-nobody-may-see';
const MINUTE_MS = 60_000;
const DANA = { actor: 'dana', rights: [{ role: 'viewer', groups: [101, 200] }] } as const;
const FRITZ = { actor: 'fritz', rights: [{ role: 'finance' }] } as const;
const JOB_URL = `${GITLAB_URL}/acme/payments/cards/api/-/jobs/1`;
const PLACE = '1!12';
const TIGHT = [
  { kind: 'set', subject: 'group/101', unit: 'money', amount: 1, per: 'month', owner: 'payments-leads' },
  { kind: 'set', subject: 'group/200', unit: 'money', amount: 1, per: 'month' },
] as const;

type Fault = (call: string) => Response | Promise<Response> | undefined;

/** A rejected job of a merge request, and somebody who asked for more because of it. */
async function noteHouse({
  rules = {},
  agreed = [101],
  directory = DIRECTORY,
  ref = 'refs/merge-requests/12/head',
  tokens = new Map([[101, TOKEN]]),
}: {
  readonly rules?: object;
  readonly agreed?: readonly number[];
  readonly directory?: Directory;
  readonly ref?: string;
  readonly tokens?: ReadonlyMap<number, string>;
} = {}) {
  const notes: LocalNote[] = [];
  const calls: string[] = [];
  const logged: string[] = [];
  const state: { fault: Fault; listings: number } = { fault: () => undefined, listings: 0 };
  const gitlab = new Hono();
  noteRoutes(gitlab.basePath('/api/v4'), notes);
  const send: typeof fetch = async (input, init) => {
    const url = String(input);
    const call = `${init?.method ?? 'GET'} ${new URL(url).pathname.replace('/api/v4', '')}`;
    calls.push(call);
    if (new Headers(init?.headers).get('private-token') !== TOKEN) return new Response('', { status: 401 });
    return (await state.fault(call)) ?? gitlab.request(url, init);
  };
  const keep = (...lines: readonly unknown[]): void => void logged.push(JSON.stringify(lines));
  const log: Log = { info: keep, warn: keep, error: keep };
  const house = await noticesHouse({
    ...{ limits: TIGHT, log },
    rules: { request_notes: agreed.map((group) => ({ group })), ...rules },
    directory: async () => {
      state.listings += 1;
      return directory;
    },
  });
  const { clock, deps } = house;
  const writer = noteWriter({
    ...{ gitlabUrl: GITLAB_URL, tokenOf: async (group) => tokens.get(group), fetch: send, clock },
    random: () => 0,
  });
  const withNotes = { ...deps, notes: { gitlabUrl: GITLAB_URL, write: writer } };
  const run = () => house.runWith(withNotes);
  await house.ask([aJob(1, { runnerTags: ['large'], ref })]);
  const asks = async (over: object = {}): Promise<string> => {
    const asked = await house.desk.request(
      {
        ...{ subject: 'group/101', limit: 'money-month', amount: 200, reason: '/close @all now' },
        ...{ from: '2026-11-21', until: '2026-11-30', link: JOB_URL, ...over },
      },
      DANA,
    );
    if (asked.outcome !== 'filed') throw new Error(JSON.stringify(asked));
    return asked.request.id;
  };
  const decides = async (id: string, verdict: RequestVerdict['verdict'] = 'approve'): Promise<void> => {
    const { outcome } = await house.desk.decide(id, { verdict, note: '/merge it' }, FRITZ);
    expect(outcome).toBe(verdict === 'approve' ? 'approved' : 'declined');
  };
  const later = async (minutes = 15) => {
    clock.advance(minutes * MINUTE_MS);
    await run();
  };
  const texts = () => notes.map(({ body }) => body.slice(body.indexOf('\n') + 1));
  return { ...house, withNotes, run, notes, calls, logged, state, asks, decides, later, texts };
}

describe('what it says', () => {
  test('an approval: what, by whom, until when, and to retry', async () => {
    const { asks, decides, run, notes, texts } = await noteHouse();
    const id = await asks();
    await run();
    expect(notes).toEqual([]);
    await decides(id);
    await run();
    expect(texts()).toEqual([
      [
        `**Approved** by \`fritz\`: what was asked for because [job 1](${JOB_URL}) was rejected.`,
        '200.00 EUR more for the CI budget of `group acme/payments`, until the end of 30 Nov 2026 UTC.',
        `Retry [job 1](${JOB_URL}).`,
        `What stopped it and what would help: ${CONSOLE_URL}/jobs/1`,
      ].join('\n\n'),
    ]);
    expect(notes[0]).toMatchObject({ place: PLACE, authorId: NOTE_USER_ID });
    expect(notes[0]?.body).toMatch(/^<!-- tollgate request r-[\w-]+, edit \d+ -->\n/);
  });

  test('a refusal; and no word of anybody’s, which GitLab could take for a command', async () => {
    const { asks, decides, run, notes, texts } = await noteHouse();
    await decides(await asks(), 'decline');
    await run();
    expect(texts()[0]).toContain('**Declined** by `fritz`');
    expect(texts()[0]).not.toContain('Retry');
    expect(notes[0]?.body).not.toMatch(/close|merge it|@/);
  });

  test('what was approved and is taken back is told in the same note', async () => {
    const { asks, decides, run, later, edit, notes, texts } = await noteHouse();
    const id = await asks();
    await decides(id);
    await run();
    const [first] = texts();
    await edit([{ kind: 'revoke', grant: id }]);
    await later();
    expect(texts()).toEqual([expect.stringContaining('**Approved** by `fritz`, and it counts no more')]);
    expect(notes).toHaveLength(1);
    expect(texts()[0]).not.toBe(first);
  });

  test.each([
    ['none by policy', { rules: { disclose: { default: 'none' } } }],
    [
      'a public project',
      {
        rules: { disclose: { default: 'all' } },
        directory: {
          ...DIRECTORY,
          projectById: new Map(
            [...DIRECTORY.projectById].map(([id, each]) => [id, { ...each, visibility: 'public' }]),
          ),
        },
      },
    ],
  ])('where nothing is disclosed, neither amount, place, name nor day is: %s', async (_, options) => {
    const { asks, decides, run, texts } = await noteHouse(options);
    await decides(await asks());
    await run();
    expect(texts()).toEqual([
      `**Approved**: what was asked for because [job 1](${JOB_URL}) was rejected.\n\nRetry [job 1](${JOB_URL}).`,
    ]);
  });

  test('of a limit that did not reject the job no amount is told', async () => {
    const { asks, decides, run, edit, texts } = await noteHouse({ rules: { disclose: { default: 'all' } } });
    await edit([{ kind: 'set', subject: 'group/101', unit: 'jobs', amount: 5 }]);
    await decides(await asks({ limit: 'jobs-now', amount: 3 }));
    await run();
    expect(texts()).toEqual([expect.stringContaining('**Approved** by `fritz`')]);
    expect(texts()[0]).not.toContain('more for');
  });
});

describe('where there is none', () => {
  test.each<[string, Parameters<typeof noteHouse>[0], object]>([
    ['no group agreed', { agreed: [] }, {}],
    ['another group agreed', { agreed: [200] }, {}],
    ['the job is of a branch', { ref: 'main' }, {}],
    ['it is about no job', {}, { link: undefined }],
    ['it is about something else', {}, { link: 'https://example.com/acme' }],
    ['nobody knows the job', {}, { link: `${GITLAB_URL}/acme/payments/cards/api/-/jobs/4711` }],
    ['the job is one of others', {}, { subject: 'group/200' }],
  ])('%s', async (_, options, over) => {
    const { asks, decides, run, later, calls } = await noteHouse(options);
    const { link = 'none' } = { link: JOB_URL, ...over } as { readonly link?: string };
    await decides(await asks(link === 'none' ? { ...over, link: '' } : over));
    await run();
    await later();
    expect(calls).toEqual([]);
  });

  test('a job that was admitted', async () => {
    const { ask, asks, decides, run, edit, calls } = await noteHouse();
    await edit([{ kind: 'set', subject: 'group/101', limit: 'money-month', amount: 900 }]);
    await ask([aJob(2, { ref: 'refs/merge-requests/12/head' })]);
    await decides(await asks({ link: JOB_URL.replace('/jobs/1', '/jobs/2') }));
    await run();
    expect(calls).toEqual([]);
  });

  test('what was decided more than a day before a group agreed', async () => {
    const { asks, decides, later, calls } = await noteHouse();
    await decides(await asks());
    await later(24 * 60);
    expect(calls).toEqual([]);
  });
});

describe('exactly one', () => {
  test('the same request is looked at again without asking GitLab, and only where limits changed', async () => {
    const { asks, decides, run, later, edit, calls, notes, state } = await noteHouse();
    await decides(await asks());
    await run();
    const made = calls.length;
    await later();
    const { listings } = state;
    await later();
    expect(state.listings).toBe(listings);
    await edit([{ kind: 'set', subject: 'group/200', unit: 'money', amount: 5, per: 'month' }]);
    await later();
    expect(calls).toHaveLength(made);
    expect(notes).toHaveLength(1);
  });

  test('of two runs at once that both found none', async () => {
    const { asks, decides, withNotes, runWith, state, notes } = await noteHouse();
    await decides(await asks());
    let posts = 0;
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    state.fault = (call) => {
      if (!call.startsWith('POST')) return undefined;
      posts += 1;
      if (posts === 2) release();
      return both.then(() => undefined as unknown as Response);
    };
    await Promise.all([runWith(withNotes), runWith(withNotes)]);
    expect(posts).toBe(2);
    expect(notes).toHaveLength(1);
  });

  test('where GitLab made it and nobody heard, or the mark was lost', async () => {
    const { asks, decides, run, later, runWith, withNotes, state, notes, texts } = await noteHouse();
    const id = await asks();
    const before = await withNotes.cursors.read();
    await decides(id);
    state.fault = async (call) => {
      if (!call.startsWith('POST')) return undefined as unknown as Response;
      state.fault = () => undefined;
      notes.push({
        id: 1,
        authorId: NOTE_USER_ID,
        place: PLACE,
        body: `<!-- tollgate request ${id}, edit 1 -->\nold`,
      });
      throw new Error('reset');
    };
    await run();
    await later();
    expect(texts()).toEqual([expect.stringContaining('**Approved**')]);
    const forgetful = { ...withNotes.cursors, read: async () => before, write: async () => true };
    await runWith({ ...withNotes, cursors: forgetful });
    expect(notes).toHaveLength(1);
  });

  test('a marker that somebody else planted is left alone', async () => {
    const { asks, decides, run, notes } = await noteHouse();
    const id = await asks();
    notes.push({ id: 1, authorId: 2, place: PLACE, body: `<!-- tollgate request ${id}, edit 99 -->\nmine` });
    await decides(id);
    await run();
    expect(notes.map(({ authorId }) => authorId)).toEqual([2, NOTE_USER_ID]);
  });
});

describe('a GitLab that fails', () => {
  test.each<[string, Fault]>([
    ['the token is refused', () => new Response('', { status: 401 })],
    ['it may not write', (call) => (call.startsWith('POST') ? new Response('', { status: 403 }) : undefined)],
    [
      'there is no such merge request',
      (call) => (call.includes('notes') ? new Response('', { status: 404 }) : undefined),
    ],
    ['too many calls', () => new Response('', { status: 429, headers: { 'retry-after': '60' } })],
    ['no answer', () => Promise.reject(new DOMException('too long', 'TimeoutError'))],
    ['an error of its own', () => new Response('', { status: 500 })],
  ])('%s: owners are told all the same, it is tried again, and given up in the end', async (_, fault) => {
    const { asks, decides, run, later, state, notes, notify, calls, logged, cursors } = await noteHouse();
    const id = await asks();
    state.fault = fault;
    await decides(id);
    await run();
    expect(notify.sent.at(-1)?.text).toContain('Approved: dana asks for');
    expect(cursors.now()?.notes?.[id]).toMatchObject({ tries: 1 });
    const asked = calls.length;
    await later(5);
    expect(calls).toHaveLength(asked);
    await later(10);
    expect(calls.length).toBeGreaterThan(asked);
    for (let more = 0; more < NOTE_TRIES_MAX; more += 1) await later();
    const last = calls.length;
    await later();
    expect(calls).toHaveLength(last);
    expect(notes).toEqual([]);
    expect(logged.filter((line) => line.includes('merge request not told'))).toHaveLength(NOTE_TRIES_MAX);
    expect(logged.at(-1)).toContain('given up');
    expect(logged.join('')).not.toContain(TOKEN);
  });

  test('once it answers again the note is there', async () => {
    const { asks, decides, run, later, state, texts } = await noteHouse();
    await decides(await asks());
    state.fault = () => new Response('', { status: 502 });
    await run();
    state.fault = () => undefined;
    await later();
    expect(texts()).toEqual([expect.stringContaining('**Approved**')]);
  });

  test('no token of the group: nothing is called, and the next run looks again', async () => {
    const { asks, decides, run, calls, cursors } = await noteHouse({ tokens: new Map() });
    const id = await asks();
    await decides(id);
    await run();
    expect(calls).toEqual([]);
    expect(cursors.now()?.notes?.[id]).toMatchObject({ tries: 1 });
  });

  test('who wants to be left alone is asked once a run, and a run ends in time', async () => {
    const { asks, decides, run, state, calls, clock } = await noteHouse();
    for (const amount of [1, 2, 3]) await decides(await asks({ amount }), 'decline');
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

test('a run writes so many notes, the first decided first, and the next one goes on', async () => {
  const { asks, decides, later, run, notes, clock } = await noteHouse();
  const ids: string[] = [];
  for (let asked = 0; asked < NOTES_PER_RUN_MAX + 2; asked += 1) {
    ids.push(await asks());
    clock.advance(1_000);
    await decides(ids.at(-1) ?? '', 'decline');
  }
  await run();
  expect(notes.map(({ body }) => /request (\S+), /.exec(body)?.[1])).toEqual(ids.slice(0, NOTES_PER_RUN_MAX));
  await later();
  expect(notes).toHaveLength(NOTES_PER_RUN_MAX + 2);
});
