import type { Reason } from '../../../policies/reason.ts';

export const month = {
  limit: 'money-month',
  subject: 'group/101',
  subjectLabel: 'group acme/payments',
  unit: 'micros',
  limitAmount: 500_000_000,
  asked: 2_400_000,
  periodLabel: 'November 2026',
  resetsAtMs: Date.UTC(2026, 10, 30, 23),
  zone: 'Europe/Berlin',
  owner: 'payments-leads',
} as const;

/** A limit that never starts anew by itself. */
export const once = {
  limit: 'money-once',
  subject: 'group/101',
  subjectLabel: 'group acme/payments',
  unit: 'micros',
  limitAmount: 500_000_000,
  asked: 2_400_000,
} as const;

const now = { subject: 'group/100', subjectLabel: 'group acme', settled: 0 } as const;

export const spent: Reason = {
  code: 'BUDGET_EXHAUSTED',
  ...month,
  committed: 500_000_000,
  settled: 498_700_000,
};

export const minutes: Reason = {
  ...spent,
  unit: 'seconds',
  limitAmount: 60_000,
  asked: 600,
  committed: 59_700,
  settled: 59_700,
};

export const spentForGood: Reason = {
  code: 'BUDGET_EXHAUSTED',
  ...once,
  committed: 498_000_000,
  settled: 490_000_000,
};

export const slots: Reason = {
  code: 'CONCURRENCY_FULL',
  ...now,
  limit: 'jobs-now',
  unit: 'jobs',
  limitAmount: 20,
  asked: 1,
  committed: 20,
};

export const cpu: Reason = {
  code: 'CAPACITY_FULL',
  ...now,
  limit: 'cpu-now',
  unit: 'millicpu',
  limitAmount: 12_000,
  asked: 4_000,
  committed: 10_500,
};

export const memory: Reason = {
  code: 'CAPACITY_FULL',
  ...now,
  limit: 'memory-now',
  unit: 'bytes',
  limitAmount: 6 * 2 ** 30,
  asked: 2 ** 30,
  committed: 6 * 2 ** 30,
};

export const hourFull: Reason = {
  code: 'WINDOW_FULL',
  ...now,
  limit: 'starts-hour',
  unit: 'starts',
  limitAmount: 30,
  asked: 1,
  committed: 30,
  periodLabel: 'the hour from 12:00 UTC on 21 November 2026',
  resetsAtMs: Date.UTC(2026, 10, 21, 13),
  zone: 'Europe/Berlin',
};

export const soft: Reason = {
  code: 'SOFT_LIMIT',
  ...month,
  limitAmount: 400_000_000,
  committed: 398_700_000,
  settled: 380_000_000,
};

export const alone: Reason = { code: 'EXCEEDS_LIMIT_ALONE', ...month, limitAmount: 2_000_000 };
export const blocked: Reason = { code: 'EXCEEDS_LIMIT_ALONE', ...month, limitAmount: 0 };
/** Nobody set it to 0: more was spent in October than there was. */
export const indebted: Reason = { ...blocked, overdrawn: 620_000_000 };
