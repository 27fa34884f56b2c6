import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runDesk } from '../desk-run.ts';
import { desk, project } from './documents.ts';

const HEAD = `defaults:
  now: 2026-11-21T12:00Z
  request: { project: acme/payments/api, image: "alpine:3" }
`;

const fixtures = (...tests: readonly string[]): string =>
  `${HEAD}tests:\n${tests.map((each, index) => `  - { name: t${index}, ${each} }\n`).join('')}`;

const run = (text: string, ...flags: string[]) =>
  desk(['policy', 'test', ...flags], { 'policies/policy.test.yaml': text });

interface TestJson {
  readonly passed: boolean;
  readonly decision: string;
  readonly differences: readonly {
    readonly what: string;
    readonly expected: string;
    readonly actual: string;
  }[];
}

async function only(fixture: string): Promise<TestJson> {
  const { out } = await run(fixtures(fixture), '--json');
  return JSON.parse(out).tests[0];
}

const EVERYTHING = 'expect: { decision: admitted, shadow: [], runner_class: small, cost: 1 }';
const BUDGET = (spent: string) =>
  `counters: [{ group: 101, limit: money-month, spent: ${spent}, held: 0.10 }]`;
const GLASS =
  'breakglass: [{ on: { group: 101 }, id: outage, users: [5], jobs: 2, per: day, from: 2026-11-21, until: 2026-11-22, reason: x }]';
const USED = (jobs: number) =>
  `${GLASS}, request: { user: 5 }, counters: [{ group: 101, limit: money-month, spent: 7.50 }, { breakglass: outage, used: ${jobs} }]`;
/** The first of several patterns that match counts. */
const BY_PATH = (spent: number) =>
  `group_defaults: [{ groups: "acme/p*", minutes: 30, per: day }, { groups: "acme/*", minutes: 0, per: day }], counters: [{ group: 101, limit: minutes-day, spent: ${spent} }]`;
const EVIL = 'request: { image: "evil:1" }';

test.each([
  ['a job that breaks no rule', EVERYTHING],
  ['the last cent of a budget', `${BUDGET('6.40')}, expect: admitted`],
  [
    'a micro-unit more',
    `${BUDGET('6.400001')}, expect: { code: BUDGET_EXHAUSTED, rule: budgets, text: acme/payments }`,
  ],
  [
    'a group by its path',
    `counters: [{ group: acme/payments, limit: money-month, spent: 7 }], expect: rejected`,
  ],
  [
    'a counter of another period',
    `counters: [{ group: 101, limit: money-month, period: 2026-10, spent: 7.50 }], expect: admitted`,
  ],
  [
    'limits of its own',
    'limits: [{ on: { group: 101 }, money: 0.99, per: month }], expect: { code: EXCEEDS_LIMIT_ALONE }',
  ],
  [
    'a limit beside those there are',
    'limits: [{ on: { group: 100 }, money: 0.5, per: day }], expect: { code: EXCEEDS_LIMIT_ALONE, rule: budgets }',
  ],
  [
    'a rollout of its own',
    `rollout: [{ group: 101, cost: warn }], ${BUDGET('7.40')}, expect: { decision: admitted, shadow: BUDGET_EXHAUSTED }`,
  ],
  [
    'a freeze of its own',
    'freezes: [{ on: { group: 101 }, id: f, reason: closed }], expect: { code: GROUP_FROZEN, rule: freezes, text: closed }',
  ],
  [
    'a grant of its own',
    `grants: [{ on: { group: 101 }, limit: money-month, amount: 2, from: 2026-11-01, until: 2026-11-30, reason: x }], ${BUDGET('7.40')}, expect: admitted`,
  ],
  ['a break-glass with something left', `${USED(1)}, expect: { decision: admitted, shadow: break-glass }`],
  ['a break-glass that is used up', `${USED(2)}, expect: { code: BUDGET_EXHAUSTED }`],
  ['the last minute of a limit that a group has by its path', `${BY_PATH(20)}, expect: admitted`],
  ['a minute more', `${BY_PATH(21)}, expect: { code: BUDGET_EXHAUSTED, rule: budgets }`],
  ['prices of its own', 'prices: { small: 0.75 }, expect: { decision: admitted, cost: 7.50 }'],
  ['a shadow rule', 'request: { image: "alpine:latest" }, expect: { decision: admitted, shadow: [tags] }'],
  [
    'names in short and in full',
    'request: { tags: [large], runnerTags: [large], timeout: 1m }, expect: { runner_class: large, cost: 0.60 }',
  ],
  [
    'null: GitLab sends no such field',
    'request: { image: null }, expect: { code: FIELD_MISSING, rule: images }',
  ],
  [
    "null takes back a default's project",
    'request: { project: null, project_id: 77 }, expect: { decision: admitted }',
  ],
  ['the footer of a rule', `${EVIL}, expect: { text: [Ask us, "evil:1"] }`],
  [
    'the fallback',
    `path: fallback, ${EVIL}, expect: { code: IMAGE_NOT_ALLOWED, rule: images, text: Ask us }`,
  ],
  ['the fallback asks no counters', `path: fallback, ${BUDGET('7.40')}, expect: admitted`],
  [
    'the fallback’s shadow findings',
    'path: fallback, request: { image: "alpine:latest" }, expect: { decision: admitted, shadow: [TAG_NOT_ALLOWED] }',
  ],
  [
    'a place the directory does not know',
    'request: { project_id: 9, namespace_id: 99, root_namespace_id: 100 }, expect: admitted',
  ],
])('decided as in production: %s', async (_, fixture) => {
  expect(await only(fixture)).toMatchObject({ passed: true, differences: [] });
});

