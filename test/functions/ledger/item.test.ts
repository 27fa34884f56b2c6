import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeItem, encodeEntry, encodeRecord } from '../../../functions/ledger/item.ts';
import { itemBytes } from '../../../functions/ledger/item-bytes.ts';
import { ledgerKeys } from '../../../functions/ledger/keys.ts';
import type { JobRecord } from '../../../functions/ledger/ledger.ts';
import { recordItem } from '../../../functions/ledger/record-size.ts';
import { expiresAtSeconds } from '../../../functions/ledger/retention.ts';
import { writeUnits } from '../../../functions/ledger/write-units.ts';
import type { Violation } from '../../../policies/reason.ts';
import { counter, someFacts } from '../../support/ledger/asks.ts';

const keys = ledgerKeys('gitlab.example.com');

const aRecord = (over: Partial<JobRecord> = {}): JobRecord => ({
  jobId: 4711,
  state: 'HELD',
  generation: 1,
  rev: 1,
  facts: someFacts({ jobName: 'build', projectPath: 'acme/web', projectId: 7, rootId: 1 }),
  claims: [],
  violations: [],
  shadow: [],
  answered: 'ledger',
  flagged: false,
  decidedAtMs: 1_795_000_000_000,
  dueAtMs: 1_795_004_500_000,
  entries: 0,
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
    counter: counter(`group/${100_000 + index}`),
    unit: 'micros',
    held: 480_000_000,
    counted: 480_000_000,
    corrected: 0,
    fitted: true,
    checked: true,
  }));

const part = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const amount = fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 });
const anyClaim = fc.record({
  counter: fc.record({ subject: part, limit: part, period: part }),
  unit: fc.constantFrom('micros' as const, 'seconds' as const, 'jobs' as const),
  held: fc.nat(),
  counted: fc.nat(),
  corrected: amount,
  fitted: fc.boolean(),
  checked: fc.boolean(),
});

test('a record comes back as it was put, whatever its names', () => {
  fc.assert(
    fc.property(
      fc.array(anyClaim, { maxLength: 24 }),
      fc.string(),
      fc.boolean(),
      (some, jobName, flagged) => {
        const record = aRecord({
          claims: some,
          facts: someFacts({ jobName }),
          flagged,
          violations: [aViolation()],
          shadow: [{ ...aViolation(), mode: 'shadow' }],
          unchecked: 'exempt',
          endedAtMs: 5,
          durationSeconds: 0,
          entries: 3,
        });
        expect(decodeItem(encodeRecord(record, keys), keys)).toEqual({ kind: 'record', record });
      },
    ),
  );
});

test('a correction entry comes back as it was put', () => {
  const delta = fc.record({
    counter: fc.record({ subject: part, limit: part, period: part }),
    unit: fc.constantFrom('micros' as const, 'jobs' as const),
    delta: amount,
    fitted: fc.boolean(),
    checked: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(delta, { maxLength: 24 }),
      fc.integer({ min: 1, max: 999_999 }),
      (deltas, number) => {
        const entry = { jobId: 1, number, generation: 2, cause: 'late' as const, atMs: 9, deltas };
        expect(decodeItem(encodeEntry(entry, keys), keys)).toEqual({ kind: 'entry', entry });
      },
    ),
  );
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
    if (back.kind !== 'record') throw new Error(`a record came back as ${back.kind}`);
    expect(back.record.claims).toEqual(record.claims);
    expect(back.record.violations.length).toBeGreaterThanOrEqual(1);
    expect(back.record.violations[0]?.reason).toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      limitAmount: 500_000_000,
    });
    expect(recordItem(record, keys)).toEqual(recordItem(record, keys));
  });

  test('twenty-four counters of one limit fit in one write unit', () => {
    expect(bytes(aRecord({ claims: claims(24) }))).toBeLessThanOrEqual(1024);
  });

  test('a usual rejection keeps all three reasons', () => {
    const record = aRecord({
      state: 'REJECTED',
      claims: claims(3),
      violations: [1, 2, 3].map(() => aViolation()),
    });
    const back = decodeItem(recordItem(record, keys), keys);
    expect(back.kind === 'record' && back.record.violations.length).toBe(3);
  });
});

test('garbage collection waits for the longest open period and 90 days more', () => {
  const endedAtMs = Date.UTC(2026, 10, 1);
  expect(expiresAtSeconds(endedAtMs) * 1000 - endedAtMs).toBe((31 + 90) * 86_400_000);
  expect(encodeRecord(aRecord(), keys).ttl).toBeUndefined();
  expect(encodeRecord(aRecord({ endedAtMs }), keys).ttl).toEqual({ N: String(expiresAtSeconds(endedAtMs)) });
});

test('write units: two per started KB and item, one per change of the due index, none for a throttle', () => {
  const held = aRecord({ claims: claims(2) });
  const { dueAtMs: _due, ...rest } = held;
  const settled: JobRecord = { ...rest, state: 'SETTLED', rev: 2, endedAtMs: 5 };
  const write = {
    kind: 'counter',
    key: counter('group/1'),
    committed: 1,
    fitted: 1,
    settled: 0,
    unchecked: {},
  } as const;
  const holding = [{ kind: 'record', record: held }, write] as const;
  expect(writeUnits(holding, 'committed', keys)).toEqual({ table: 4, index: 1 });
  expect(writeUnits(holding, 'conflict', keys)).toEqual({ table: 4, index: 0 });
  expect(writeUnits(holding, 'throttled', keys)).toEqual({ table: 0, index: 0 });
  const ending = [{ kind: 'record', record: settled, replaces: held }] as const;
  expect(writeUnits(ending, 'committed', keys)).toEqual({ table: 2, index: 1 });
  const [first] = claims(1);
  if (first === undefined) throw new Error('claims(1) made none');
  const names = Array.from({ length: 24 }, (_, index) => `runner-class/${String(index).padStart(40, 'x')}`);
  const large = aRecord({ claims: names.map((name) => ({ ...first, counter: counter(name) })) });
  expect(writeUnits([{ kind: 'record', record: large }], 'committed', keys)).toEqual({ table: 4, index: 1 });
});
