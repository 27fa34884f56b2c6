import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runDesk } from '../desk-run.ts';
import { DIRECTORY, LIMITS, limitEdits, POLICY, project } from './documents.ts';

interface Change {
  readonly at: string;
  readonly what: string;
  readonly effect: string;
}

async function diff(old: string, recent: string) {
  const files = { 'old.yaml': old, 'new.yaml': recent };
  const { code, out } = await limitEdits(['policy', 'diff', 'old.yaml', 'new.yaml', '--json'], files);
  const { changes, jumps } = JSON.parse(out);
  return { code, jumps, changes: changes.map(({ at, what, effect }: Change) => `${effect} ${at} ${what}`) };
}

const changes = async (old: string, recent: string): Promise<readonly string[]> =>
  (await diff(old, recent)).changes;

const rule = (text: string): string => `${POLICY}  - { id: r, mode: enforce, ${text} }\n`;
/** A rule about some jobs. */
const about = (match: string): string => rule(`kind: timeout, max: 1h, match: { ${match} }`);

const EXEMPT = '{groups: [101], reason: x, until: never}';

test('the same policy, written otherwise, is no difference', async () => {
  const other = POLICY.replace(
    '{ id: budgets, kind: budget, mode: enforce }',
    '{ mode: enforce, id: budgets, kind: budget } # once',
  );
  expect(await changes(POLICY, other)).toEqual([]);
});

/** Each changes one thing of the policy. */
test.each<[string, string, ...string[]]>([
  ['mode: shadow', 'mode: enforce', 'tightens rules.tags.mode shadow → enforce'],
  ['"golang:*"', '"golang:*", "debian:*"', 'loosens rules.images.allow + debian:*'],
  [', "golang:*"', '', 'tightens rules.images.allow - golang:*'],
  ['Ask us', 'Ask them', 'changes rules.images.message Ask us → Ask them'],
  ['tags: fixed', 'tags: digest', 'tightens rules.tags.tags fixed → digest'],
  [
    'kind: budget,',
    'kind: budget, match: { groups: [101] },',
    'loosens rules.budgets.match absent → {groups: [101]}',
  ],
  ['[102]', '[102, 101]', 'loosens platform.groups + 101'],
  ['0.60', '0.61', 'tightens prices.classes.large.rate_per_minute 0.60 → 0.61'],
  ['rules:', 'trust_variables: true\nrules:', 'loosens trust_variables absent → true'],
  [
    'message: Ask us',
    `exempt: [${EXEMPT}]`,
    'changes rules.images.message Ask us → absent',
    `loosens rules.images.exempt + ${EXEMPT}`,
  ],
])('%s → %s', async (was, is, ...expected) => {
  expect(await changes(POLICY, POLICY.replace(was, is))).toEqual(expected);
});

test.each<[string, string, ...string[]]>([
  [
    POLICY,
    rule('kind: timeout, max: 1h'),
    'tightens rules.r absent → {id: r, mode: enforce, kind: timeout, max: 1h}',
  ],
  [rule('kind: timeout, max: 90m'), rule('kind: timeout, max: 2h'), 'loosens rules.r.max 90m → 2h'],
  [
    rule('kind: resources, build: { memory: 1Gi }'),
    rule('kind: resources, build: { memory: 1000Mi }'),
    'tightens rules.r.build.memory 1Gi → 1000Mi',
  ],
  [
    rule('kind: runner-access, runner_classes: [large], allow: []'),
    rule('kind: runner-access, runner_classes: [large], allow: [{ groups: [101] }]'),
    'loosens rules.r.allow + {groups: [101]}',
  ],
  [about('groups: [101]'), about('groups: [101, 102]'), 'tightens rules.r.match.groups + 102'],
  [about('groups: [101], jobs: [a]'), about('groups: [101]'), 'tightens rules.r.match.jobs - a'],
  [
    about('not: { groups: [101] }'),
    about('not: { groups: [101, 102] }'),
    'loosens rules.r.match.not.groups + 102',
  ],
  [
    rule('kind: container-user'),
    rule('kind: container-user, required: true'),
    'tightens rules.r.required absent → true',
  ],
])('a rule: %#', async (old, recent, ...expected) => {
  expect(await changes(old, recent)).toEqual(expected);
});

