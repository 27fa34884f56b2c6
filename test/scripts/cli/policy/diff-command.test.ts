import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runDesk } from '../desk-run.ts';
import { DIRECTORY, desk, LIMITS, POLICY, project } from './documents.ts';

interface Told {
  readonly at: string;
  readonly what: string;
  readonly effect: string;
}

async function changes(old: string, recent: string): Promise<readonly string[]> {
  const { code, out } = await desk(['policy', 'diff', 'old.yaml', 'new.yaml', '--json'], {
    'old.yaml': old,
    'new.yaml': recent,
  });
  expect(code).toBe(0);
  return JSON.parse(out).changes.map(({ at, what, effect }: Told) => `${effect} ${at} ${what}`);
}

const rule = (text: string): string => `${POLICY}  - ${text}\n`;

test('the same policy, written otherwise, is no difference', async () => {
  const other = POLICY.replace(
    '{ id: budgets, kind: budget, mode: enforce }',
    '{ mode: enforce, id: budgets, kind: budget } # once',
  );
  expect(await changes(POLICY, other)).toEqual([]);
});

test.each<[string, string, string, readonly string[]]>([
  [
    'a mode goes up',
    POLICY,
    POLICY.replace('mode: shadow', 'mode: enforce'),
    ['tightens rules.tags.mode shadow → enforce'],
  ],
  [
    'a mode goes down',
    POLICY,
    POLICY.replace('images, kind: image, mode: enforce', 'images, kind: image, mode: warn'),
    ['loosens rules.images.mode enforce → warn'],
  ],
  [
    'an allow list grows',
    POLICY,
    POLICY.replace('"golang:*"', '"golang:*", "debian:*"'),
    ['loosens rules.images.allow + debian:*'],
  ],
  [
    'an allow list shrinks',
    POLICY,
    POLICY.replace(', "golang:*"', ''),
    ['tightens rules.images.allow - golang:*'],
  ],
  [
    'an allow list changes',
    POLICY,
    POLICY.replace('"golang:*"', '"debian:*"'),
    ['could loosen rules.images.allow - golang:*, + debian:*'],
  ],
  [
    'an allow list goes away',
    POLICY,
    POLICY.replace('allow: ["alpine:*", "golang:*"]', 'deny: [x]'),
    ['loosens rules.images.allow - alpine:*, - golang:*', 'tightens rules.images.deny + x'],
  ],
  [
    'what is absent rejects no more',
    POLICY,
    POLICY.replace('on_missing: reject', 'on_missing: admit'),
    ['loosens rules.images.on_missing reject → admit'],
  ],
  [
    'a message changes',
    POLICY,
    POLICY.replace('Ask us', 'Ask them'),
    ['neutral rules.images.message Ask us → Ask them'],
  ],
  [
    'a rule that only watches changes',
    POLICY,
    POLICY.replace('tags: fixed', 'tags: digest'),
    ['neutral rules.tags.tags fixed → digest'],
  ],
  [
    'a rule comes',
    POLICY,
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h }'),
    ['tightens rules.t added (timeout, enforce)'],
  ],
  [
    'a rule comes to watch',
    POLICY,
    rule('{ id: t, kind: timeout, mode: shadow, max: 1h }'),
    ['neutral rules.t added (timeout, shadow)'],
  ],
  [
    'a rule goes',
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h }'),
    POLICY,
    ['loosens rules.t removed (timeout, enforce)'],
  ],
  [
    'a cap rises',
    rule('{ id: t, kind: timeout, mode: enforce, max: 90m }'),
    rule('{ id: t, kind: timeout, mode: enforce, max: 2h }'),
    ['loosens rules.t.max 90m → 2h'],
  ],
  [
    'a resource cap falls',
    rule('{ id: r, kind: resources, mode: enforce, build: { memory: 1Gi } }'),
    rule('{ id: r, kind: resources, mode: enforce, build: { memory: 1000Mi } }'),
    ['tightens rules.r.build.memory 1Gi → 1000Mi'],
  ],
  [
    'a resource cap comes',
    rule('{ id: r, kind: resources, mode: enforce, build: { cpu: 1 } }'),
    rule('{ id: r, kind: resources, mode: enforce, build: { cpu: 1 }, job: { cpu: 2 } }'),
    ['tightens rules.r.job absent → {cpu: 2}'],
  ],
  [
    'a condition comes',
    POLICY,
    POLICY.replace('kind: budget,', 'kind: budget, match: { groups: [101] },'),
    ['loosens rules.budgets.match absent → {groups: [101]}'],
  ],
  [
    'a condition names more',
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { groups: [101] } }'),
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { groups: [101, 102] } }'),
    ['tightens rules.t.match.groups + 102'],
  ],
  [
    'one of two conditions goes',
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { groups: [101], jobs: [a] } }'),
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { groups: [101] } }'),
    ['tightens rules.t.match.jobs - a'],
  ],
  [
    'not names more',
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { not: { groups: [101] } } }'),
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { not: { groups: [101, 102] } } }'),
    ['loosens rules.t.match.not.groups + 102'],
  ],
  [
    'an overwrite is forbidden',
    rule('{ id: o, kind: overwrites, mode: enforce, namespace: "^ci-" }'),
    rule('{ id: o, kind: overwrites, mode: enforce, namespace: false }'),
    ['tightens rules.o.namespace ^ci- → false'],
  ],
  [
    'an allow list becomes a wider pattern',
    POLICY,
    POLICY.replace('["alpine:*", "golang:*"]', '["**"]'),
    ['could loosen rules.images.allow - alpine:*, - golang:*, + **'],
  ],
  [
    'a narrower pattern, which is not compared by what it matches',
    POLICY,
    POLICY.replace('"golang:*"', '"golang:1.*", "golang:2.*"'),
    ['could loosen rules.images.allow - golang:*, + golang:1.*, + golang:2.*'],
  ],
  [
    'a deny list gets a wider pattern',
    rule('{ id: i, kind: image, mode: enforce, deny: ["evil/*:*"] }'),
    rule('{ id: i, kind: image, mode: enforce, deny: ["evil/**"] }'),
    ['could loosen rules.i.deny - evil/*:*, + evil/**'],
  ],
  [
    'a deny list is compared normalised',
    rule('{ id: i, kind: image, mode: enforce, deny: ["evil/**"] }'),
    rule('{ id: i, kind: image, mode: enforce, deny: ["evil/**"], compare: normalised }'),
    ['tightens rules.i.compare absent → normalised'],
  ],
  [
    'an allow list is compared as written again',
    rule('{ id: i, kind: image, mode: enforce, allow: ["a/**"], compare: normalised }'),
    rule('{ id: i, kind: image, mode: enforce, allow: ["a/**"] }'),
    ['tightens rules.i.compare normalised → absent'],
  ],
  [
    'a condition becomes a wider pattern',
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { refs: [main, "release/*"] } }'),
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { refs: ["**"] } }'),
    ['could loosen rules.t.match.refs - main, - release/*, + **'],
  ],
  [
    'a group is meant with everything below it',
    rule(
      '{ id: t, kind: timeout, mode: enforce, max: 1h, match: { groups: [{ id: 101, subtree: false }] } }',
    ),
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { groups: [101] } }'),
    ['could loosen rules.t.match.groups - {id: 101, subtree: false}, + 101'],
  ],
  [
    'an overwrite gets a wider expression',
    rule('{ id: o, kind: overwrites, mode: enforce, namespace: "^ci-[a-z]+$" }'),
    rule('{ id: o, kind: overwrites, mode: enforce, namespace: ".*" }'),
    ['could loosen rules.o.namespace ^ci-[a-z]+$ → .*'],
  ],
  [
    'a variable is required, another may be more',
    rule('{ id: v, kind: variables, mode: enforce, require: [A], allow: { B: ["4*"] } }'),
    rule('{ id: v, kind: variables, mode: enforce, require: [A, C], allow: { B: ["*"], D: [x] } }'),
    [
      'tightens rules.v.require + C',
      'could loosen rules.v.allow.B - 4*, + *',
      'tightens rules.v.allow.D + x',
    ],
  ],
  [
    'a condition on a variable comes, another names more',
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { variables: { A: [x] } } }'),
    rule('{ id: t, kind: timeout, mode: enforce, max: 1h, match: { variables: { A: ["*"], B: true } } }'),
    ['could loosen rules.t.match.variables.A - x, + *', 'loosens rules.t.match.variables.B absent → true'],
  ],
  [
    'a user has to be named',
    rule('{ id: u, kind: container-user, mode: enforce }'),
    rule('{ id: u, kind: container-user, mode: enforce, required: true }'),
    ['tightens rules.u.required absent → true'],
  ],
  [
    'an engine is denied',
    rule('{ id: i, kind: image, mode: enforce, tags: fixed }'),
    rule('{ id: i, kind: image, mode: enforce, tags: fixed, docker_in_docker: false }'),
    ['tightens rules.i.docker_in_docker absent → false'],
  ],
  [
    'a price rises',
    POLICY,
    POLICY.replace('0.60', '0.61'),
    ['tightens prices.large.rate_per_minute 0.60 → 0.61'],
  ],
  [
    'a step of the rollout asks for less, and for more',
    `${POLICY}rollout: { days: 10, would_fail: 5 }\n`,
    `${POLICY}rollout: { days: 3, coverage: 99, would_fail: 2 }\n`,
    [
      'neutral rollout.days 10 → 3 (a step asks for less)',
      'neutral rollout.coverage 95 → 99 (a step asks for more)',
      'neutral rollout.would_fail 5 → 2 (a step asks for more)',
    ],
  ],
  [
    'what counts anyhow is written out',
    POLICY,
    `${POLICY}rollout: { days: 7, report_days: 2, coverage: 95, would_fail: 5 }\n`,
    [],
  ],
  [
    'an estimate falls',
    POLICY,
    POLICY.replace('default: 10m', 'default: 5m'),
    ['loosens estimate.default 10m → 5m'],
  ],
  ['the platform grows', POLICY, POLICY.replace('[102]', '[102, 101]'), ['loosens platform.groups + 101']],
  [
    'variables are trusted',
    POLICY,
    `${POLICY}trust_variables: true\n`,
    ['loosens trust_variables absent → true'],
  ],
  [
    'variables are still not trusted',
    POLICY,
    `${POLICY}trust_variables: false\n`,
    ['neutral trust_variables absent → false'],
  ],
])('%s', async (_, old, recent, expected) => {
  expect(await changes(old, recent)).toEqual(expected);
});

