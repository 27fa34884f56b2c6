import { describe, expect, test } from 'vitest';
import type { ShadowOptions } from '../../../../functions/answers/shadow/shadow-simulation.ts';
import type { JobRecord, RecordClaim } from '../../../../functions/core/ledger/ledger.ts';
import { directoryOf } from '../../../../policies/place/directory.ts';
import type { Reason, Violation } from '../../../../policies/reason.ts';
import { aPolicy, someLimits } from '../../../policies/documents.ts';
import { counter, someFacts } from '../../../support/ledger/asks.ts';
import { simulateShadow } from '../../../support/simulate-shadow.ts';

const T = 1_000_000;
const BOUND = 100;

const options = (over: Partial<ShadowOptions> = {}): ShadowOptions => ({
  sinceMs: 0,
  untilMs: Number.POSITIVE_INFINITY,
  counts: () => true,
  passesMissing: (rule) => rule === 'lenient',
  ...over,
});

const aClaim = (over: Partial<RecordClaim> = {}): RecordClaim => ({
  counter: counter('group/1'),
  unit: 'micros',
  held: 60,
  counted: 60,
  corrected: 0,
  fitted: true,
  checked: true,
  ...over,
});

const aRecord = (jobId: number, over: Partial<JobRecord> = {}): JobRecord => ({
  jobId,
  state: 'HELD',
  generation: 1,
  rev: 1,
  facts: someFacts({ rootId: 1, groupId: 1, projectPath: 'acme/web' }),
  claims: [],
  violations: [],
  shadow: [],
  answered: 'ledger',
  flagged: false,
  decidedAtMs: T + jobId,
  entries: 0,
  ...over,
});

const full = (over: Partial<Violation> = {}): Violation => ({
  rule: 'budgets',
  class: 'cost',
  mode: 'shadow',
  reason: {
    code: 'BUDGET_EXHAUSTED',
    limit: 'money-month',
    subject: 'group/1',
    subjectLabel: 'group acme',
    unit: 'micros',
    limitAmount: BOUND,
    asked: 60,
    committed: 60,
    settled: 0,
  },
  ...over,
});

const against = (reason: Reason, over: Partial<Violation> = {}): Violation => ({
  rule: 'images',
  class: 'security',
  mode: 'warn',
  reason,
  ...over,
});
const IMAGE = against({ code: 'IMAGE_NOT_ALLOWED', image: 'x', allowed: [] });
const MISSING: Reason = { code: 'FIELD_MISSING', field: 'image' };

test('after the first refusal everything is refused naively, and only what does not fit truly', () => {
  const records = [
    aRecord(1, { claims: [aClaim()] }),
    aRecord(2, { claims: [aClaim({ fitted: false })], shadow: [full()] }),
    // 60 + 30 fit into 100 once job 2 is left out; 60 + 60 + 30 do not.
    aRecord(3, { claims: [aClaim({ held: 30, counted: 30 })] }),
  ];
  const figures = simulateShadow(records, options());
  expect(figures).toMatchObject({ jobs: 3, wouldFail: 1, naive: 2, costMicros: 1_000 });
  expect(figures.rows).toMatchObject([
    { rootId: 1, groupId: 1, rule: 'budgets', mode: 'shadow', code: 'BUDGET_EXHAUSTED', jobs: 1, naive: 2 },
  ]);
  expect(figures.rows[0]?.examples.map(({ jobId }) => jobId)).toEqual([2]);
});

test('the naive count is judged by the limits document, with the grants of each instant', () => {
  const policy = aPolicy();
  const since = (money: number, grants: readonly object[] = []): Partial<ShadowOptions> => ({
    limits: someLimits({ limits: [{ on: { group: 1 }, money, per: 'month' }], grants }, policy),
  });
  const EURO = 1_000_000;
  const of = (micros: number) => aClaim({ held: micros * EURO, counted: micros * EURO });
  const told = full({ reason: { ...full().reason, limitAmount: 1 * EURO } as Reason });
  const records = [
    aRecord(1, { claims: [of(1)] }),
    aRecord(2, { claims: [{ ...of(1), fitted: false }], shadow: [told] }),
    // The last violation says that 1.00 was all there was.
    aRecord(3, { claims: [of(1)] }),
    aRecord(4, { claims: [of(1)] }),
  ];
  expect(simulateShadow(records, options()).naive).toBe(3);
  expect(simulateShadow(records, options(since(4)))).toMatchObject({ wouldFail: 1, naive: 1 });
  expect(simulateShadow(records, options(since(3)))).toMatchObject({ wouldFail: 1, naive: 2 });
  const grant = { on: { group: 1 }, limit: 'money-month', amount: 1, reason: 'x' };
  const whole = { ...grant, from: '1970-01-01', until: '1970-02-01' };
  const gone = { ...grant, from: '1969-12-01', until: '1969-12-31' };
  expect(simulateShadow(records, options(since(3, [whole]))).naive).toBe(1);
  expect(simulateShadow(records, options(since(3, [gone]))).naive).toBe(2);
});

