import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { noteStep } from '../../../../scripts/cli/check/check-command.ts';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { type LocalNote, NOTE_USER_ID, noteRoutes } from '../../../support/note-routes.ts';

const TOKEN = 'glpat-a-note-token-nobody-may-see';
const PLACE = '42!7';
const env = (pipelineId: number) => ({
  TOLLGATE_NOTE_TOKEN: TOKEN,
  CI_SERVER_URL: 'https://gitlab.example.com',
  CI_MERGE_REQUEST_PROJECT_ID: '42',
  CI_MERGE_REQUEST_IID: '7',
  CI_PIPELINE_ID: String(pipelineId),
});

/** @param before - runs before a call is answered. */
function bench(before: (call: string) => Promise<Response | undefined> = async () => undefined) {
  const notes: LocalNote[] = [];
  const root = new Hono();
  noteRoutes(root.basePath('/api/v4'), notes);
  let said = '';
  const calls: string[] = [];
  const send: typeof fetch = async (input, init) => {
    const url = String(input);
    const call = `${init?.method ?? 'GET'} ${new URL(url).pathname}`;
    calls.push(call);
    if (new Headers(init?.headers).get('private-token') !== TOKEN) return new Response('', { status: 401 });
    return (await before(call)) ?? root.request(url, init);
  };
  const err = (text: string) => {
    said += text;
  };
  const run = (text: string, pipelineId: number) => noteStep(text, { env: env(pipelineId), err }, send);
  return { notes, calls, run, send, err, said: () => said };
}

test('there is one note, which the next pipeline updates and an older one leaves alone', async () => {
  const { notes, calls, run } = bench();
  expect(await run('first', 10)).toBe(EXIT.ok);
  expect(notes).toHaveLength(1);
  expect(notes[0]?.body).toMatch(/^<!-- .+ -->\nfirst$/);
  await run('second', 11);
  await run('late', 10);
  expect(notes.map(({ id, body }) => ({ id, text: body.split('\n')[1] }))).toEqual([
    { id: 1, text: 'second' },
  ]);
  const changes = () => calls.filter((call) => !call.startsWith('GET')).length;
  const made = changes();
  await run('second', 11);
  expect(changes()).toBe(made);
});

test('two runs that both found no note end with one, of the newer pipeline', async () => {
  for (const [early, late] of [
    [10, 11],
    [11, 10],
  ] as const) {
    let posts = 0;
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    // Nobody's note is made before both have looked.
    const { notes, run } = bench(async (call) => {
      if (!call.startsWith('POST')) return undefined;
      posts += 1;
      if (posts === 2) release();
      await both;
      return undefined;
    });
    await Promise.all([run(`of ${early}`, early), run(`of ${late}`, late)]);
    expect(posts).toBe(2);
    expect(notes.map(({ body }) => body.split('\n')[1])).toEqual(['of 11']);
  }
});

test('it is found behind a hundred others, and a marker that somebody else planted is not ours', async () => {
  const { notes, run } = bench();
  await run('first', 10);
  const [own] = notes.splice(0);
  for (let id = 1; id <= 150; id += 1) notes.push({ id, authorId: 2, place: PLACE, body: own?.body ?? '' });
  notes.push({ id: 151, authorId: NOTE_USER_ID, place: PLACE, body: own?.body ?? '' });
  await run('second', 11);
  expect(notes).toHaveLength(151);
  expect(notes.filter(({ body }) => body.includes('second')).map(({ id }) => id)).toEqual([151]);
});

test('a refusal is told with its remedy and without the token, and is exit 1', async () => {
  const { run, said } = bench(async (call) =>
    call.startsWith('POST') ? new Response('', { status: 403 }) : undefined,
  );
  expect(await run('text', 10)).toBe(EXIT.failed);
  expect(said()).toContain('(403); expected a project or group token with the scope api');
  expect(said()).not.toContain(TOKEN);
});

test('without a token nothing is called, and with one outside of a merge request it is wrong usage', async () => {
  const { send, err, calls } = bench();
  expect(await noteStep('text', { env: {}, err }, send)).toBe(EXIT.ok);
  const outside = { ...env(1), CI_MERGE_REQUEST_IID: '' };
  await expect(noteStep('text', { env: outside, err }, send)).rejects.toThrow(UsageError);
  expect(calls).toEqual([]);
});
