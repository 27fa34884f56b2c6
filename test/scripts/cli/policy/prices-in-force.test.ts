/** Prices have dates: what the desk says holds for the version in force at the time it is asked about. */
import { expect, test } from 'vitest';
import { withClass } from '../../../../scripts/cli/evaluation/place-flags.ts';
import { aPolicy } from '../../../policies/documents.ts';
import { desk, POLICY } from './documents.ts';

const HEAD = 'estimate:';
const DATED = `currency: EUR
prices:
  - version: "1"
    classes: [{ name: large, tags: [large], rate_per_minute: 0.60 }, { name: small, rate_per_minute: 0.10 }]
    default_class: small
  - version: "2"
    from: 2026-11-15
    classes: [{ name: huge, tags: [huge], rate_per_minute: 0.90 }, { name: small, rate_per_minute: 0.20 }]
    default_class: small
${POLICY.slice(POLICY.indexOf(HEAD))}`;

const fixtures = (...tests: readonly string[]): string => `defaults:
  request: { project: acme/payments/api, image: "alpine:3" }
tests:
${tests.map((each, index) => `  - { name: t${index}, ${each} }\n`).join('')}`;

const run = (...tests: readonly string[]) =>
  desk(['policy', 'test', '--json'], {
    'policies/policy.yaml': DATED,
    'policies/policy.test.yaml': fixtures(...tests),
  });

test('a test’s own prices take the place of those in force at its time, however far they are from the others', async () => {
  const { code, out } = await run(
    'now: 2026-11-14T23:59Z, prices: { large: 5 }, request: { job_tags: [large] }, expect: { runner_class: large, cost: 50 }',
    'now: 2026-11-15T00:00Z, prices: { huge: 0.01 }, request: { job_tags: [huge] }, expect: { runner_class: huge, cost: 0.10 }',
    'now: 2026-11-15T00:00Z, prices: { small: 9 }, expect: { runner_class: small, cost: 90 }',
    'now: 2026-11-15T00:00Z, prices: { huge: 0.01 }, expect: { runner_class: small, cost: 2 }',
    'now: 2026-11-14T00:00Z, prices: { large: 5 }, expect: { runner_class: small, cost: 1 }',
  );
  expect(JSON.parse(out).tests.map(({ differences }: { differences: unknown }) => differences)).toEqual([
    [],
    [],
    [],
    [],
    [],
  ]);
  expect(code).toBe(0);
});

test('a class that is not in force at the time is refused, with those that are', async () => {
  const { code, out } = await run('now: 2026-11-21T12:00Z, prices: { large: 5 }, expect: admitted');
  expect(code).toBe(3);
  expect(out).toMatch(/large.*huge, small/s);
});

test('--class is the class of the prices in force then', () => {
  const policy = aPolicy({
    prices: [
      { version: 'a', classes: [{ name: 'one', rate_per_minute: '0.10' }], default_class: 'one' },
      {
        version: 'b',
        from: '2026-12-01',
        classes: [
          { name: 'one', rate_per_minute: '0.20' },
          { name: 'two', tags: ['two'], rate_per_minute: '0.40' },
        ],
        default_class: 'one',
      },
    ],
  });
  const [before, after] = [Date.UTC(2026, 10, 30, 23, 59, 59, 999), Date.UTC(2026, 11, 1)];
  expect(withClass(policy, 'one', before)).toMatchObject({
    runnerClass: { microsPerMinute: 100_000 },
    policy: { prices: { version: 'a' } },
  });
  expect(withClass(policy, 'one', after)).toMatchObject({
    runnerClass: { microsPerMinute: 200_000 },
    policy: { prices: { version: 'b' } },
  });
  expect(() => withClass(policy, 'two', before)).toThrow(
    '--class two: is no runner class of the policy (prices a)',
  );
  expect(withClass(policy, 'two', after).runnerClass.name).toBe('two');
});

const warnings = async (policy: string): Promise<readonly string[]> =>
  JSON.parse((await desk(['policy', 'validate', '--json'], { 'policies/policy.yaml': policy })).out).warnings;

const aRule = (runnerClass: string): string =>
  `  - { id: r, kind: timeout, mode: enforce, max: 1h, match: { runner_classes: [${runnerClass}] } }\n`;

test('a rule on a class of later prices is no mistake, one on a class that only past prices had is', async () => {
  expect((await warnings(DATED + aRule('huge'))).join('\n')).not.toContain('matches no job');
  expect((await warnings(DATED + aRule('large'))).join('\n')).toContain('matches no job: large has no jobs');
  const next = DATED.replace('2026-11-15', '2026-12-15');
  expect((await warnings(next + aRule('huge'))).join('\n')).not.toContain('matches no job');
  expect((await warnings(next + aRule('large'))).join('\n')).not.toContain('matches no job');
});

test('a class without jobs is told at its place, in prices in force and to come, not in those that are over', async () => {
  const shadowed =
    '{ name: twin, tags: [huge, fast], rate_per_minute: 0.90 }, { name: small, rate_per_minute: 0.20';
  const later = DATED.replace('{ name: small, rate_per_minute: 0.20', shadowed);
  expect(await warnings(later)).toEqual([
    expect.stringMatching(/prices\[1\]\.classes\[1\]: runner class twin has no jobs: .* class huge/),
  ]);
  const past = DATED.replace(
    '{ name: small, rate_per_minute: 0.10',
    shadowed.replace('huge,', 'large,').replace('0.20', '0.10'),
  );
  expect(await warnings(past)).toEqual([]);
});
