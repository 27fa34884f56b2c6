/** What `policies/policy.test.yaml`, which the command line's integration test runs, does not show of `policy test`. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runDesk } from '../desk-run.ts';
import { limitEdits, POLICY, project } from './documents.ts';

const HEAD = `defaults:
  now: 2026-11-21T12:00Z
  request: { project: acme/payments/api, image: "alpine:3" }
`;

const fixtures = (...tests: readonly string[]): string =>
  `${HEAD}tests:\n${tests.map((each, index) => `  - { name: t${index}, ${each} }\n`).join('')}`;

const run = (text: string, ...flags: string[]) =>
  limitEdits(['policy', 'test', ...flags], { 'policies/policy.test.yaml': text });

interface Difference {
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
}

/** Differences of each test. */
async function differences(...tests: readonly string[]): Promise<readonly (readonly Difference[])[]> {
  const { out } = await run(fixtures(...tests), '--json');
  return JSON.parse(out).tests.map(
    (each: { readonly differences: readonly Difference[] }) => each.differences,
  );
}

const BUDGET = (spent: string) =>
  `counters: [{ group: 101, limit: money-month, spent: ${spent}, held: 0.10 }]`;
const EVIL = 'request: { image: "evil:1" }';

test('limits, rollouts, grants and requests of a test take the place of those in the documents', async () => {
  const passing = [
    'expect: { decision: admitted, shadow: [], runner_class: small, cost: 1 }',
    'limits: [{ on: { group: 101 }, money: 0.99, per: month }], expect: { code: EXCEEDS_LIMIT_ALONE }',
    'limits: [{ on: { group: 100 }, money: 0.5, per: day }], expect: { code: EXCEEDS_LIMIT_ALONE, rule: budgets }',
    `rollout: [{ group: 101, cost: warn }], ${BUDGET('7.40')}, expect: { decision: admitted, shadow: BUDGET_EXHAUSTED }`,
    `grants: [{ on: { group: 101 }, limit: money-month, amount: 2, from: 2026-11-01, until: 2026-11-30, reason: x }], ${BUDGET('7.40')}, expect: admitted`,
    'request: { tags: [large], runner_tags: [large], timeout: 1m }, expect: { runner_class: large, cost: 0.60 }',
    'request: { image: null }, expect: { code: FIELD_MISSING, rule: images }',
    'request: { project: null, project_id: 77 }, expect: { decision: admitted }',
    'request: { project_id: 9, namespace_id: 99, root_namespace_id: 100 }, expect: admitted',
    `${EVIL}, expect: { text: [Ask us, "evil:1"] }`,
  ];
  expect(await differences(...passing)).toEqual(passing.map(() => []));
});

test('what differs is told with what was expected and what came', async () => {
  const failing: readonly (readonly [string, Partial<Difference>])[] = [
    [`${EVIL}, expect: admitted`, { what: 'decision', expected: 'admitted', actual: 'rejected' }],
    [
      `${EVIL}, expect: { rule: [budgets, images] }`,
      { what: 'rule', expected: 'budgets, images', actual: 'images' },
    ],
    [
      'request: { image: "alpine:latest" }, expect: { decision: admitted, shadow: [] }',
      { what: 'shadow', expected: 'none', actual: 'tags TAG_NOT_ALLOWED' },
    ],
    [`${EVIL}, expect: { text: lorem }`, { what: 'text', expected: 'contains "lorem"' }],
    ['expect: { decision: admitted, cost: 0.99 }', { what: 'cost', expected: '0.99', actual: '1.00' }],
  ];
  const found = await differences(...failing.map(([fixture]) => fixture));
  expect(found).toMatchObject(failing.map(([, difference]) => [difference]));
});

