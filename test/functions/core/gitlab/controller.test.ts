import { expect, test } from 'vitest';
import { createController } from '../../../../functions/core/gitlab/controller.ts';

const TOKEN = 'glpat-not-a-secret';

function gitlab(answer: (call: { method: string; url: string }) => Response | Promise<Response>) {
  const calls: { method: string; url: string; body: unknown; token: string | null; redirect: unknown }[] = [];
  const controller = createController({
    baseUrl: 'https://gitlab.example.com/',
    controllerId: 7,
    token: async () => TOKEN,
    fetch: async (input, init) => {
      const call = { method: init?.method ?? 'GET', url: String(input) };
      const token = new Headers(init?.headers).get('private-token');
      calls.push({ ...call, body: init?.body, token, redirect: init?.redirect });
      return answer(call);
    },
    clock: { nowMs: () => 0, monotonicMs: () => 0, sleep: async () => {} },
    random: () => 0,
  });
  return { controller, calls };
}

test('the state is read and changed where GitLab keeps it, with the token and without following redirects', async () => {
  const { controller, calls } = gitlab(({ method }) =>
    Response.json({ id: 7, state: method === 'PUT' ? 'dry_run' : 'enabled', connected: false }),
  );
  expect(await controller.state()).toBe('enabled');
  await controller.disarm();
  const url = 'https://gitlab.example.com/api/v4/runner_controllers/7';
  expect(calls).toEqual([
    { method: 'GET', url, body: undefined, token: TOKEN, redirect: 'manual' },
    { method: 'PUT', url, body: '{"state":"dry_run"}', token: TOKEN, redirect: 'manual' },
  ]);
});

test.each([
  { status: 401, code: 'gitlab_refused' },
  { status: 403, code: 'gitlab_refused' },
  { status: 404, code: 'gitlab_unreadable' },
  { status: 429, code: 'gitlab_rate_limited' },
  { status: 302, code: 'gitlab_unreadable' },
  { status: 502, code: 'gitlab_unavailable' },
])('$status is $code for both calls, without the token and the answer', async ({ status, code }) => {
  const { controller } = gitlab(() => new Response(TOKEN, { status }));
  for (const failing of [controller.state(), controller.disarm()]) {
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(String(error)).toContain('/runner_controllers/7');
    expect(String(error)).not.toContain(TOKEN);
  }
});

test.each(['{"state":"armed"}', '{}', 'null', 'no JSON'])('a 200 with %s tells no state', async (text) => {
  const { controller } = gitlab(() => new Response(text));
  await expect(controller.state()).rejects.toMatchObject({ code: 'gitlab_unreadable' });
  await expect(controller.disarm()).rejects.toMatchObject({ code: 'gitlab_unreadable' });
});
