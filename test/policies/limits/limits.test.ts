import { describe, expect, test } from 'vitest';
import type { LimitClaim } from '../../../policies/claim.ts';
import { type Evaluation, evaluate } from '../../../policies/evaluate.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { aPolicy, someLimits, using } from '../documents.ts';

const RULES = ['budget', 'concurrency', 'capacity', 'window'].map((kind) => ({
  id: kind,
  kind,
  mode: 'enforce',
}));

const aJob = (over: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  jobId: 1,
  projectId: 1,
  namespaceId: 104,
  rootNamespaceId: 100,
  pipelineId: 900,
  runnerId: 41,
  jobTags: ['large'],
  ...over,
});

const evaluated = (
  limits: readonly object[],
  request: Partial<AdmissionRequest> = {},
  rule: object = {},
  runnerClass: object = {},
): Evaluation => {
  const policy = aPolicy({
    rules: RULES.map((each) => ({ ...each, ...rule })),
    prices: {
      version: '1',
      classes: [{ name: 'large', tags: ['large'], rate_per_minute: 1, ...runnerClass }],
      default_class: 'large',
    },
  });
  const on = limits.map((limit) => ({ on: { group: 101 }, ...limit }));
  return evaluate(aJob(request), using(policy, someLimits({ limits: on }, policy)));
};
const asked = ({ claims }: Evaluation) =>
  claims.map(({ counter, unit, amount, bound }) => [counter, unit, amount, bound]);
const codes = ({ violations }: Evaluation) => violations.map(({ mode, reason }) => [mode, reason.code]);
const only = ({ claims }: Evaluation): LimitClaim => {
  const [claim] = claims;
  if (claim === undefined) throw new Error('no claim was made');
  return claim;
};
const SEEN = { committed: 7, settled: 3 };

describe('capacity', () => {
  const cpu = { KUBERNETES_CPU_REQUEST: '1500m', KUBERNETES_MEMORY_REQUEST: '2Gi' };

  test('a job asks for the CPU and memory it requests, and gives them back at its end', () => {
    const key = (limit: string) => ({ subject: 'group/101', limit, period: 'now' });
    expect(asked(evaluated([{ cpu: 64 }, { memory: '8Gi' }], { variables: cpu }))).toEqual([
      [key('cpu-now'), 'millicpu', 1500, 64_000],
      [key('memory-now'), 'bytes', 2 ** 31, 2 ** 33],
    ]);
  });

  test('a full counter is told as CAPACITY_FULL, a job larger than the limit as EXCEEDS_LIMIT_ALONE', () => {
    expect(only(evaluated([{ cpu: 64 }], { variables: cpu })).refusal(SEEN)).toMatchObject({
      code: 'CAPACITY_FULL',
      unit: 'millicpu',
      limitAmount: 64_000,
      asked: 1500,
      ...SEEN,
    });
    expect(codes(evaluated([{ cpu: 1 }], { variables: cpu }))).toEqual([['enforce', 'EXCEEDS_LIMIT_ALONE']]);
  });

  test.each([
    ['skip', []],
    ['admit', [['shadow', 'FIELD_MISSING']]],
    ['reject', [['enforce', 'FIELD_MISSING']]],
  ])(
    'an unknown or unreadable footprint follows on_missing: %s, once for all levels',
    (onMissing, expected) => {
      for (const variables of [{}, { KUBERNETES_CPU_REQUEST: 'lots' }]) {
        const on = [{ cpu: 64 }, { cpu: 9, on: 'instance' }];
        const evaluation = evaluated(on, { variables }, { on_missing: onMissing });
        expect(codes(evaluation)).toEqual(expected);
        expect(evaluation.claims).toEqual([]);
      }
    },
  );
});

describe('window', () => {
  test('each job counts one start in the window it is asked in', () => {
    expect(asked(evaluated([{ starts: 100, per: 'hour' }]))).toEqual([
      [{ subject: 'group/101', limit: 'starts-hour', period: '2026-11-21T12Z' }, 'starts', 1, 100],
    ]);
  });

  test('a full window is told as WINDOW_FULL with the instant it opens', () => {
    expect(only(evaluated([{ starts: 7, per: 'hour' }])).refusal(SEEN)).toMatchObject({
      code: 'WINDOW_FULL',
      limitAmount: 7,
      periodLabel: 'the hour from 12:00 UTC on 21 November 2026',
      resetsAtMs: Date.UTC(2026, 10, 21, 13),
      zone: 'UTC',
    });
  });
});

describe('soft and grace', () => {
  const limits = [{ jobs: 10, soft: '80%', grace: '20%' }];

  test('an enforced limit warns from its soft part on, with that part for the limit', () => {
    const { soft } = only(evaluated(limits));
    expect(soft?.bound).toBe(8);
    expect(soft?.warning(SEEN)).toMatchObject({ code: 'SOFT_LIMIT', limitAmount: 8, ...SEEN });
  });

  test('its grace names the pipeline, whose jobs are counted beside it, once', () => {
    const two = [...limits, { id: 'second', jobs: 20, grace: 1 }];
    const { claims } = evaluated(two);
    const pipeline = { subject: 'pipeline/900', limit: 'grace', period: 'once' };
    expect(claims.map(({ grace }) => grace)).toEqual([
      { bound: 12, pipeline },
      { bound: 21, pipeline },
      undefined,
    ]);
    expect(asked({ ...evaluated(two) }).at(-1)).toEqual([pipeline, 'starts', 1, undefined]);
    expect(claims.at(-1)?.rule).toBe('concurrency');
  });

  test('a limit that only watches has neither, and a job of no known pipeline no grace', () => {
    for (const mode of ['shadow', 'warn']) {
      const { claims } = evaluated([{ ...limits[0], mode }]);
      expect(claims.map(({ soft, grace }) => [soft, grace])).toEqual([[undefined, undefined]]);
    }
    const { pipelineId: _, ...without } = aJob();
    const policy = aPolicy();
    const set = someLimits({ limits: [{ on: { group: 101 }, ...limits[0] }] }, policy);
    const { claims } = evaluate(without, using(policy, set));
    expect(claims.map(({ grace }) => grace)).toEqual([undefined]);
  });

  test('an exempt job asks for neither, and yet makes its pipeline run', () => {
    const exempt = { exempt: [{ groups: [101], reason: 'test', until: 'never' }] };
    const evaluation = evaluated(limits, {}, exempt);
    expect(asked(evaluation).map(([key, , , bound]) => [key, bound])).toEqual([
      [{ subject: 'group/101', limit: 'jobs-now', period: 'now' }, undefined],
      [{ subject: 'pipeline/900', limit: 'grace', period: 'once' }, undefined],
    ]);
    expect(only(evaluation).soft).toBeUndefined();
  });
});
