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

async function diff(old: string, recent: string) {
  const files = { 'old.yaml': old, 'new.yaml': recent };
  const { code, out } = await desk(['policy', 'diff', 'old.yaml', 'new.yaml', '--json'], files);
  const { changes, jumps } = JSON.parse(out);
  return { code, jumps, changes: changes.map(({ at, what, effect }: Told) => `${effect} ${at} ${what}`) };
}

const changes = async (old: string, recent: string): Promise<readonly string[]> =>
  (await diff(old, recent)).changes;

const rule = (text: string): string => `${POLICY}  - { id: r, mode: enforce, ${text} }\n`;
/** A rule about some jobs. */
const about = (match: string): string => rule(`kind: timeout, max: 1h, match: { ${match} }`);

test('the same policy, written otherwise, is no difference', async () => {
  const other = POLICY.replace(
    '{ id: budgets, kind: budget, mode: enforce }',
    '{ mode: enforce, id: budgets, kind: budget } # once',
  );
  expect(await changes(POLICY, other)).toEqual([]);
});

/** Each changes one thing of the policy. */
test.each<[string, string, string, ...string[]]>([
  ['a mode goes up', 'mode: shadow', 'mode: enforce', 'tightens rules.tags.mode shadow → enforce'],
  [
    'a mode goes down',
    'image, mode: enforce',
    'image, mode: warn',
    'loosens rules.images.mode enforce → warn',
  ],
  ['a list grows', '"golang:*"', '"golang:*", "debian:*"', 'loosens rules.images.allow + debian:*'],
  ['a list shrinks', ', "golang:*"', '', 'tightens rules.images.allow - golang:*'],
  [
    'a list gets a pattern that may be wider',
    '"alpine:*", "golang:*"',
    '"**"',
    'could loosen rules.images.allow - alpine:*, - golang:*, + **',
  ],
  [
    'a list goes, another comes',
    'allow: ["alpine:*", "golang:*"]',
    'deny: [x]',
    'loosens rules.images.allow - alpine:*, - golang:*',
    'tightens rules.images.deny + x',
  ],
  [
    'absent fields',
    'on_missing: reject',
    'on_missing: admit',
    'loosens rules.images.on_missing reject → admit',
  ],
  ['a message', 'Ask us', 'Ask them', 'neutral rules.images.message Ask us → Ask them'],
  ['a rule that does not reject', 'tags: fixed', 'tags: digest', 'neutral rules.tags.tags fixed → digest'],
  [
    'a condition comes',
    'kind: budget,',
    'kind: budget, match: { groups: [101] },',
    'loosens rules.budgets.match absent → {groups: [101]}',
  ],
  ['an estimate', 'default: 10m', 'default: 5m', 'loosens estimate.default 10m → 5m'],
  ['the platform', '[102]', '[102, 101]', 'loosens platform.groups + 101'],
  ['a price', '0.60', '0.61', 'tightens prices.large.rate_per_minute 0.60 → 0.61'],
  [
    'variables that are trusted',
    'rules:',
    'trust_variables: true\nrules:',
    'loosens trust_variables absent → true',
  ],
  [
    'the same without a word',
    'rules:',
    'trust_variables: false\nrules:',
    'neutral trust_variables absent → false',
  ],
  [
    'steps of the rollout, which people move',
    'rules:',
    'rollout: { days: 3 }\nrules:',
    'neutral rollout absent → {days: 3}',
  ],
])('%s', async (_, was, is, ...expected) => {
  expect(await changes(POLICY, POLICY.replace(was, is))).toEqual(expected);
});