test('limits documents are compared by entry', async () => {
  const recent = `${LIMITS.replace('7.50', '8')}  - { on: { group: 100 }, jobs: 5 }\n`;
  const files = { 'old.yaml': LIMITS, 'new.yaml': recent };
  const { limits } = JSON.parse(
    (await limitEdits(['policy', 'diff', 'old.yaml', 'new.yaml', '--json'], files)).out,
  );
  expect(limits).toMatchObject([
    { subject: 'group/101', field: 'amount', from: 7_500_000, to: 8_000_000, effect: 'loosens' },
    { subject: 'group/100', whole: 'added', field: 'amount', effect: 'tightens' },
    { subject: 'group/100', whole: 'added', field: 'mode' },
  ]);
  const { out } = await limitEdits(['policy', 'diff', 'old.yaml', 'new.yaml'], files);
  expect(out).toContain('7.50 EUR → 8.00 EUR');
});

test('a price that jumps ends with 2 and says which class, from and to, unless it is forced', async () => {
  const files = { 'old.yaml': POLICY, 'new.yaml': POLICY.replace('0.60', '600') };
  expect(await limitEdits(['policy', 'diff', 'old.yaml', 'new.yaml'], files)).toMatchObject({
    code: 2,
    err: 'rate_per_minute of class large goes from 0.60 to 600.00: correct it, or say --force\n',
  });
  expect(await limitEdits(['policy', 'diff', 'old.yaml', 'new.yaml', '--force'], files)).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringContaining('0.60 → 600'),
  });
});

test('a price version that allows its jump is not refused', async () => {
  const version = (name: string, rate: string, more: string): string =>
    `  - { version: "${name}", ${more}classes: [{ name: small, rate_per_minute: ${rate} }], default_class: small }\n`;
  const priced = (versions: string): string =>
    POLICY.replace(/prices:.*?default_class: small\n/s, `prices:\n${versions}`);
  const old = priced(version('1', '0.10', ''));
  const recent = priced(
    version('1', '0.10', '') + version('2', '60', 'from: 2020-01-01, allow_jump: true, '),
  );
  expect(await diff(old, recent)).toMatchObject({ code: 0, jumps: [] });
});

test('a difference ends with 0, and with 2 where that was asked for', async () => {
  const files = { 'old.yaml': POLICY, 'new.yaml': POLICY.replace('shadow', 'warn') };
  expect(await limitEdits(['policy', 'diff', 'old.yaml', 'new.yaml'], files)).toMatchObject({
    code: 0,
    out: expect.stringContaining('rules.tags.mode'),
  });
  expect((await limitEdits(['policy', 'diff', 'old.yaml', 'new.yaml', '--exit-code'], files)).code).toBe(2);
  expect(await limitEdits(['policy', 'diff', 'old.yaml', 'old.yaml', '--exit-code'], files)).toMatchObject({
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
  expect(JSON.parse(out)).toMatchObject({
    changes: [{ at: 'rules.tags.mode' }],
    limits: [{ subject: 'group/101', field: 'amount' }],
  });
  expect(await runDesk(['policy', 'diff', '--base', 'nowhere'], root)).toMatchObject({
    code: 3,
    err: expect.stringContaining('--base "nowhere": git cannot show policies/policy.yaml there'),
  });
});

test.each([
  [['old.yaml'], 'expected two files'],
  [['--base=--output=x'], 'expected a commit, branch or tag'],
  [['--base=HEAD', 'old.yaml'], 'expected no files with --base'],
  [['old.yaml', 'invalid.yaml'], 'invalid.yaml:1:1'],
])('%j is refused', async (args, said) => {
  const { code, err } = await limitEdits(['policy', 'diff', ...args], {
    'old.yaml': POLICY,
    'limits.yaml': LIMITS,
    'invalid.yaml': DIRECTORY,
  });
  expect(code).toBe(3);
  expect(err).toContain(said);
});
