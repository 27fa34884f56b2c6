import { expect, test } from 'vitest';
import { runDesk } from '../desk-run.ts';
import { DIRECTORY, desk, LIMITS, POLICY, project } from './documents.ts';

const validate = (policy: string, limits = LIMITS, ...flags: string[]) =>
  desk(['policy', 'validate', ...flags], { 'policies/policy.yaml': policy, 'policies/limits.yaml': limits });

const withRules = (...rules: readonly string[]): string =>
  `${POLICY.slice(0, POLICY.indexOf('rules:'))}rules:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`;

const warnings = async (policy: string, limits?: string): Promise<readonly string[]> =>
  JSON.parse((await validate(policy, limits, '--json')).out).warnings;

test('valid documents are summed up without a warning', async () => {
  const { code, out, err } = await validate(POLICY);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('budgets  budget  cost      enforce  counters of 1 limit\n');
  expect(out).toContain('images   image   security  enforce  the request alone, also in the fallback\n');
  expect(out).toContain('3 rules: 2 security (1 enforce, 1 shadow), 1 cost (1 enforce)');
  expect(out).toContain('1 limit; version');
  expect(out).toContain('3 groups, 1 project');
});

test('problems of all documents are told at once, each with its place', async () => {
  const { code, err, out } = await desk(['policy', 'validate'], {
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

test('limits are said to be unchecked where even the prices are wrong', async () => {
  const { err } = await validate(POLICY.replace('rate_per_minute: 0.60', 'rate_per_minute: much'));
  expect(err).toContain('limits.yaml: was not checked, since the runner classes are not known');
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

const exempt = (until: string): string =>
  withRules(
    `{ id: images, kind: image, mode: enforce, on_missing: skip, tags: fixed, exempt: [{ groups: [101], reason: moving, until: ${until} }] }`,
  );

test.each([
  ['UTC', '2026-12-31', '', 0],
  ['Europe/Berlin', '2026-12-31', '', 1],
  ['Europe/Berlin', 'never', '', 0],
  ['Europe/Berlin', '2026-12-31', 'zone: Europe/Berlin\n', 0],
])(
  'days of %s: an exemption until %s in a policy that says "%s" warns %i times',
  async (zone, until, said, times) => {
    const root = project({
      'policies/policy.yaml': `${said}${exempt(until)}`,
      'policies/limits.yaml': 'limits: []',
    });
    const { err } = await runDesk(['policy', 'validate'], root, { env: { TOLLGATE_ROLLUP_ZONE: zone } });
    expect(err.split(`days of this deployment are those of ${zone}`)).toHaveLength(times + 1);
  },
);

test.each([
  ['2026-11-20', 'the exemption "moving" of rule images is over'],
  ['2026-11-21', 'ends in 1 day'],
  ['2026-12-20', 'ends in 30 days'],
  ['2026-12-31', undefined],
  ['never', undefined],
])('an exemption until %s, seen on 21 November, warns: %s', async (until, said) => {
  const found = await warnings(exempt(until), 'limits: []');
  expect(found).toEqual(said === undefined ? [] : [expect.stringContaining(said)]);
  if (said !== undefined)
    expect(found[0]).toMatch(/^policies\/policy\.yaml:11:\d+ rules\[0\]\.exempt\[0\]\.until: /);
});

test.each([
  [
    'a policy without platform',
    POLICY.replace(/platform:.*\n/, ''),
    'a rule could stop those who would have to mend it',
  ],
  [
    'a runner class nobody reaches',
    POLICY.replace(
      '    - { name: small',
      '    - { name: larger, tags: [big, large], rate_per_minute: 1 }\n    - { name: small',
    ),
    'runner class larger has no jobs: every runner with its tags is one of class large',
  ],
  [
    'a group that is not there',
    withRules('{ id: a, kind: budget, mode: enforce, match: { groups: [110] } }'),
    'group 110 is not in the directory',
  ],
  [
    'the same rule twice',
    withRules(
      '{ id: budgets, kind: budget, mode: enforce }',
      '{ id: a, kind: timeout, mode: enforce, max: 1h }',
      '{ id: b, max: 1h, kind: timeout, mode: enforce, message: x }',
    ),
    'rule b is the same as rule a',
  ],
  [
    'a security rule that says nothing about absent fields',
    withRules('{ id: a, kind: image, mode: enforce, tags: fixed }', '{ id: b, kind: budget, mode: enforce }'),
    'rule a needs image and lets a job pass unchecked where GitLab sends none',
  ],
  [
    'a rule of users that does not say what it means to name none',
    withRules(
      '{ id: a, kind: container-user, mode: enforce, on_missing: reject }',
      '{ id: b, kind: budget, mode: enforce }',
      '{ id: c, kind: container-user, mode: enforce, executors: [docker], required: false }',
    ),
    'rule a lets a container pass that names no user, which its image then decides, and that often is root',
  ],
  [
    'a rule of pull policies that does not say it',
    withRules(
      '{ id: a, kind: pull-policy, mode: enforce, allow: [always], on_missing: reject }',
      '{ id: b, kind: budget, mode: enforce }',
    ),
    'rule a lets a container pass that names no pull policy',
  ],
  [
    'Docker in Docker that is denied for services alone',
    withRules(
      '{ id: a, kind: services, mode: enforce, on_missing: admit, docker_in_docker: false }',
      '{ id: b, kind: budget, mode: enforce }',
    ),
    'rule a denies Docker in Docker for services alone',
  ],
  [
    'limits that no rule switches on',
    withRules('{ id: a, kind: concurrency, mode: enforce }'),
    'limits[0].money: asks nothing: the policy has no rule of kind budget',
  ],
  [
    'a freeze that is over',
    withRules(
      '{ id: b, kind: budget, mode: enforce }',
      '{ id: a, kind: freeze, mode: enforce, windows: [{ from: 2026-01-01, until: 2026-01-02 }] }',
    ),
    'the freeze a is over',
  ],
])('%s is valid and warned about, once', async (_, policy, said) => {
  const { code, err } = await validate(policy);
  expect(code).toBe(0);
  expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining(said)]);
});

test('limits that groups have by default are warned about like their own', async () => {
  const { code, err } = await desk(['policy', 'validate'], {
    'policies/limits.yaml':
      'limits: []\ngroup_defaults: [{ groups: "acme/*", jobs: 3 }]\npersonal_default: [{ starts: 9, per: hour }]\n',
  });
  expect(code).toBe(0);
  expect(err).toContain('group_defaults[0].jobs: asks nothing: the policy has no rule of kind concurrency');
  expect(err).toContain('personal_default[0].starts: asks nothing: the policy has no rule of kind window');
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
const about = (name: string): string =>
  `  - { id: r, kind: timeout, mode: enforce, max: 1h, on_missing: skip, match: { runner_classes: [${name}] } }\n`;
const TWIN =
  '{ name: twin, tags: [huge, fast], rate_per_minute: 0.90 }, { name: small, rate_per_minute: 0.20';

test.each([
  ['a class in force', PRICES + about('huge'), undefined],
  ['a class that only past prices had', PRICES + about('large'), 'matches no job: large has no jobs'],
  ['a class of later prices', PRICES.replace('11-15', '12-15') + about('huge'), undefined],
  ['jobs of no class', PRICES + about('none'), undefined],
  [
    'a class without jobs, in prices in force',
    PRICES.replace('{ name: small, rate_per_minute: 0.20', TWIN),
    'prices[1].classes[1]: runner class twin has no jobs: every runner with its tags is one of class huge',
  ],
  [
    'a class without jobs, in prices that are over',
    PRICES.replace(
      '{ name: small, rate_per_minute: 0.10',
      TWIN.replace('huge,', 'large,').replace('0.20', '0.10'),
    ),
    undefined,
  ],
])('by the dates of prices, %s warns: %s', async (_, policy, said) => {
  expect(await warnings(policy)).toEqual(said === undefined ? [] : [expect.stringContaining(said)]);
});
