import { expect, test } from 'vitest';
import { QuestionAccounts } from '../../relay/accounts.ts';
import type { RelayEvent } from '../../relay/events.ts';
import type { AnswerQuestion } from '../../relay/exchange.ts';
import { handClock } from '../../scripts/local/clock/hand-clock.ts';

const REQUEST = { jobId: 1, jobName: 'build' };

function bench() {
  const clock = handClock(0);
  const accounts = new QuestionAccounts(clock);
  const note = (...events: readonly RelayEvent[]): void => {
    for (const event of events) accounts.note(event);
  };
  return { clock, accounts, note };
}

const answered = (more: Partial<Extract<RelayEvent, { type: 'answered' }>> = {}): RelayEvent => ({
  type: 'answered',
  answer: { outcome: 'admitted' },
  via: 'ledger',
  latencyMs: 16,
  heard: true,
  request: REQUEST,
  ...more,
});
const FALLBACK = answered({ via: 'fallback', cause: 'unreachable' });
const unmetered = (more: Partial<Extract<RelayEvent, { type: 'unmetered' }>>): RelayEvent => ({
  type: 'unmetered',
  queued: 0,
  posted: 0,
  dropped: 0,
  ...more,
});
const QUESTION: RelayEvent = { type: 'question' };

test('every way that an answer can go is accounted for, at every step', () => {
  const { accounts, note } = bench();
  note(QUESTION, answered());
  expect(accounts.unaccounted).toBe(0);
  note(QUESTION, answered({ via: 'fallback', cause: 'deadline', heard: false }));
  const { request: _, ...unread } = FALLBACK as Extract<RelayEvent, { type: 'answered' }>;
  note(QUESTION, unread);
  expect(accounts.unaccounted).toBe(0);
  for (let waiting = 1; waiting <= 4; waiting += 1) {
    note(QUESTION, FALLBACK, unmetered({ queued: waiting }));
    expect(accounts.unaccounted).toBe(0);
  }
  note(unmetered({ queued: 2, posted: 1, journaled: 1 }));
  note(unmetered({ queued: 1, dropped: 1, lost: { why: 'refused', jobIds: [1] } }));
  note(unmetered({ queued: 4, restored: 3 }));
  expect(accounts.unaccounted).toBe(0);
  expect(accounts.places).toEqual({
    asked: 7,
    restored: 3,
    open: 0,
    ledger: 1,
    unbooked: 2,
    told: 1,
    journaled: 1,
    waiting: 4,
    lost: 1,
  });
});

test('a rejection of the ledger that is in no books is kept like an answer of the fallback', () => {
  const { accounts, note } = bench();
  const violation = { rule: 'budgets', class: 'cost', mode: 'enforce', reason: { code: 'JOB_UNKNOWN' } };
  const decision = {
    outcome: 'rejected',
    decisionId: 'd-1-1',
    shadow: [],
    text: 'no',
    unwritten: true,
  } as const;
  note(QUESTION, answered({ decision: { ...decision, violations: [violation as never] } }));
  expect(accounts.unaccounted).toBe(1);
  note(unmetered({ queued: 1 }));
  expect([accounts.unaccounted, accounts.places.ledger]).toEqual([0, 0]);
});

test.each([
  { fault: 'an answer of the fallback is forgotten', events: [QUESTION, FALLBACK], unaccounted: 1 },
  {
    fault: 'an answer is told and still waits',
    events: [QUESTION, FALLBACK, unmetered({ queued: 1, posted: 1 })],
    unaccounted: 1,
  },
  { fault: 'an answer comes twice', events: [QUESTION, answered(), answered()], unaccounted: 1 },
  { fault: 'a question was never seen to be open', events: [QUESTION, QUESTION], unaccounted: 2 },
])('$fault: $unaccounted', ({ events, unaccounted }) => {
  const { accounts, note } = bench();
  note(...events);
  expect(accounts.unaccounted).toBe(unaccounted);
});

test('a question is open from when it comes until its stream has ended, and for no longer than a minute', async () => {
  const { clock, accounts, note } = bench();
  const answering: AnswerQuestion = accounts.watched(async () => ({
    answer: { outcome: 'admitted' },
    delivered: () => note(answered()),
  }));
  note(QUESTION, QUESTION);
  const ask = () => answering({ bytes: new Uint8Array(), arrivedAtMs: clock.monotonicMs() });
  const [first] = await Promise.all([ask(), ask()]);
  expect([accounts.unaccounted, accounts.places.open]).toEqual([0, 2]);
  first.delivered(true);
  expect([accounts.unaccounted, accounts.places.open]).toEqual([0, 1]);
  clock.advance(60_001);
  expect(accounts.unaccounted).toBe(1);
});