const exempting = (exempt: string): string => POLICY.replace('message: Ask us', `exempt: [${exempt}]`);
const PAYMENTS = '{ groups: [101], reason: x, until: 2026-12-31 }';

test.each<[string, string, string, RegExp]>([
  ['comes', '', PAYMENTS, /^loosens rules\.images\.exempt \+ /],
  ['that is over already comes', '', '{ groups: [101], reason: x, until: 2026-11-20 }', /^neutral /],
  ['goes', PAYMENTS, '', /^tightens rules\.images\.exempt - /],
  ['that was over goes', '{ groups: [101], reason: x, until: 2026-11-20 }', '', /^neutral .* \(was over\)$/],
  [
    'lasts longer',
    PAYMENTS,
    '{ groups: [101], reason: x, until: never }',
    /^loosens rules\.images\.exempt\[\{groups: \[101\]\}\]\.until 2026-12-31 → never$/,
  ],
  ['ends earlier', PAYMENTS, '{ groups: [101], reason: x, until: 2026-12-01 }', /^tightens /],
  [
    'that was over gets another past end',
    '{ groups: [101], reason: x, until: 2026-11-01 }',
    '{ groups: [101], reason: x, until: 2026-11-20 }',
    /^neutral /,
  ],
  [
    'ends at the end of a day further east',
    PAYMENTS,
    '{ groups: [101], reason: x, until: 2026-12-31, zone: Asia/Tokyo }',
    /^tightens rules\.images\.exempt\[\{groups: \[101\]\}\]\.zone absent → Asia\/Tokyo$/,
  ],
  ['gets another reason', PAYMENTS, '{ groups: [101], reason: y, until: 2026-12-31 }', /^neutral /],
])('an exemption %s', async (_, old, recent, expected) => {
  expect(await changes(exempting(old), exempting(recent))).toEqual([expect.stringMatching(expected)]);
});