test('a job that ended makes room in the naive count, too', () => {
  const ended = aClaim({ counted: 10 });
  const records = [
    aRecord(1, { claims: [ended], state: 'SETTLED', endedAtMs: T + 3 }),
    aRecord(2, { claims: [aClaim({ fitted: false })], shadow: [full()] }),
    // Exactly the limit: 10 + 60 + 30.
    aRecord(4, { claims: [aClaim({ held: 30, counted: 30 })] }),
  ];
  expect(simulateShadow(records, options())).toMatchObject({ wouldFail: 1, naive: 1 });
});

test('jobs before the span count in the counters, not in the report', () => {
  const records = [
    aRecord(1, { claims: [aClaim()] }),
    aRecord(2, { claims: [aClaim({ fitted: false })], shadow: [full()] }),
    aRecord(3, { claims: [aClaim({ held: 30, counted: 30 })] }),
  ];
  expect(simulateShadow(records, options({ sinceMs: T + 3 }))).toMatchObject({
    jobs: 1,
    wouldFail: 0,
    naive: 1,
  });
  expect(simulateShadow(records, options({ untilMs: T + 3 }))).toMatchObject({ jobs: 2, naive: 1 });
});

test('jobs of other groups fill a common counter and are not counted', () => {
  const facts = someFacts({ groupId: 9 });
  const records = [
    aRecord(1, { claims: [aClaim()], facts }),
    aRecord(2, { claims: [aClaim({ fitted: false })], shadow: [full()], facts }),
    aRecord(3, { claims: [aClaim({ held: 30, counted: 30 })] }),
  ];
  const counts = (record: JobRecord): boolean => record.facts.groupId === 1;
  expect(simulateShadow(records, options({ counts }))).toMatchObject({ jobs: 1, wouldFail: 0, naive: 1 });
});

describe('what no simulation would reject is counted apart', () => {
  test.each([
    ['an exempt job', [{ ...IMAGE, exempt: true as const }], { exempt: 1 }],
    [
      'a soft limit',
      [full({ reason: { ...full().reason, code: 'SOFT_LIMIT' } as Reason })],
      { softLimit: 1 },
    ],
    ['a field that may be missing', [against(MISSING, { rule: 'lenient' })], { missingPassed: 1 }],
  ])('%s', (_, shadow, apart) => {
    const figures = simulateShadow([aRecord(1, { shadow, claims: [aClaim()] })], options());
    expect(figures).toMatchObject({ jobs: 1, wouldFail: 0, naive: 0, rows: [], ...apart });
  });

  test('but a field that may not be missing is a failure, beside an exemption as well', () => {
    const shadow = [against(MISSING, { rule: 'strict' }), { ...IMAGE, exempt: true as const }];
    expect(simulateShadow([aRecord(1, { shadow })], options())).toMatchObject({
      wouldFail: 1,
      naive: 1,
      exempt: 1,
    });
  });

  test.each([
    ['a job that is rejected', { state: 'REJECTED' as const }],
    ['a job that was rejected and ran', { state: 'SETTLED' as const, unchecked: 'bypass' as const }],
  ])('%s fails already', (_, over) => {
    const record = aRecord(1, { ...over, shadow: [IMAGE], violations: [full({ mode: 'enforce' })] });
    expect(simulateShadow([record], options())).toMatchObject({
      jobs: 1,
      rejected: 1,
      wouldFail: 0,
      naive: 0,
    });
  });
});

test('rules without counters are the same in both counts; a job in two rows is one job', () => {
  const record = aRecord(1, { shadow: [IMAGE, { ...IMAGE, rule: 'tags' }, IMAGE] });
  const figures = simulateShadow([record, aRecord(2)], options());
  expect(figures).toMatchObject({ jobs: 2, wouldFail: 1, naive: 1, costMicros: 1_000 });
  expect(figures.rows.map(({ rule, jobs, naive }) => [rule, jobs, naive])).toEqual([
    ['images', 1, 1],
    ['tags', 1, 1],
  ]);
});

