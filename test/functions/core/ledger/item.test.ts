import { describe, expect, test } from 'vitest';
import { decodeItem, encodeEntry, recordItem } from '../../../../functions/core/ledger/items.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { encodeRecord } from '../../../../functions/core/ledger/record.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { itemBytes } from '../../../../functions/core/store/operation.ts';
import { CALENDAR_YEAR, PERIOD_KINDS, periodAt } from '../../../../policies/limits/period.ts';
import type { Violation } from '../../../../policies/reason.ts';
import type { RecordedRequest } from '../../../../policies/request/recorded.ts';
import { counter, pipeline, someFacts } from '../../../support/ledger/asks.ts';
import { aRecord as someRecord } from '../../../support/ledger/rollup-bench.ts';

const keys = ledgerKeys('gitlab.example.com');

const aRecord = (over: Partial<JobRecord> = {}): JobRecord =>
  someRecord({
    facts: someFacts({ jobName: 'build', projectPath: 'acme/web', projectId: 7, rootId: 1 }),
    ...over,
  });

const aViolation = (
  over: Partial<Extract<Violation['reason'], { code: 'BUDGET_EXHAUSTED' }>> = {},
): Violation => ({
  rule: 'budget',
  class: 'cost',
  mode: 'enforce',
  reason: {
    code: 'BUDGET_EXHAUSTED',
    limit: 'money-month',
    subject: 'group/101',
    subjectLabel: 'group acme/payments',
    unit: 'micros',
    limitAmount: 500_000_000,
    asked: 480_000,
    periodLabel: 'November 2026',
    resetsAtMs: 1_796_079_600_000,
    zone: 'Europe/Berlin',
    owner: 'finance@acme.example',
    committed: 499_900_000,
    settled: 420_000_000,
    ...over,
  },
});

const claims = (count: number): JobRecord['claims'] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ counter: counter(`group/${100_000 + index}`), unit: 'micros', held: 480_000_000 },
    ...{ counted: 480_000_000, corrected: 0, fitted: true, checked: true },
  }));

const ASKED: RecordedRequest = {
  image: 'registry.example.com/acme/build/node:24-bookworm',
  services: [{ name: 'postgres:17' }, { name: 'redis:8', pullPolicies: ['always'], variables: 'some' }],
  ref: 'feature/a-branch',
  refProtected: false,
  pipelineSource: 'merge_request_event',
  mergeRequestId: 48_151_623,
  byBot: false,
  jobTags: ['linux', 'large'],
  runnerTags: ['linux', 'large', 'eu'],
  runnerId: 4711,
  variables: 'some',
  filled: ['projectPath', 'timeoutSeconds'],
};

test('what rules looked at comes back as it was put, and a record without it is still read', () => {
  const record = aRecord({ claims: claims(3), facts: someFacts({ asked: ASKED }) });
  expect(decodeItem(recordItem(record, keys), keys)).toEqual({ kind: 'record', record });
  const { rq, ...older } = encodeRecord(record, keys);
  expect(rq).toBeDefined();
  const { asked: _asked, ...facts } = record.facts;
  expect(decodeItem(older, keys)).toEqual({ kind: 'record', record: { ...record, facts } });
});

describe('record size', () => {
  const bytes = (record: JobRecord): number => itemBytes(recordItem(record, keys));
  const whole = (record: JobRecord): number => itemBytes(encodeRecord(record, keys));
  /** A record of exactly so many bytes, by the length of its job name. */
  const ofBytes = (target: number): JobRecord => {
    const named = (length: number) =>
      aRecord({ claims: claims(8), facts: someFacts({ jobName: 'x'.repeat(length) }) });
    return named(target - whole(named(0)));
  };

  test.each([1023, 1024])('%i bytes stay as they are', (size) => {
    const record = ofBytes(size);
    expect(whole(record)).toBe(size);
    expect(decodeItem(recordItem(record, keys), keys)).toEqual({ kind: 'record', record });
  });

  test('1025 bytes are shortened to one write unit', () => {
    const record = ofBytes(1025);
    expect(whole(record)).toBe(1025);
    expect(bytes(record)).toBeLessThanOrEqual(1024);
  });

  test('a rejection with many long reasons keeps its first one and all its claims', () => {
    const long = 'a very long label '.repeat(20);
    const record = aRecord({
      state: 'REJECTED',
      claims: claims(6),
      facts: someFacts({ jobName: long, projectPath: long }),
      violations: Array.from({ length: 6 }, () => aViolation({ subjectLabel: long, owner: long })),
      shadow: Array.from({ length: 6 }, () => aViolation({ subjectLabel: long })),
    });
    expect(bytes(record)).toBeLessThanOrEqual(1024);
    const back = decodeItem(recordItem(record, keys), keys);
    if (back?.kind !== 'record') throw new Error(`a record came back as ${back?.kind}`);
    expect(back.record.claims).toEqual(record.claims);
    expect(back.record.violations.length).toBeGreaterThanOrEqual(1);
    expect(back.record.violations[0]?.reason).toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      limitAmount: 500_000_000,
    });
    expect(recordItem(record, keys)).toEqual(recordItem(record, keys));
  });
});