test.each<[string, string, string, ...string[]]>([
  ['comes', POLICY, rule('kind: timeout, max: 1h'), 'tightens rules.r added (timeout, enforce)'],
  [
    'comes to watch',
    POLICY,
    rule('kind: timeout, max: 1h').replace(/enforce(?=, kind: timeout)/, 'shadow'),
    'neutral rules.r added (timeout, shadow)',
  ],
  ['goes', rule('kind: timeout, max: 1h'), POLICY, 'loosens rules.r removed (timeout, enforce)'],
  [
    'a duration rises',
    rule('kind: timeout, max: 90m'),
    rule('kind: timeout, max: 2h'),
    'loosens rules.r.max 90m → 2h',
  ],
  [
    'a quantity falls',
    rule('kind: resources, build: { memory: 1Gi }'),
    rule('kind: resources, build: { memory: 1000Mi }'),
    'tightens rules.r.build.memory 1Gi → 1000Mi',
  ],
  [
    'a cap comes',
    rule('kind: resources, build: { cpu: 1 }'),
    rule('kind: resources, build: { cpu: 1 }, job: { cpu: 2 }'),
    'tightens rules.r.job absent → {cpu: 2}',
  ],
  [
    'a condition names more',
    about('groups: [101]'),
    about('groups: [101, 102]'),
    'tightens rules.r.match.groups + 102',
  ],
  [
    'one of two conditions goes',
    about('groups: [101], jobs: [a]'),
    about('groups: [101]'),
    'tightens rules.r.match.jobs - a',
  ],
  [
    'not names more',
    about('not: { groups: [101] }'),
    about('not: { groups: [101, 102] }'),
    'loosens rules.r.match.not.groups + 102',
  ],
  [
    'a condition is turned around',
    about('protected: true'),
    about('protected: false'),
    'could loosen rules.r.match.protected true → false',
  ],
  [
    'a condition on a variable comes, another names more',
    about('variables: { A: [x] }'),
    about('variables: { A: ["*"], B: true }'),
    'could loosen rules.r.match.variables.A - x, + *',
    'loosens rules.r.match.variables.B absent → true',
  ],
  [
    'an overwrite is forbidden',
    rule('kind: overwrites, namespace: "^ci-"'),
    rule('kind: overwrites, namespace: false'),
    'tightens rules.r.namespace ^ci- → false',
  ],
  [
    'an overwrite gets another expression',
    rule('kind: overwrites, namespace: "^ci-[a-z]+$"'),
    rule('kind: overwrites, namespace: ".*"'),
    'could loosen rules.r.namespace ^ci-[a-z]+$ → .*',
  ],
  [
    'variables: one is required, others may be more or less',
    rule('kind: variables, require: [A], allow: { B: ["4*"] }'),
    rule('kind: variables, require: [A, C], allow: { B: ["*"], D: [x] }'),
    'tightens rules.r.require + C',
    'could loosen rules.r.allow.B - 4*, + *',
    'tightens rules.r.allow.D + x',
  ],
  [
    'a user has to be named',
    rule('kind: container-user'),
    rule('kind: container-user, required: true'),
    'tightens rules.r.required absent → true',
  ],
  [
    'an engine is denied',
    rule('kind: image, tags: fixed'),
    rule('kind: image, tags: fixed, docker_in_docker: false'),
    'tightens rules.r.docker_in_docker absent → false',
  ],
])('a rule: %s', async (_, old, recent, ...expected) => {
  expect(await changes(old, recent)).toEqual(expected);
});

const exempting = (exempt: string): string => POLICY.replace('message: Ask us', `exempt: [${exempt}]`);
const until = (end: string): string => `{ groups: [101], reason: x, until: ${end} }`;
const PAYMENTS = until('2026-12-31');

test.each<[string, string, string, RegExp]>([
  ['comes', '', PAYMENTS, /^loosens rules\.images\.exempt \+ /],
  ['that is over already comes', '', until('2026-11-20'), /^neutral /],
  ['goes', PAYMENTS, '', /^tightens rules\.images\.exempt - /],
  ['that was over goes', until('2026-11-20'), '', /^neutral /],
  [
    'lasts longer',
    PAYMENTS,
    until('never'),
    /^loosens rules\.images\.exempt\[\{groups: \[101\]\}\]\.until 2026-12-31 → never$/,
  ],
  ['ends earlier', PAYMENTS, until('2026-12-01'), /^tightens /],
  ['that was over gets another past end', until('2026-11-01'), until('2026-11-20'), /^neutral /],
  ['ends in another zone', PAYMENTS, until('2026-12-31, zone: Asia/Tokyo'), /^tightens .*zone absent → Asia/],
  ['gets another reason', PAYMENTS, PAYMENTS.replace('x', 'y'), /^neutral /],
])('an exemption %s', async (_, old, recent, expected) => {
  expect(await changes(exempting(old), exempting(recent))).toEqual([expect.stringMatching(expected)]);
});