test.each([
  [
    'the decision',
    `${EVIL}, expect: admitted`,
    { what: 'decision', expected: 'admitted', actual: 'rejected' },
  ],
  [
    'a code',
    `${EVIL}, expect: { code: SERVICE_LIMIT }`,
    { what: 'codes', expected: 'SERVICE_LIMIT', actual: 'IMAGE_NOT_ALLOWED' },
  ],
  [
    'a code that is not the only one',
    `${EVIL}, limits: [{ on: { group: 101 }, money: 0.5, per: month }], expect: { code: IMAGE_NOT_ALLOWED }`,
    { what: 'codes', expected: 'IMAGE_NOT_ALLOWED', actual: 'EXCEEDS_LIMIT_ALONE, IMAGE_NOT_ALLOWED' },
  ],
  [
    'a rule',
    `${EVIL}, expect: { rules: [budgets, images] }`,
    { what: 'rules', expected: 'budgets, images', actual: 'images' },
  ],
  [
    'a shadow finding nobody expects',
    'request: { image: "alpine:latest" }, expect: { decision: admitted, shadow: [] }',
    { what: 'shadow', expected: 'none', actual: 'tags TAG_NOT_ALLOWED' },
  ],
  [
    'a shadow finding that did not come',
    'expect: { decision: admitted, shadow: [tags] }',
    { what: 'shadow', expected: 'tags', actual: 'none' },
  ],
  ['a part of the text', `${EVIL}, expect: { text: lorem }`, { what: 'text', expected: 'contains "lorem"' }],
  ['the whole text', `${EVIL}, expect: { text: { exactly: lorem } }`, { what: 'text', expected: 'lorem' }],
  [
    'the cost',
    'expect: { decision: admitted, cost: 0.99 }',
    { what: 'cost', expected: '0.99', actual: '1.00' },
  ],
  [
    'the runner class',
    'expect: { runner_class: large }',
    { what: 'runner class', expected: 'large', actual: 'small' },
  ],
])('a test fails by %s, which is told', async (_, fixture, difference) => {
  const { code } = await run(fixtures(fixture));
  expect(code).toBe(2);
  expect((await only(fixture)).differences).toEqual([expect.objectContaining(difference)]);
});

test('the whole text of a rejection can be expected', async () => {
  const { differences } = await only(`${EVIL}, expect: { text: { exactly: x } }`);
  const text = JSON.stringify(differences[0]?.actual);
  expect(await only(`${EVIL}, expect: { text: { exactly: ${text} } }`)).toMatchObject({ passed: true });
});

test('the output has a line per test, the place of a failure, what differs, and rules that never acted', async () => {
  const { code, out } = await run(fixtures('expect: admitted', `${EVIL}, expect: admitted`));
  expect(code).toBe(2);
  expect(out).toContain('  ok    t0\n');
  expect(out).toContain('  FAIL  t1  policies/policy.test.yaml:6:5\n');
  expect(out).toContain('          expected  admitted\n          was       rejected\n');
  expect(out).toMatch(/^images +enforce +2 +1 +0 +1$/m);
  expect(out).toContain('coverage 33 % of rules\nnever acted: budgets, tags\n');
  expect(out).toContain('1 passed, 1 failed\n');
});