describe('garbage collection', () => {
  const endedAtMs = Date.UTC(2026, 10, 1);
  const countedIn = (period: string, over: Partial<JobRecord['claims'][number]> = {}): JobRecord =>
    aRecord({
      decidedAtMs: endedAtMs - 60_000,
      endedAtMs,
      claims: claims(2).map((one, index) =>
        index === 0 ? one : { ...one, counter: counter('group/1', 'money', period), ...over },
      ),
    });
  const days = (record: JobRecord): number | undefined => {
    const seconds = encodeRecord(record, keys).ttl?.N;
    return seconds === undefined ? undefined : (Number(seconds) * 1000 - endedAtMs) / 86_400_000;
  };

  test.each([
    ['now', 32 + 90],
    ['2026-11-01T00Z', 32 + 90],
    ['2026-11-01', 32 + 90],
    ['2026-W44', 32 + 90],
    ['2026-10@04-06', 32 + 90],
    ['2026-Q4', 93 + 90],
    ['2026-Q3@04-06', 93 + 90],
    ['2026', 367 + 90],
    ['2026@04-06', 367 + 90],
    ['once', undefined],
    ['what a later version writes', undefined],
  ])('a record that counts in %s stays until that is over, and 90 days more', (period, expected) => {
    expect(days(countedIn(period))).toBe(expected);
  });

  test('a record outlives the longest period there is of each kind by 90 days', () => {
    for (const kind of PERIOD_KINDS.filter((each) => each !== 'once')) {
      for (const start of [CALENDAR_YEAR, '04-06']) {
        let period = periodAt(kind, 'Europe/Berlin', Date.UTC(2027, 2, 1), start);
        for (let step = 0; step < 60; step += 1) {
          const lastsDays = (period.endMs - period.startMs) / 86_400_000;
          expect(days(countedIn(period.key)) ?? 0).toBeGreaterThanOrEqual(lastsDays + 90);
          period = periodAt(kind, 'Europe/Berlin', period.endMs, start);
        }
      }
    }
  });

  test('what was given back, and the count of a pipeline, keeps no record', () => {
    expect(days(countedIn('once', { counted: 0 }))).toBe(32 + 90);
    expect(days(countedIn('once', { counter: pipeline(7) }))).toBe(32 + 90);
  });

  test('a live record is never collected; a correction stays as long as what it corrects', () => {
    expect(encodeRecord(aRecord(), keys).ttl).toBeUndefined();
    const entry = (period: string) => {
      const delta = { unit: 'micros', delta: 1, fitted: true, checked: true } as const;
      const deltas = [{ ...delta, counter: counter('group/1', 'money', period) }];
      const correction = { jobId: 1, number: 1, generation: 1, cause: 'late', atMs: endedAtMs } as const;
      return encodeEntry({ ...correction, deltas }, keys);
    };
    expect(Number(entry('2026').ttl?.N) * 1000 - endedAtMs).toBe((367 + 90) * 86_400_000);
    expect(entry('once').ttl).toBeUndefined();
  });
});

test.each(['closing2', 'rollup', 'announced', '', 'entry', 'records'])(
  'an item of an unknown kind, %j, is taken for nothing else',
  (sk) => {
    const { pk } = keys.counter({ subject: 'group/1', limit: 'money-month', period: '2026-11' });
    const amounts = { c: { N: '5' }, f: { N: '5' }, s: { N: '5' }, at: { N: '1' } };
    const item = { pk: { S: pk }, sk: { S: sk }, ...amounts };
    expect(decodeItem(item, keys)).toEqual({ kind: 'unknown', sk });
  },
);
