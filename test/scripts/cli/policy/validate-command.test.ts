import { expect, test } from 'vitest';
import { DIRECTORY, LIMITS, limitEdits, POLICY } from './documents.ts';

const validate = (policy: string, limits = LIMITS, ...flags: string[]) =>
  limitEdits(['policy', 'validate', ...flags], {
    'policies/policy.yaml': policy,
    'policies/limits.yaml': limits,
  });

const withRules = (...rules: readonly string[]): string =>
  `${POLICY.slice(0, POLICY.indexOf('rules:'))}rules:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`;

test('valid documents are summed up without a warning', async () => {
  const { code, out, err } = await validate(POLICY);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('budgets  budget  cost      enforce  counters of limits\n');
  expect(out).toContain('images   image   security  enforce  the request alone, also in the fallback\n');
  expect(out).toContain('3 rules; version');
  expect(out).toContain('1 limit; version');
  expect(out).toContain('3 groups, 1 project');
});

test('problems of all documents are told at once, each with its place', async () => {
  const { code, err, out } = await limitEdits(['policy', 'validate'], {
    'policies/policy.yaml': POLICY.replace('mode: enforce, on_missing', 'mode: hard, on_missing'),
    'policies/limits.yaml': LIMITS.replace('money: 7.50', 'money: -1'),
    'policies/directory.yaml': DIRECTORY.replace('path: acme }', 'path: 5 }'),
  });
  expect(code).toBe(3);
  expect(out).toBe('');
  expect(err).toMatch(/^policies\/policy\.yaml:12:38 rules\[1\]\.mode: 'hard'/m);
  expect(err).toMatch(/^policies\/limits\.yaml:2:34 limits\[0\]\.money: '-1'/m);
  expect(err).toMatch(/^policies\/directory\.yaml:2:\d+ groups\[0\]\.path/m);
});

test('a policy that would stop its own platform team is invalid, and with --force a warning', async () => {
  const policy = POLICY.replace('message: Ask us', 'binds_platform: true').replace(
    'job: { image: "alpine:3" }',
    'job: { image: "debian:13" }',
  );
  const refused = await validate(policy);
  expect(refused.code).toBe(3);
  expect(refused.err).toContain('rule images would reject group acme/platform');
  expect(refused.err).toContain('--force');
  const forced = await validate(policy, LIMITS, '--force');
  expect(forced.code).toBe(0);
  expect(forced.err).toContain('warning rule images would reject group acme/platform');
  expect(JSON.parse((await validate(policy, LIMITS, '--json')).out)).toMatchObject({ valid: false });
});

test.each([
  ['a policy without platform', POLICY.replace(/platform:.*\n/, ''), 'platform: missing'],
  ['prices that are not filled in', POLICY.replace('"1"', 'to-be-filled'), 'prices.version: is to-be-filled'],
  [
    'a runner class nobody reaches',
    POLICY.replace(
      '    - { name: small',
      '    - { name: larger, tags: [big, large], rate_per_minute: 1 }\n    - { name: small',
    ),
    'runner class larger has no jobs: every runner with its tags is one of class large',
  ],
  [
    'limits that no rule switches on',
    withRules('{ id: a, kind: concurrency, mode: enforce }'),
    'limits[0].money: has no effect: the policy has no rule of kind budget',
  ],
  [
    'a freeze that is over',
    withRules(
      '{ id: b, kind: budget, mode: enforce }',
      '{ id: a, kind: freeze, mode: enforce, windows: [{ from: 2026-01-01, until: 2026-01-02 }] }',
    ),
    'rules[1].windows: are over',
  ],
  [
    'an exemption that is over',
    withRules(
      '{ id: b, kind: budget, mode: enforce, exempt: [{ groups: [101], reason: moving, until: 2026-11-20 }, { groups: [102], reason: moving, until: 2026-11-21 }] }',
    ),
    'rules[0].exempt[0].until: is over',
  ],
])('%s is valid and warned about, once', async (_, policy, warning) => {
  const { code, err } = await validate(policy);
  expect(code).toBe(0);
  expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining(warning)]);
});

const PRICES = `currency: EUR
prices:
  - version: "1"
    classes: [{ name: large, tags: [large], rate_per_minute: 0.60 }, { name: small, rate_per_minute: 0.10 }]
    default_class: small
  - version: "2"
    from: 2026-11-15
    classes: [{ name: huge, tags: [huge], rate_per_minute: 0.90 }, { name: small, rate_per_minute: 0.20 }]
    default_class: small
${POLICY.slice(POLICY.indexOf('estimate:'))}`;

test.each([
  ['huge', []],
  ['none', []],
  ['large', [expect.stringContaining('matches no job: large has no jobs')]],
])('by the dates of prices, a rule about class %s warns %j', async (name, expected) => {
  const rule = `  - { id: r, kind: timeout, mode: enforce, max: 1h, match: { runner_classes: [${name}] } }\n`;
  const { out } = await validate(PRICES + rule, LIMITS, '--json');
  expect(JSON.parse(out).warnings).toEqual(expected);
});
