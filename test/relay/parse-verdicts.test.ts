import { expect, test } from 'vitest';
import { parseVerdicts } from '../../relay/match-answers.ts';

const violation = {
  rule: 'budgets',
  class: 'cost',
  mode: 'enforce',
  reason: { code: 'BUDGET_EXHAUSTED', later: 'field' },
};
const admitted = { outcome: 'admitted', decisionId: 'd-1', shadow: [] };
const rejected = {
  outcome: 'rejected',
  decisionId: 'd-2',
  violations: [violation],
  shadow: [{ ...violation, mode: 'shadow' }],
  text: 'BUDGET_EXHAUSTED: acme has used its budget.',
};
const malformed = { outcome: 'undecided', cause: 'malformed' };

test('decisions of the contract come through as they are, fields of a newer service included', () => {
  const decisions = [admitted, rejected, { ...admitted, terms: { group: 'acme' }, later: 1 }];
  expect(parseVerdicts({ decisions, later: true }, 3)).toEqual(decisions);
});

test.each(['invalid', 'deadline', 'contended', 'unavailable', 'error'])(
  'undecided by %s comes through',
  (cause) => {
    const decision = { outcome: 'undecided', cause };
    expect(parseVerdicts({ decisions: [decision] }, 1)).toEqual([decision]);
  },
);

test.each([
  { body: undefined },
  { body: null },
  { body: 'decisions' },
  { body: [admitted, admitted] },
  { body: {} },
  { body: { decisions: { 0: admitted, length: 2 } } },
  { body: { decisions: [] } },
  { body: { decisions: [admitted] } },
  { body: { decisions: [admitted, admitted, admitted] } },
])('fault 5: $body is no answer to two requests: nobody gets the decision of a neighbour', ({ body }) => {
  expect(parseVerdicts(body, 2)).toBeUndefined();
});

test.each([
  { decision: null, flaw: 'no object' },
  { decision: { ...admitted, outcome: 'allowed' }, flaw: 'an unknown outcome' },
  { decision: { ...admitted, decisionId: '' }, flaw: 'an empty decision id' },
  { decision: { ...admitted, shadow: undefined }, flaw: 'no shadow list' },
  { decision: { ...admitted, shadow: [{ rule: 'budgets' }] }, flaw: 'half a violation' },
  { decision: { ...rejected, text: '' }, flaw: 'a rejection without a text' },
  { decision: { ...rejected, text: 7 }, flaw: 'a text that is none' },
  { decision: { ...rejected, violations: [] }, flaw: 'a rejection without a reason' },
  { decision: { ...rejected, violations: [{ ...violation, reason: {} }] }, flaw: 'a reason without a code' },
  {
    decision: { ...rejected, violations: [{ ...violation, reason: { ...violation.reason, subject: 42 } }] },
    flaw: 'a subject that is a number',
  },
  {
    decision: { ...rejected, shadow: [{ ...violation, reason: { ...violation.reason, limitAmount: '7' } }] },
    flaw: 'an amount that is a text',
  },
  {
    decision: { ...rejected, shadow: [{ ...violation, mode: 'off' }] },
    flaw: 'a mode that violates nothing',
  },
  { decision: { ...admitted, terms: { group: 7 } }, flaw: 'a group that is a number' },
  { decision: { ...admitted, terms: { costMicros: null } }, flaw: 'a cost that is nothing' },
  { decision: { ...admitted, terms: [] }, flaw: 'terms that are a list' },
  { decision: { outcome: 'undecided', cause: 'not-a-secret' }, flaw: 'a cause that would become a label' },
  { decision: { outcome: 'undecided', cause: 'circuit_open' }, flaw: 'a cause only the relay may give' },
])('fault 14: $flaw spoils one decision, and its neighbours stand', ({ decision }) => {
  expect(parseVerdicts({ decisions: [admitted, decision, rejected] }, 3)).toEqual([
    admitted,
    malformed,
    rejected,
  ]);
});

const waiting = {
  outcome: 'waiting',
  leftMs: 20_000,
  counters: ['group/1|jobs-now|now'],
  violations: [violation],
  text: 'full',
};

test('a job that may wait comes through', () => {
  expect(parseVerdicts({ decisions: [waiting] }, 1)).toEqual([waiting]);
});

test.each([
  { leftMs: 0 },
  { leftMs: '20s' },
  { leftMs: Number.POSITIVE_INFINITY },
  { counters: [] },
  { counters: [''] },
  { counters: Array.from({ length: 65 }, (_, at) => `c${at}`) },
  { violations: [] },
  { text: '' },
])('one that cannot be kept waiting by what is said, %j, is malformed', (part) => {
  expect(parseVerdicts({ decisions: [{ ...waiting, ...part }] }, 1)).toEqual([malformed]);
});
