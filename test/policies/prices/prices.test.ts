import { describe, expect, test } from 'vitest';
import { evaluate } from '../../../policies/evaluate.ts';
import {
  costMicros,
  jobPriceOf,
  type PriceList,
  priceJumps,
  pricesAt,
  type RunnerClass,
} from '../../../policies/price.ts';
import { aPolicy, policyDocument, problemsOfPolicy, someLimits, using } from '../documents.ts';

const large = (over: object = {}) => ({ name: 'large', tags: ['large'], rate_per_minute: '0.60', ...over });
const version = (name: string, over: object = {}, from?: string, more: object = {}) => ({
  version: name,
  ...(from !== undefined && { from }),
  classes: [large(over)],
  default_class: 'large',
  ...more,
});
const problemsOf = (prices: unknown) => problemsOfPolicy(policyDocument({ prices }));
const factsAt = (prices: unknown, nowMs: number, request: object = {}) => {
  const policy = aPolicy({ prices });
  return evaluate({ jobId: 1, timeoutSeconds: 90, ...request }, using(policy, someLimits({}), { nowMs }))
    .facts;
};
const aClass = (over: Partial<RunnerClass>): RunnerClass => ({
  name: 'large',
  tags: [],
  runnerIds: new Set(),
  microsPerMinute: 0,
  ...over,
});

describe('versions', () => {
  const DECEMBER_MS = Date.UTC(2026, 11, 1);
  const prices = [
    version('2026-11', {}, '2026-11-01'),
    version('2026-12', { rate_per_minute: 1 }, '2026-12-01'),
    version('2027-01', { rate_per_minute: 2, name: 'large' }, '2027-01-01T00:00+01:00'),
  ];

  test.each([
    [0, '2026-11', 600_000, 'before all: the first'],
    [DECEMBER_MS - 1, '2026-11', 600_000, 'the last millisecond before'],
    [DECEMBER_MS, '2026-12', 1_000_000, 'the first instant'],
    [Date.UTC(2026, 11, 31, 23), '2027-01', 2_000_000, 'an instant of another zone'],
  ])('at %i prices %s are in force: %i a minute, %s', (nowMs, priceVersion, microsPerMinute) => {
    expect(factsAt(prices, nowMs)).toMatchObject({ priceVersion, microsPerMinute });
    expect(pricesAt(aPolicy({ prices }).prices, nowMs).version).toBe(priceVersion);
  });

  test.each([
    ['none', [], 'prices: '],
    ['a second one without a date', [version('1'), version('2')], 'prices[1].from: '],
    ['two of one date', [version('1', {}, '2026-11-01'), version('2', {}, '2026-11-01')], 'prices[1].from: '],
    [
      'the later one first',
      [version('1', {}, '2026-12-01'), version('2', {}, '2026-11-01')],
      'prices[1].from: ',
    ],
    ['a name twice', [version('1'), version('1', {}, '2026-11-01')], 'prices[1].version: '],
    ['a date that is none', [version('1', {}, '2026-02-30')], 'prices[0].from: '],
  ])('versions with %s are refused', (_, prices, at) => {
    const problems = problemsOf(prices);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(at);
  });
});

