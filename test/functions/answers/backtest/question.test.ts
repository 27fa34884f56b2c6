import { expect, test } from 'vitest';
import { BacktestQuestions } from '../../../../functions/answers/backtest/question.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { aDirectory, aPolicy, someLimits } from '../../../policies/documents.ts';
import { someFacts } from '../../../support/ledger/asks.ts';

const prices = [
  {
    version: 'a',
    classes: [
      { name: 'small', rate_per_minute: '0.10' },
      { name: 'large', tags: ['large'], rate_per_minute: '0.50' },
    ],
    default_class: 'small',
  },
  {
    version: 'b',
    from: '2026-12-01',
    classes: [
      { name: 'small', rate_per_minute: '0.20' },
      { name: 'large', tags: ['large'], rate_per_minute: '0.60' },
    ],
    default_class: 'small',
  },
];

const decided = (iso: string, runnerClass: string): JobRecord => ({
  jobId: 1,
  state: 'HELD',
  generation: 1,
  rev: 1,
  facts: someFacts({ runnerClass }),
  claims: [],
  violations: [],
  shadow: [],
  answered: 'ledger',
  flagged: false,
  decidedAtMs: Date.parse(iso),
  entries: 0,
});

test('a job of which only the class is known is asked at the price that class had at its decision', () => {
  const policy = aPolicy({ prices });
  const questions = new BacktestQuestions({
    policy,
    limits: someLimits({ limits: [] }, policy),
    directory: aDirectory,
  });
  const price = (iso: string, runnerClass: string) => {
    const {
      microsPerMinute,
      priceVersion,
      runnerClass: found,
    } = questions.of(decided(iso, runnerClass)).ask.facts;
    return [found, microsPerMinute, priceVersion];
  };
  expect(price('2026-11-30T23:59:59.999Z', 'large')).toEqual(['large', 500_000, 'a']);
  expect(price('2026-12-01T00:00:00Z', 'large')).toEqual(['large', 600_000, 'b']);
  expect(price('2026-11-30T00:00:00Z', 'gone')).toEqual(['small', 100_000, 'a']);
});

test('rules that compare variables say what they said then, because no record has a value', () => {
  const policy = aPolicy({
    rules: [
      { id: 'center', kind: 'variables', mode: 'enforce', require: ['CENTER'] },
      { id: 'tier', kind: 'timeout', mode: 'enforce', max: '1m', match: { variables: { TIER: ['dev'] } } },
      { id: 'image', kind: 'image', mode: 'enforce', allow: ['b'] },
    ],
  });
  const questions = new BacktestQuestions({
    policy,
    limits: someLimits({ limits: [] }, policy),
    directory: aDirectory,
  });
  const record = decided('2026-11-30T00:00:00Z', 'small');
  const asked = (variables: 'none' | 'some', violations: JobRecord['violations'] = []) => {
    const facts = { ...record.facts, asked: { image: 'a', variables } };
    return questions.of({ ...record, facts, violations }).ask.violations.map(({ rule }) => rule);
  };
  expect(asked('none')).toEqual(['image']);
  expect(asked('some')).toEqual(['image']);
  const reason = { code: 'VARIABLE_NOT_ALLOWED', variable: 'CENTER', why: 'required' } as const;
  const then = { rule: 'center', class: 'security', mode: 'enforce', reason } as const;
  expect(asked('none', [then])).toEqual(['image', 'center']);
});