const GRANT = (amount: number, more = '') =>
  `  - { on: { group: 101 }, limit: money-month, amount: ${amount}, from: 2026-11-20, until: 2026-11-30, reason: x${more} }\n`;
const granted = (...grants: readonly string[]): string => `${LIMITS}grants:\n${grants.join('')}`;
const A_GRANT = '2026-11-20T00:00:00Z, until 2026-12-01T00:00:00Z, reason x';
const MONTH = 'limits.group/101.money-month';

test.each<[string, string, string, readonly string[]]>([
  ['a limit rises', LIMITS, LIMITS.replace('7.50', '8'), [`loosens ${MONTH}.amount 7.50 → 8.00`]],
  [
    'a limit only watches now, for other people',
    LIMITS,
    LIMITS.replace('leads', 'others, mode: shadow'),
    [`loosens ${MONTH}.mode enforce → shadow`, `neutral ${MONTH}.owner leads → others`],
  ],
  [
    'a limit comes',
    LIMITS,
    `${LIMITS}  - { on: { group: 100 }, jobs: 5 }\n`,
    ['tightens limits.group/100.jobs-now added (amount 5 jobs, mode enforce)'],
  ],
  [
    'a default of a path comes in its place',
    `${LIMITS}group_defaults:\n  - { groups: "acme/*", money: 1, per: month }\n`,
    'limits: []\ngroup_defaults:\n  - { groups: "acme/*", money: 1, per: month }\n',
    [`tightens ${MONTH} removed (amount 7.50, mode enforce, per month, owner leads)`],
  ],
  [
    'two grants come',
    LIMITS,
    granted(GRANT(2), GRANT(3, ', ticket: T-1')),
    [
      `loosens grants.group/101.money-month added (amount 2.00, from ${A_GRANT})`,
      `loosens grants.group/101.money-month added (amount 3.00, from ${A_GRANT}, ticket T-1)`,
    ],
  ],
  [
    'a grant with an id changes',
    granted(GRANT(2, ', id: g-1')),
    granted(GRANT(3, ', id: g-1')),
    ['loosens grants.group/101.money-month.g-1.amount 2.00 → 3.00'],
  ],
  [
    'a rollout begins',
    LIMITS,
    `${LIMITS}rollout: [{ group: 101, cost: warn }]\n`,
    ['loosens rollout.group/101.cost.mode absent → warn'],
  ],
  [
    'a freeze comes',
    LIMITS,
    `${LIMITS}freezes:\n  - { on: { group: 101 }, id: close, until: 2026-12-31, reason: year-end close, owner: finance }\n`,
    [
      'tightens freezes.group/101.close added (until 2027-01-01T00:00:00Z, reason year-end close, owner finance)',
    ],
  ],
])('of limits documents: %s', async (_, old, recent, expected) => {
  expect((await changes(old, recent)).toSorted()).toEqual(expected);
});

const version = (name: string, large: string, from?: string, more = '') =>
  `    - version: "${name}"
${from === undefined ? '' : `      from: ${from}\n`}${more}      classes: [{ name: large, tags: [large], rate_per_minute: ${large} }, { name: small, rate_per_minute: 0.10 }]
      default_class: small
`;
const dated = (...versions: readonly string[]): string =>
  `currency: EUR\nprices:\n${versions.join('')}${POLICY.slice(POLICY.indexOf('estimate:'))}`;
const FIRST = version('1', '0.60');
const NEXT = version('2', '0.66', '2026-12-01');
const ALLOWED = '      allow_jump: true\n';

