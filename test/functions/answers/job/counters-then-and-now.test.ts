import { expect, test } from 'vitest';
import { counterLines } from '../../../../functions/answers/job/counters.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { aDirectory, NOW_MS, someLimits } from '../../../policies/documents.ts';
import { counter, someFacts } from '../../../support/ledger/asks.ts';

/** Its counter is asked by nobody any more: only the limits say what its bound is. */
const aRecord = (subject: string): JobRecord => ({
  jobId: 1,
  state: 'SETTLED',
  generation: 1,
  rev: 1,
  facts: someFacts({}),
  claims: [
    {
      counter: counter(subject),
      unit: 'micros',
      held: 1,
      counted: 1,
      corrected: 0,
      fitted: true,
      checked: true,
    },
  ],
  violations: [],
  shadow: [],
  answered: 'ledger',
  flagged: false,
  decidedAtMs: NOW_MS,
  entries: 0,
});

const limits = someLimits(
  {
    group_defaults: [{ groups: 'acme/*', money: 3, per: 'month' }],
    personal_default: [{ money: 1, per: 'month', mode: 'warn' }],
  },
  undefined,
  aDirectory,
);

test.each([
  ['group/102', 3_000_000, 'enforce'],
  ['group/190', 1_000_000, 'warn'],
])(
  'the counter of %s, which has its limit by default, shows bound and mode of that limit',
  (subject, bound, mode) => {
    const [line] = counterLines(aRecord(subject), [], new Map(), {
      limits,
      directory: aDirectory,
      nowMs: NOW_MS,
    });
    expect(line?.now).toMatchObject({ bound, left: bound, mode });
  },
);

test('a limit that says what becomes of jobs while it cannot be asked is shown with it, and no other', () => {
  const said = someLimits({
    limits: [
      { on: { group: 101 }, money: 3, per: 'month', when_unreachable: 'reject' },
      { on: { group: 100 }, money: 3, per: 'month' },
    ],
  });
  const nowOf = (subject: string) =>
    counterLines(aRecord(subject), [], new Map(), { limits: said, directory: aDirectory, nowMs: NOW_MS })[0]
      ?.now;
  expect(nowOf('group/101')).toMatchObject({ whenUnreachable: 'reject' });
  expect(nowOf('group/100')).not.toHaveProperty('whenUnreachable');
});