test('rules that moved are told as one change that decides nothing', async () => {
  const lines = POLICY.split('\n');
  const [tags = ''] = lines.splice(12, 1);
  lines.splice(10, 0, tags);
  expect(await changes(POLICY, lines.join('\n'))).toEqual(['neutral rules stand in another order']);
});

test.each<[string, string, readonly string[]]>([
  ['a limit rises', LIMITS.replace('7.50', '8'), ['loosens limits.group/101.money-month.amount 7.50 → 8.00']],
  [
    'a limit falls to zero',
    LIMITS.replace('7.50', '0'),
    ['tightens limits.group/101.money-month.amount 7.50 → 0.00'],
  ],
  [
    'a limit is lifted',
    LIMITS.replace('7.50', 'unlimited'),
    ['loosens limits.group/101.money-month.amount 7.50 → unlimited'],
  ],
  [
    'a limit only watches now',
    LIMITS.replace('owner: leads', 'owner: leads, mode: shadow'),
    ['loosens limits.group/101.money-month.mode enforce → shadow'],
  ],
  [
    'a grace comes',
    LIMITS.replace('owner: leads', 'owner: leads, grace: 10%'),
    ['loosens limits.group/101.money-month.grace absent → 10%'],
  ],
  [
    'a limit comes',
    `${LIMITS}  - { on: { group: 100 }, jobs: 5 }\n`,
    ['tightens limits.group/100.jobs-now added (5 jobs)'],
  ],
  [
    'an owner changes',
    LIMITS.replace('leads', 'others'),
    ['neutral limits.group/101.money-month.owner leads → others'],
  ],
  [
    'a grant is given',
    `${LIMITS}grants:\n  - { on: { group: 101 }, limit: money-month, amount: 2, from: 2026-11-20, until: 2026-11-30, reason: release, ticket: FIN-1 }\n`,
    [
      'loosens limits.group/101.money-month.grants + 2.00 from 20 Nov 2026 to the end of 30 Nov 2026 UTC: release, FIN-1',
    ],
  ],
  [
    'a grant that is over is given',
    `${LIMITS}grants:\n  - { on: { group: 101 }, limit: money-month, amount: 2, from: 2026-10-01, until: 2026-10-31, reason: release }\n`,
    [expect.stringMatching(/^neutral .*grants \+ 2\.00 .* \(is over\)$/)],
  ],
  [
    'carry-over, overdraft and thresholds come',
    LIMITS.replace('owner: leads', 'owner: leads, carry: { max: 20% }, overdraft: carry, thresholds: [80]'),
    [
      'neutral limits.group/101.money-month.thresholds + 80',
      'loosens limits.group/101.money-month.carry.max absent → 20%',
      'tightens limits.group/101.money-month.overdraft absent → carry',
    ],
  ],
  [
    'thresholds for all change',
    `thresholds: [90]\n${LIMITS}`,
    ['neutral limits.group/101.money-month.thresholds + 90'],
  ],
  [
    'a rollout begins',
    `${LIMITS}rollout: [{ group: 101, cost: warn }]\n`,
    ['loosens rollout.101.cost absent → warn'],
  ],
  [
    'everything a limit says comes with it',
    `${LIMITS}  - { on: { project: 1001 }, money: 3, per: day, zone: Europe/Berlin, mode: warn, contact: "#api", until: 2026-12-31 }\n`,
    [
      'neutral limits.project/1001.money-day added (3.00, mode warn, per day, zone Europe/Berlin, contact #api, until 2026-12-31T23:00:00Z)',
    ],
  ],
  [
    'contact, cost center and reason change',
    LIMITS.replace('owner: leads', 'owner: leads, contact: "#leads", cost_center: "4711", reason: agreed'),
    [
      'neutral limits.group/101.money-month.contact absent → #leads',
      'neutral limits.group/101.money-month.cost_center absent → 4711',
      'neutral limits.group/101.money-month.reason absent → agreed',
    ],
  ],
  [
    'a limit ends',
    LIMITS.replace('owner: leads', 'owner: leads, until: 2026-12-31'),
    ['loosens limits.group/101.money-month.until absent → 2027-01-01T00:00:00Z'],
  ],
  [
    'a freeze comes',
    `${LIMITS}freezes:\n  - { on: { group: 101 }, id: close, until: 2026-12-31, reason: year-end close, owner: finance }\n`,
    [
      'tightens freezes.group/101.close added (until 2027-01-01T00:00:00Z, reason year-end close, owner finance)',
    ],
  ],
  [
    'the glass is broken',
    `${LIMITS}breakglass:\n  - { on: { group: 101 }, id: outage, users: [5, 6], jobs: 20, per: day, from: 2026-11-21, until: 2026-11-22, reason: outage }\n`,
    [
      expect.stringMatching(
        /^loosens breakglass\.group\/101\.outage added \(jobs 20, per day, users 5, 6, .*reason outage\)$/,
      ),
    ],
  ],
  [
    'a pattern gets a default',
    `${LIMITS}group_defaults:\n  - { groups: "acme/*", jobs: 4 }\npersonal_default:\n  - { money: 5, per: month }\n`,
    [
      'tightens personal_default.money-month added (5.00, per month)',
      'tightens group_defaults[acme/*].jobs-now added (4 jobs)',
    ],
  ],
])('of limits documents: %s', async (_, recent, expected) => {
  expect(await changes(LIMITS, recent)).toEqual(expected);
});