test('a counter that the job does not ask is noted', async () => {
  const { out } = await run(
    fixtures('counters: [{ group: 101, limit: money-month, spent: 7 }], path: fallback, expect: admitted'),
  );
  expect(out).toContain(
    'note: the counter of limit money-month of group acme/payments has no effect: the fallback',
  );
});

test('the counter of a break-glass is asked by a job it may let in, and by no other', async () => {
  const { out } = await run(fixtures(`${USED(2)}, expect: rejected`));
  expect(out).not.toContain('note:');
  const other = await run(fixtures(`${USED(2).replace('user: 5', 'user: 6')}, expect: rejected`));
  expect(other.out).toContain(
    'note: the counter of breakglass outage has no effect: this job does not ask it',
  );
});

test('what a test says of defaults stands before those of the document', async () => {
  const ofDocument = 'limits: []\ngroup_defaults: [{ groups: "acme/*", money: 0, per: month }]\n';
  const own = 'group_defaults: [{ groups: "acme/pay*", money: 5, per: month }]';
  const { code, out } = await desk(['policy', 'test'], {
    'policies/limits.yaml': ofDocument,
    'policies/policy.test.yaml': fixtures('expect: rejected', `${own}, expect: admitted`),
  });
  expect({ code, failed: out.includes('FAIL') }).toEqual({ code: 0, failed: false });
});

test('too little coverage fails, just enough does not', async () => {
  const text = fixtures(`${EVIL}, expect: rejected`);
  expect(await run(text, '--coverage-min', '33')).toMatchObject({ code: 0 });
  expect(await run(text, '--coverage-min', '34')).toMatchObject({
    code: 2,
    err: 'coverage is 33 %; --coverage-min wants 34 %\n',
  });
});

test('JUnit XML has a case per test, with file and line, and nothing in it breaks the XML', async () => {
  const root = project({
    'policies/policy.test.yaml': `${HEAD}tests:
  - { name: 'a < b & "c"', expect: admitted }
  - { name: "bell \\u0007", ${EVIL}, expect: admitted }
`,
  });
  expect(await runDesk(['policy', 'test', '--junit', 'out/junit.xml'], root)).toMatchObject({ code: 2 });
  const xml = readFileSync(`${root}out/junit.xml`, 'utf8');
  expect(xml).toContain('<testsuites name="tollgate policy test" tests="2" failures="1" errors="0">');
  expect(xml).toContain(
    '<testcase name="a &lt; b &amp; &quot;c&quot;" classname="policies/policy.test.yaml" file="policies/policy.test.yaml" line="5"/>',
  );
  expect(xml).toContain('<testcase name="bell \uFFFD"');
  expect(xml).toContain(
    '<failure message="differs in decision">decision\n  expected: admitted\n  was:      rejected',
  );
  expect(xml).not.toContain('\u0007');
});