/** Now is 21 November 2026. */
test.each<[string, string, string, readonly string[]]>([
  [
    'a version that begins next month is compared with the one it follows',
    POLICY,
    dated(FIRST, NEXT),
    ['neutral prices[2] added (from 2026-12-01)', 'tightens prices[2].large.rate_per_minute 0.60 → 0.66'],
  ],
  [
    'a rate of a later version, and its first day',
    dated(FIRST, NEXT),
    dated(FIRST, version('2', '0.70', '2027-01-01')),
    [
      'could loosen prices[2].from 2026-12-01 → 2027-01-01',
      'tightens prices[2].large.rate_per_minute 0.66 → 0.70',
    ],
  ],
  [
    'a version that is over may go',
    dated(version('0', '0.50', '2026-01-01'), version('1', '0.60', '2026-11-01')),
    dated(version('1', '0.60', '2026-11-01')),
    ['neutral prices[0] removed'],
  ],
  [
    'a version in force goes',
    dated(FIRST, version('2', '0.66', '2026-11-01')),
    dated(FIRST),
    ['could loosen prices[2] removed'],
  ],
  [
    'a begun minute counts whole, and memory costs something',
    dated(FIRST),
    dated(FIRST.replace('large], ', 'large], round: minute, memory: 2Gi, rate_per_gib_hour: 0.01, ')),
    [
      'could loosen prices.large.memory absent → 2Gi',
      'tightens prices.large.rate_per_gib_hour absent → 0.01',
      'tightens prices.large.round absent → minute',
    ],
  ],
])('of prices: %s', async (_, old, recent, expected) => {
  expect((await changes(old, recent)).toSorted()).toEqual(expected);
});

test.each<[string, string, string, readonly string[]]>([
  ['five times is none', POLICY, POLICY.replace('0.60', '3.00'), []],
  ['a micro-unit more is one', POLICY, POLICY.replace('0.60', '3.000001'), ['1']],
  ['a sixth is one, and so is nothing', POLICY, POLICY.replace('0.60', '0'), ['1']],
  ['a confirmed one is none', dated(FIRST), dated(FIRST, version('2', '60', '2026-12-01', ALLOWED)), []],
  [
    'it is looked for whenever new prices begin, not only when old ones did',
    dated(FIRST, version('2', '3', '2026-12-01')),
    dated(FIRST, version('3', '0.50', '2027-01-01')),
    ['3'],
  ],
  [
    'a version in force that goes brings the old price back',
    dated(FIRST, version('2', '6', '2026-11-01', ALLOWED)),
    dated(FIRST),
    ['1'],
  ],
])('a jump of prices: %s', async (_, old, recent, versions) => {
  const { code, jumps } = await diff(old, recent);
  expect(jumps.map((jump: { version: string }) => jump.version)).toEqual(versions);
  expect(code).toBe(versions.length === 0 ? 0 : 2);
});

test('a price that jumps ends with 2 and says which class, from and to, unless it is forced', async () => {
  const files = { 'old.yaml': POLICY, 'new.yaml': POLICY.replace('0.60', '600') };
  expect(await desk(['policy', 'diff', 'old.yaml', 'new.yaml'], files)).toMatchObject({
    code: 2,
    err: 'rate_per_minute of class large goes from 0.60 to 600.00 (prices 1): correct it, write allow_jump: true there, or say --force\n',
  });
  expect(await desk(['policy', 'diff', 'old.yaml', 'new.yaml', '--force'], files)).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringContaining('0.60 → 600'),
  });
});

test('a difference ends with 0, and with 2 where that was asked for', async () => {
  const files = { 'old.yaml': POLICY, 'new.yaml': POLICY.replace('shadow', 'warn') };
  expect(await desk(['policy', 'diff', 'old.yaml', 'new.yaml'], files)).toMatchObject({
    code: 0,
    out: expect.stringContaining('1 change: 1 tightens'),
  });
  expect((await desk(['policy', 'diff', 'old.yaml', 'new.yaml', '--exit-code'], files)).code).toBe(2);
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
  expect(JSON.parse(out).changes.map(({ at }: Told) => at)).toEqual(['rules.tags.mode', `${MONTH}.amount`]);
  expect(await runDesk(['policy', 'diff', '--base', 'nowhere'], root)).toMatchObject({
    code: 3,
    err: expect.stringContaining('--base "nowhere": git cannot show policies/policy.yaml there'),
  });
});

test.each([
  [['old.yaml'], 'expected two files'],
  [['old.yaml', 'limits.yaml'], 'one is a policy, the other has limits'],
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
