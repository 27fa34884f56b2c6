import { expect, test } from 'vitest';
import { userLabels } from '../../../../functions/answers/reading/scope.ts';
import { userNames } from '../../../../functions/core/gitlab/cached-answers.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const MINUTE_MS = 60_000;

/** A GitLab that knows some users; absent: it is down. */
function bench(users: Readonly<Record<number, unknown>> | undefined) {
  const clock = manualClock();
  const asked: string[] = [];
  const warnings: string[] = [];
  const gitlab = {
    baseUrl: 'https://gitlab.example.com',
    token: async () => 'secret',
    clock,
    fetch: (async (url: URL | string) => {
      const path = new URL(url).pathname;
      asked.push(path);
      if (users === undefined) return new Response('', { status: 503 });
      const user = users[Number(path.slice(path.lastIndexOf('/') + 1))];
      return user === undefined ? Response.json({}, { status: 404 }) : Response.json(user);
    }) as typeof fetch,
    deadlineMs: 1_000,
  };
  const names = userNames({ gitlab, clock, log: { warn: (message) => void warnings.push(message) } });
  return { clock, asked, warnings, names };
}

test('users are told as GitLab calls them, once in ten minutes; who is gone is told as that', async () => {
  const { clock, asked, names } = bench({
    7: { id: 7, username: 'anna', email: 'a@example.com' },
    9: { odd: true },
  });
  const labels = ['user 7', 'user 8', 'user 9', 'acme/payments', 'user 7'];
  const told = async () => labels.map(await userLabels(labels, names));
  const expected = [
    'anna',
    'a user GitLab does not know',
    'a user GitLab does not know',
    'acme/payments',
    'anna',
  ];
  expect(await told()).toEqual(expected);
  expect(await told()).toEqual(expected);
  expect(asked).toEqual(['/api/v4/users/7', '/api/v4/users/8', '/api/v4/users/9']);
  clock.advance(10 * MINUTE_MS);
  await told();
  expect(asked).toHaveLength(6);
});

test('a GitLab that is down is left alone, and users stay numbers', async () => {
  const { asked, warnings, names } = bench(undefined);
  const labels = ['user 7'];
  expect(labels.map(await userLabels(labels, names))).toEqual(['user 7']);
  const calls = asked.length;
  expect(labels.map(await userLabels(labels, names))).toEqual(['user 7']);
  expect([asked.length, warnings]).toEqual([calls, ['GitLab does not send users']]);
});