test('a refusal whose violation the record had no room for is counted', () => {
  const records = [
    aRecord(1, { claims: [aClaim({ fitted: false })] }),
    aRecord(2, { claims: [aClaim({ fitted: false, checked: false })] }),
  ];
  const figures = simulateShadow(records, options());
  expect(figures).toMatchObject({ wouldFail: 1, naive: 1 });
  expect(figures.rows).toMatchObject([{ rule: '(not recorded)', jobs: 1 }]);
});

test('what a job cost is what it settled to, else its estimate', () => {
  const facts = someFacts({ costMicros: 1_000, microsPerMinute: 60 });
  const records = [
    aRecord(1, { facts, shadow: [IMAGE] }),
    aRecord(2, { facts, shadow: [IMAGE], state: 'SETTLED', durationSeconds: 90 }),
  ];
  expect(simulateShadow(records, options()).costMicros).toBe(1_000 + 90);
});

test('of many jobs the latest are shown', () => {
  const records = Array.from({ length: 500 }, (_, index) => aRecord(index + 1, { shadow: [IMAGE] }));
  const [row] = simulateShadow(records, options()).rows;
  expect(row?.jobs).toBe(500);
  expect(row?.examples).toHaveLength(50);
  expect(row?.examples[0]?.jobId).toBe(500);
  expect([row?.firstAtMs, row?.lastAtMs]).toEqual([T + 1, T + 500]);
});

test('with more claims than can be replayed the true count stands and the naive one is left out', () => {
  const records = [1, 2, 3].map((jobId) =>
    aRecord(jobId, { claims: [aClaim({ fitted: false })], shadow: [full()] }),
  );
  const figures = simulateShadow(records, options({ claimsMax: 2 }));
  expect(figures.wouldFail).toBe(3);
  expect(figures.naive).toBeUndefined();
  expect(figures.rows[0]?.naive).toBeUndefined();
});

test('a job that its pipeline’s grace let in was refused by nobody, and makes nobody refused after it', () => {
  const graced = full({ mode: 'warn' });
  const records = [
    aRecord(1, { claims: [aClaim()] }),
    // Past an enforced limit: the claim fitted by its grace, and the record only warns.
    aRecord(2, { claims: [aClaim()], shadow: [graced] }),
    aRecord(3, { claims: [aClaim({ held: 0, counted: 0 })] }),
  ];
  expect(simulateShadow(records, options())).toMatchObject({ jobs: 3, wouldFail: 0, naive: 0, rows: [] });
  // Nor where the limit only watched before, and somebody was refused by then.
  const watched = [
    aRecord(1, { claims: [aClaim()] }),
    aRecord(2, { claims: [aClaim({ fitted: false })], shadow: [full()] }),
    aRecord(3, { claims: [aClaim()], shadow: [graced] }),
  ];
  expect(simulateShadow(watched, options())).toMatchObject({ wouldFail: 1, naive: 1 });
  // A limit that only warns refused it truly, and its claim says so.
  const warned = [records[0], aRecord(2, { claims: [aClaim({ fitted: false })], shadow: [graced] })];
  expect(
    simulateShadow(
      warned.filter((each) => each !== undefined),
      options(),
    ),
  ).toMatchObject({
    wouldFail: 1,
    naive: 1,
  });
});

test('a group that has its limit by a pattern is judged by that limit, and so is a personal namespace', () => {
  const directory = directoryOf([
    { id: 1, path: 'acme', personal: false },
    { id: 9, path: 'jane', personal: true },
  ]);
  const EURO = 1_000_000;
  const of = (group: number) => aClaim({ counter: counter(`group/${group}`), held: EURO, counted: EURO });
  const told = (group: number) =>
    full({ reason: { ...full().reason, subject: `group/${group}`, limitAmount: EURO } as Reason });
  const life = (group: number): readonly JobRecord[] => [
    aRecord(1, { claims: [of(group)] }),
    aRecord(2, { claims: [{ ...of(group), fitted: false }], shadow: [told(group)] }),
    aRecord(3, { claims: [of(group)] }),
  ];
  const defaults = {
    group_defaults: [{ groups: 'acme', money: 3, per: 'month' }],
    personal_default: [{ money: 3, per: 'month' }],
  };
  const limits = someLimits(defaults, aPolicy(), directory);
  for (const group of [1, 9]) {
    // The last violation says that 1.00 was all there was; by the default all but the refused one fit.
    expect(simulateShadow(life(group), options()).naive).toBe(2);
    expect(simulateShadow(life(group), options({ limits, directory })).naive).toBe(1);
  }
});