test('the same grants and thresholds are no difference, and a changed grant is one that goes and one that comes', async () => {
  const granted = (amount: number) =>
    `${LIMITS.replace('leads', 'leads, thresholds: [50, 80]')}grants:\n  - { on: { group: 101 }, limit: money-month, amount: ${amount}, from: 2026-11-20, until: 2026-11-30, reason: x }\n`;
  expect(await changes(granted(2), granted(2))).toEqual([]);
  expect(await changes(granted(2), granted(3))).toEqual([
    expect.stringMatching(/^tightens .*grants - 2\.00/),
    expect.stringMatching(/^loosens .*grants \+ 3\.00/),
  ]);
});

const GRANTED = (grants: string): string => `${LIMITS}grants:\n${grants}`;
const GRANT = (more: string): string =>
  `  - { on: { group: 101 }, limit: money-month, from: 2026-11-20, until: 2026-11-30, ${more} }\n`;

test('two grants without ids that come to one limit are told one by one', async () => {
  const two = GRANT('amount: 2, reason: x') + GRANT('amount: 3, reason: y, ticket: T-1');
  expect(await changes(LIMITS, GRANTED(two))).toEqual([
    expect.stringMatching(/^loosens .*grants \+ 2\.00 from .*: x$/),
    expect.stringMatching(/^loosens .*grants \+ 3\.00 from .*: y, T-1$/),
  ]);
});

