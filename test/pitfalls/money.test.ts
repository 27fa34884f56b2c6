import { expect, test } from 'vitest';
import { parseLimits } from '../../policies/document/parse-limits.ts';
import { parsePolicy } from '../../policies/document/parse-policy.ts';
import { aPolicy, policyDocument } from '../policies/documents.ts';
import { aJob, ONE, ran, world } from './world.ts';

/** At 0.10 a minute. */
const minutes = (jobId: number, many: number) => aJob(jobId, { timeoutSeconds: many * 60 });
const budget = (money: unknown) => [{ on: { group: 100 }, money, per: 'month' }];

test('0.1 + 0.2 is 0.3: both jobs fit exactly, and not a second more', async () => {
  const { outcome, committed } = world({ limits: budget('0.30') });
  expect([await outcome(minutes(1, 1)), await outcome(minutes(2, 2))]).toEqual(['admitted', 'admitted']);
  expect(await committed('group/100')).toBe(300_000);
  expect(await outcome(aJob(3, { timeoutSeconds: 1 }))).toBe('BUDGET_EXHAUSTED');
});

test('1 micro-unit short rejects, and the numbers say so', async () => {
  const { ask, outcome } = world({ limits: budget('0.299999') });
  expect(await outcome(minutes(1, 1))).toBe('admitted');
  const [decision] = await ask([minutes(2, 2)]);
  expect(decision).toMatchObject({
    outcome: 'rejected',
    violations: [{ reason: { limitAmount: 299_999, committed: 100_000, asked: 200_000 } }],
    text: expect.stringContaining('0.299999'),
  });
});

test('the price changed mid-job: it settles at the price of its admission, the next one at the new price', async () => {
  const { outcome, edit, hear, settled } = world({ limits: budget(100) });
  await outcome(aJob(1));
  const classes = [{ name: 'small', rate_per_minute: '0.40' }];
  edit({ policy: { prices: { version: '2', classes, default_class: 'small' } } });
  expect(await outcome(aJob(2))).toBe('admitted');
  await hear(ran(1, 600), ran(2, 600));
  expect(await settled('group/100')).toBe(1 * ONE + 4 * ONE);
});

const NO_AMOUNTS: readonly (readonly [string, unknown])[] = [
  ['NaN', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['-1', -1],
  ['an empty text', ''],
  ['" 100,00"', ' 100,00'],
  ['1e3', '1e3'],
  ['2^53', 2 ** 53],
];

test.each(NO_AMOUNTS)(
  '%s is no amount of a limit, a grant or a price, and nothing of its document takes effect',
  (_, written) => {
    const policy = aPolicy();
    const grant = {
      on: { group: 100 },
      limit: 'money-month',
      from: '2026-11-01',
      until: '2026-11-30',
      reason: 'x',
    };
    const class_ = { name: 'small', rate_per_minute: written };
    const prices = { version: '1', classes: [class_], default_class: 'small' };
    expect(parseLimits({ limits: budget(written) }, 'v', policy).ok).toBe(false);
    expect(parseLimits({ limits: budget(5), grants: [{ ...grant, amount: written }] }, 'v', policy).ok).toBe(
      false,
    );
    expect(parsePolicy(policyDocument({ prices }), 'v').ok).toBe(false);
    // The same documents with an amount are valid.
    expect(parseLimits({ limits: budget(5), grants: [{ ...grant, amount: 5 }] }, 'v', policy).ok).toBe(true);
  },
);
