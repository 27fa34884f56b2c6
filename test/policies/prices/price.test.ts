import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDecimal, readDurationSeconds } from '../../../policies/document/values.ts';
import {
  costMicros,
  MICROS_PER_MINUTE_MAX,
  type RunnerClass,
  runnerClassOf,
} from '../../../policies/price.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

test('a hold is never smaller than the exact cost, and less than one micro-unit larger', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: MICROS_PER_MINUTE_MAX }),
      fc.integer({ min: 0, max: 366 * 86_400 }),
      (microsPerMinute, seconds) => {
        const cost = costMicros(microsPerMinute, seconds);
        const exactTimes60 = BigInt(microsPerMinute) * BigInt(seconds);
        expect(Number.isSafeInteger(cost)).toBe(true);
        expect(BigInt(cost) * 60n >= exactTimes60).toBe(true);
        expect(BigInt(cost) * 60n < exactTimes60 + 60n).toBe(true);
      },
    ),
  );
});

const aClass = (name: string, tags: readonly string[], ids: readonly number[] = []): RunnerClass => ({
  name,
  tags,
  runnerIds: new Set(ids),
  microsPerMinute: 1,
});
const small = aClass('small', []);
const prices = {
  version: '1',
  classes: [aClass('gpu', ['gpu', 'linux'], [7]), aClass('linux', ['linux']), small],
  defaultClass: small,
};

test.each<[Partial<AdmissionRequest>, string, string]>([
  [{ runnerTags: ['linux', 'gpu', 'eu'] }, 'gpu', 'the first class with all its tags wins'],
  [{ runnerTags: ['linux'] }, 'linux', 'a class with a missing tag does not match'],
  [{ runnerTags: [], runnerId: 7 }, 'gpu', 'a listed runner id is enough'],
  [{ jobTags: ['linux'] }, 'linux', "the job's tags stand in for tags GitLab did not send"],
  [{ runnerTags: [], jobTags: ['linux'] }, 'small', "the runner's own tags win over the job's"],
  [{}, 'small', 'nothing known is the default class'],
])('%j is class %s: %s', (request, name) => {
  expect(runnerClassOf({ jobId: 1, ...request }, prices).name).toBe(name);
});

test.each([
  ['500', 500_000_000],
  ['500.25', 500_250_000],
  [500.1, 500_100_000],
  ['0.000001', 1],
  ['0', 0],
  ['9007199254.740991', Number.MAX_SAFE_INTEGER],
])('money %s is exactly %i micro-units', (written, micros) => {
  expect(readDecimal(written, 1_000_000)).toEqual({ ok: true, amount: micros });
});

test.each([
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1,
  '',
  '1,000',
  '1e3',
  '.5',
  '0.0000001',
  '9007199254.740992',
  1e21,
  null,
  true,
  'unlimited',
])('money %s is refused', (written) => {
  expect(readDecimal(written, 1_000_000).ok).toBe(false);
});

test.each([
  ['90s', 90],
  ['10m', 600],
  ['2h', 7_200],
  ['1h 30m', 5_400],
  ['0s', undefined],
  ['10', undefined],
  ['-1m', undefined],
  ['40d', undefined],
])('duration %s is %s seconds', (text, seconds) => {
  expect(readDurationSeconds(text)).toBe(seconds);
});