test('of what is changed in place only the fields that differ are told', async () => {
  const frozen = (until: string): string =>
    `${LIMITS}freezes:\n  - { on: instance, id: close, until: ${until}, reason: close }\n`;
  expect(await changes(frozen('2026-12-31'), frozen('2026-12-30'))).toEqual([
    'loosens freezes.instance.close.until 2027-01-01T00:00:00Z → 2026-12-31T00:00:00Z',
  ]);
  const granted = (amount: number): string => GRANTED(GRANT(`amount: ${amount}, id: g-1, reason: x`));
  expect(await changes(granted(2), granted(3))).toEqual([
    'loosens limits.group/101.money-month.grants[g-1].amount 2.00 → 3.00',
  ]);
});

test('a group that loses a limit and gets the default of its path back is told which way that goes', async () => {
  const withDefault = (own: string): string =>
    `limits: [${own}]\ngroup_defaults:\n  - { groups: "acme/*", money: 1, per: month }\n`;
  const own = '{ on: { group: 101 }, money: 7.50, per: month }';
  expect(await changes(withDefault(own), withDefault(''))).toEqual([
    'tightens limits.group/101.money-month removed (7.50, per month)',
  ]);
});

test('a difference ends with 0, and with 2 where that was asked for', async () => {
  const files = { 'old.yaml': POLICY, 'new.yaml': POLICY.replace('shadow', 'warn') };
  expect(await desk(['policy', 'diff', 'old.yaml', 'new.yaml'], files)).toMatchObject({
    code: 0,
    out: expect.stringContaining('1 change: 1 tightens'),
  });
  expect(await desk(['policy', 'diff', 'old.yaml', 'new.yaml', '--exit-code'], files)).toMatchObject({
    code: 2,
  });
  expect(await desk(['policy', 'diff', 'old.yaml', 'old.yaml', '--exit-code'], files)).toMatchObject({
    code: 0,
    out: 'no difference\n',
  });
});

test('policy and limits are compared with those of a commit', async () => {
  const root = project();
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first');
  writeFileSync(`${root}policies/policy.yaml`, POLICY.replace('mode: shadow', 'mode: enforce'));
  writeFileSync(`${root}policies/limits.yaml`, LIMITS.replace('7.50', '9'));
  const { code, out } = await runDesk(['policy', 'diff', '--base', 'HEAD', '--json'], root);
  expect(code).toBe(0);
  expect(JSON.parse(out).changes.map(({ at }: Told) => at)).toEqual([
    'rules.tags.mode',
    'limits.group/101.money-month.amount',
  ]);
  expect(await runDesk(['policy', 'diff', '--base', 'nowhere'], root)).toMatchObject({
    code: 3,
    err: expect.stringContaining('--base "nowhere": git cannot show policies/policy.yaml there'),
  });
});

test.each([
  [['old.yaml'], 'expected two files'],
  [['old.yaml', 'limits.yaml'], 'one is a policy, the other has limits'],
  [['--base', '--output=x'], '--base: expected a value'],
  [['--base=--output=x'], 'expected a commit, branch or tag'],
  [['--base=HEAD', 'old.yaml'], 'expected no files beside --base'],
  [['old.yaml', 'invalid.yaml'], 'invalid.yaml:1:1'],
])('%j is refused', async (args, said) => {
  const { code, err } = await desk(['policy', 'diff', ...args], {
    'old.yaml': POLICY,
    'limits.yaml': LIMITS,
    'invalid.yaml': DIRECTORY,
  });
  expect(code).toBe(3);
  expect(err).toContain(said);
});