describe('jumps', () => {
  test('a price typo of 1000 times is refused, with the class, both rates and the way out', () => {
    const [problem, ...more] = problemsOf([
      version('1'),
      version('2', { rate_per_minute: 600 }, '2026-12-01'),
    ]);
    expect(more).toEqual([]);
    expect(problem).toBe(
      'prices[1]: rate_per_minute of class large goes from 0.60 (version 1) to 600.00, more than 5 times; ' +
        'correct it, or write allow_jump: true here if it is meant',
    );
  });

  test('allow_jump lets it pass, for that version alone', () => {
    const meant = version('2', { rate_per_minute: 600 }, '2026-12-01', { allow_jump: true });
    expect(problemsOf([version('1'), meant])).toEqual([]);
    expect(problemsOf([version('1'), meant, version('3', {}, '2027-01-01')])).toHaveLength(1);
  });

  test.each([
    ['exactly five times', 1, 5, 0],
    ['one micro-unit more', 1_000_000, 5_000_001, 1],
    ['a fifth', 5, 1, 0],
    ['less than a fifth', 6, 1, 1],
    ['free as before', 0, 0, 0],
    ['no longer free', 0, 1, 1],
    ['free from now on', 1, 0, 1],
  ])('%s: %i → %i is %i jumps', (_, from, to, jumps) => {
    const list = (microsPerMinute: number): PriceList => {
      const only = aClass({ microsPerMinute });
      return { version: '1', classes: [only], defaultClass: only };
    };
    expect(priceJumps(list(from), list(to))).toHaveLength(jumps);
  });
});

describe('rounding', () => {
  test.each([
    ['second', 90, 900_000],
    ['minute', 90, 1_200_000],
    ['minute', 60, 600_000],
    ['minute', 0, 0],
  ])('by the %s, %i seconds at 0.60 a minute cost %i', (round, seconds, micros) => {
    expect(costMicros(600_000, seconds, round === 'minute' ? 'minute' : undefined)).toBe(micros);
  });

  test('the hold is rounded as the settlement will be, and the record says how', () => {
    expect(factsAt(version('1', { round: 'minute' }), 0)).toMatchObject({
      costMicros: 1_200_000,
      round: 'minute',
    });
    expect(factsAt(version('1', { round: 'second' }), 0)).not.toHaveProperty('round');
  });
});

describe('CPU and memory', () => {
  const runner = aClass({
    microsPerMinute: 100,
    microsPerCpuHour: 60_000,
    microsPerGibHour: 6_000,
    footprint: { millicpu: 2_000, bytes: 2 ** 30 },
  });
  const perMinute = (variables: Record<string, string>, of = runner): number =>
    jobPriceOf({ jobId: 1, variables }, of, '1').microsPerMinute;

  test('a job pays for what it requests, and for what its class is said to take where it states nothing', () => {
    expect(perMinute({})).toBe(100 + 2 * 1_000 + 100);
    const overwrites = new Map([
      ['KUBERNETES_CPU_REQUEST', { nanos: 4_000_000_000n, format: 'decimal' as const }],
      ['KUBERNETES_MEMORY_REQUEST', { nanos: 2n ** 33n * 1_000_000_000n, format: 'binary' as const }],
    ]);
    const asked = { KUBERNETES_CPU_REQUEST: '500m', KUBERNETES_MEMORY_REQUEST: '3Gi' };
    expect(perMinute(asked, { ...runner, overwrites })).toBe(100 + 500 + 300);
    expect(perMinute(asked), 'while the class does not say that a job may ask for less').toBe(
      100 + 2_000 + 300,
    );
    expect(perMinute(asked, { ...runner, overwrites: new Map() })).toBe(100 + 2_000 + 100);
  });

  test('parts of a micro-unit are rounded up once', () => {
    const tiny = { ...runner, microsPerGibHour: 1, footprint: { millicpu: 1, bytes: 2 ** 30 } };
    expect(perMinute({}, tiny)).toBe(100 + 1 + 1);
  });

  test.each([
    ['a CPU rate without CPUs', { rate_per_cpu_hour: 1 }, 'classes[0].cpu: '],
    ['a memory rate without memory', { rate_per_gib_hour: 1 }, 'classes[0].memory: '],
    ['a rate that is none', { rate_per_cpu_hour: '1e3', cpu: 1 }, 'classes[0].rate_per_cpu_hour: '],
    ['a rate of too much', { rate_per_cpu_hour: 10_001, cpu: 1 }, 'classes[0].rate_per_cpu_hour: '],
    ['another rounding', { round: 'hour' }, 'classes[0].round: '],
  ])('%s is refused', (_, wrong, at) => {
    const problems = problemsOf(version('1', wrong));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(at);
  });
});