test('the output has a line per test, the place of a failure, what differs, and rules that never acted', async () => {
  const text = fixtures('expect: admitted', `${EVIL}, expect: admitted`);
  const { code, out } = await run(text, '--coverage-min', '33');
  expect(code).toBe(2);
  expect(out).toContain('  ok    t0\n');
  expect(out).toContain('  FAIL  t1  policies/policy.test.yaml:6:5\n');
  expect(out).toContain('          expected  admitted\n          was       rejected\n');
  expect(out).toContain('coverage 33 % of rules\nnever acted: budgets, tags\n');
  expect(out).toContain('1 passed, 1 failed\n');
  const good = fixtures(`${EVIL}, expect: rejected`);
  expect((await run(good, '--coverage-min', '33')).code).toBe(0);
  expect(await run(good, '--coverage-min', '34')).toMatchObject({
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
    '<testcase name="a &#60; b &#38; &#34;c&#34;" classname="policies/policy.test.yaml" file="policies/policy.test.yaml" line="5"/>',
  );
  expect(xml).toContain('<testcase name="bell \uFFFD"');
  expect(xml).toContain(
    '<failure message="differs in decision">decision\n  expected: admitted\n  was:      rejected',
  );
  expect(xml).not.toContain('\u0007');
});

test.each([
  ['expct: admitted', 'tests[0]: Unrecognized key: "expct"'],
  ['request: {}', 'tests[0].expect: '],
  ['expect: {}', 'tests[0].expect: compares nothing'],
  ['now: today, expect: admitted', 'tests[0].now: expected an instant'],
  ['request: { imgae: x }, expect: admitted', 'tests[0].request: imgae: unknown key'],
  [
    'request: { image: { name: "alpine:3", kubernetes: { usr: 0 } } }, expect: admitted',
    'request: image: kubernetes Unrecognized key: "usr"',
  ],
  [
    'request: { user: me }, expect: admitted',
    'tests[0].request: userId: a text of 2 characters; expected a whole',
  ],
  ['request: { variables: { A: [s3cret] } }, expect: admitted', 'tests[0].request: variables'],
  [
    'counters: [{ group: 101, limit: money-week, spent: 1 }], expect: admitted',
    "counters: limit 'money-week' is not there; expected one of: money-month",
  ],
  ['counters: [{ limit: money-month, spent: 1 }], expect: admitted', 'counters: no subject'],
  ['freezes: [{ on: { group: 101 }, id: f }], expect: admitted', 'freezes: freezes[0].reason: missing'],
])('%s is refused with its place, and no variable is quoted', async (fixture, problem) => {
  const { code, err, out } = await run(fixtures(fixture));
  expect([code, out]).toEqual([3, '']);
  expect(err).toMatch(/^policies\/policy\.test\.yaml:5:\d+ /);
  expect(err).toContain(problem);
  expect(err).not.toContain('s3cret');
});

test('problems of several files are told at once, and nothing runs', async () => {
  const { code, err, out } = await limitEdits(['policy', 'test'], {
    'policies/a.test.yaml': 'tests: 5\n',
    'policies/tests/b.test.yaml': 'defaults: { nwo: x }\ntests: []\n',
  });
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toContain('policies/a.test.yaml:1:8 tests: ');
  expect(err).toContain('policies/tests/b.test.yaml:1:11 defaults: Unrecognized key: "nwo"');
});

test('documents are those of the flags, else those that the file names from its own folder', async () => {
  const files = {
    'more/x.test.yaml': `policy: ../candidate.yaml\n${fixtures(`${EVIL}, expect: rejected`)}`,
    'candidate.yaml': POLICY.replace('"golang:*"', '"evil:*"'),
  };
  expect((await limitEdits(['policy', 'test', 'more'], files)).code).toBe(2);
  expect((await limitEdits(['policy', 'test', 'more', '--policy', 'policies/policy.yaml'], files)).code).toBe(
    0,
  );
});

test.each([
  ['nowhere.yaml', 'is not there'],
  ['empty', 'has no *.test.yaml'],
])('%s is refused', async (word, said) => {
  const { code, err } = await limitEdits(['policy', 'test', word], { 'empty/x.txt': '' });
  expect(code).toBe(3);
  expect(err).toContain(said);
});