test.each([
  ['a key that is not known', 'expct: admitted', 'tests[0].expct: unknown key; did you mean expect?'],
  [
    'a field that is not known',
    'request: { imgae: x }, expect: admitted',
    'tests[0].request.imgae: unknown key; did you mean image?',
  ],
  [
    'a value of the wrong kind',
    'request: { user: me }, expect: admitted',
    'tests[0].request.user: a text of 2 characters; expected a whole number',
  ],
  [
    'a project that is not there',
    'request: { project: acme/x }, expect: admitted',
    "tests[0].request.project: 'acme/x'; expected a project of the directory",
  ],
  [
    'a limit that is not there',
    'counters: [{ group: 101, limit: money-week, spent: 1 }], expect: admitted',
    "limit: 'money-week'; expected a limit of group/101: money-month",
  ],
  [
    'a limit that the group has of its own instead',
    'group_defaults: [{ groups: "acme/*", money: 3, per: day }], counters: [{ group: 101, limit: money-day, spent: 1 }], expect: admitted',
    "limit: 'money-day'; expected a limit of group/101: money-month",
  ],
  [
    'a break-glass that is not there',
    `${GLASS}, counters: [{ breakglass: outrage, used: 1 }], expect: admitted`,
    "breakglass: 'outrage'; expected a breakglass of limits.yaml: outage",
  ],
  [
    'a freeze that is none',
    'freezes: [{ on: { group: 101 }, id: f }], expect: admitted',
    'tests[0].freezes: [0] reason: ',
  ],
  [
    'an amount too fine',
    'counters: [{ group: 101, limit: money-month, spent: 0.0000001 }], expect: admitted',
    'spent: ',
  ],
  [
    'a counter of nobody',
    'counters: [{ limit: money-month, spent: 1 }], expect: admitted',
    'counters[0]: names no subject',
  ],
  [
    'a rule that is not there',
    'expect: { rule: imagse }',
    "tests[0].expect.rule: 'imagse'; expected the id of a rule of the policy; did you mean images?",
  ],
  [
    'an admission with codes',
    'expect: { decision: admitted, code: X }',
    "'admitted' has no codes, rules or text",
  ],
  ['an expectation of nothing', 'expect: {}', 'tests[0].expect: compares nothing'],
  ['no expectation', 'request: {}', 'tests[0].expect: missing'],
  ['a price of nothing', 'prices: { huge: 1 }, expect: admitted', 'tests[0].prices.huge: unknown key'],
  ['a price that is none', 'prices: { small: -1 }, expect: admitted', 'tests[0].prices.small: '],
  [
    'a limit that is none',
    'limits: [{ on: { group: 101 }, money: x, per: month }], expect: admitted',
    'tests[0].limits: [0] money: ',
  ],
  ['a clock that is none', 'now: today, expect: admitted', "tests[0].now: 'today'; expected the clock"],
  [
    'a way that is none',
    'path: relay, expect: admitted',
    "tests[0].path: 'relay'; expected a way to the decision: ledger, fallback",
  ],
])('an invalid fixture is refused with its place and remedy: %s', async (_, fixture, said) => {
  const { code, err, out } = await run(fixtures(fixture));
  expect(code).toBe(3);
  expect(out).toBe('');
  expect(err).toMatch(/^policies\/policy\.test\.yaml:\d+:\d+ tests\[0\]/);
  expect(err).toContain(said);
});

test('what a variable holds is not told, even if it is wrong', async () => {
  const { code, err } = await run(fixtures('request: { variables: { A: [s3cret] } }, expect: admitted'));
  expect(code).toBe(3);
  expect(err).not.toContain('s3cret');
});

test('problems of several files are told at once, and nothing runs', async () => {
  const { code, err, out } = await desk(['policy', 'test'], {
    'policies/a.test.yaml': 'tests: 5\n',
    'policies/tests/b.test.yaml': 'defaults: { nwo: x }\ntests: []\n',
  });
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toContain('policies/a.test.yaml:1:8 tests: 5; expected a list');
  expect(err).toContain('policies/tests/b.test.yaml:1:13 defaults.nwo: unknown key; did you mean now?');
});

test('two tests of one name are refused', async () => {
  const { code, err } = await run(
    `${HEAD}tests:\n  - { name: a, expect: admitted }\n  - { name: a, expect: admitted }\n`,
  );
  expect(code).toBe(3);
  expect(err).toContain("tests[1].name: 'a'; expected a name that no other test of the file has");
});

test('a candidate policy is tested with the fixtures there are', async () => {
  const files = { 'policies/policy.test.yaml': fixtures(`${EVIL}, expect: rejected`) };
  const root = project(files);
  const policy = readFileSync(`${root}policies/policy.yaml`, 'utf8').replace('"golang:*"', '"evil:*"');
  const candidate = { ...files, 'next.yaml': policy };
  expect(await desk(['policy', 'test', '--policy', 'next.yaml'], candidate)).toMatchObject({ code: 2 });
  expect(await desk(['policy', 'test'], candidate)).toMatchObject({ code: 0 });
});

test('a file names its documents from its own folder', async () => {
  const text = `policy: ../policies/policy.yaml\n${fixtures(EVERYTHING)}`;
  expect(await desk(['policy', 'test', 'more'], { 'more/x.test.yaml': text })).toMatchObject({ code: 0 });
});

test.each([
  [['nowhere.yaml'], 'is not there'],
  [['empty'], 'has no *.test.yaml'],
])('%j is refused', async (words, said) => {
  const { code, err } = await desk(['policy', 'test', ...words], { 'empty/x.txt': '' });
  expect(code).toBe(3);
  expect(err).toContain(said);
});
