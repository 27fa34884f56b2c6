import { expect, test } from 'vitest';
import type { Violation } from '../../policies/reason.ts';
import type { SendBatch } from '../../relay/commit/group-commit.ts';
import { framesOf, ownFault } from '../../relay/events.ts';
import { startEmf, WRITE_EVERY_MS } from '../../relay/monitoring/cloudwatch.ts';
import { createLogger, logEvents } from '../../relay/monitoring/log.ts';
import { measuredOf } from '../support/emf-spec.ts';
import { breachesOn } from '../support/relay/alarm-state.ts';
import { answeringBench, questionOf } from '../support/relay/answering-bench.ts';
import { range, turn } from '../support/relay/commit-bench.ts';
import { admittedOf, quotaViolation, rejectedFor } from '../support/relay/verdicts.ts';

const admitsAll = (): SendBatch => async (jobs) => jobs.map((job) => admittedOf(job.request));
/** A verdict that passed every check and still breaks who reads it. */
const broken = rejectedFor({
  ...quotaViolation('group/1'),
  reason: { code: 'BUDGET_EXHAUSTED', limit: 'money-month', subject: 42 },
} as unknown as Violation);

test('what breaks between a readable request and its answer: admitted, recorded, told as our fault, and neighbours are decided', async () => {
  const { ask, ofType, unmetered } = answeringBench({
    send: () => async (jobs) =>
      jobs.map(({ request }) => (request.jobId % 2 === 0 ? broken : admittedOf(request))),
  });
  const asked = range(1, 60).map((jobId) => ask(questionOf(jobId)));
  await turn();
  await turn();
  expect(asked.map(({ answers }) => answers)).toEqual(asked.map(() => [{ outcome: 'admitted' }]));
  expect(ofType('answered').filter(({ via }) => via === 'ledger')).toHaveLength(30);
  expect(ofType('answered').filter(({ cause }) => cause === 'error')).toHaveLength(30);
  expect(unmetered.queued).toBe(30);
  expect(ofType('own_fault').map(({ place, error }) => `${place} ${error}`)).toEqual(
    Array(30).fill('decide TypeError'),
  );
});

test('what breaks while a question is read: admitted, told as our fault, and neither the schema nor the job is blamed', async () => {
  const { ask, ofType } = answeringBench({
    send: admitsAll,
    judge: ({ jobId }) => {
      if (jobId === 2) throw new RangeError('a value from outside');
      return 'plausible';
    },
  });
  const asked = [1, 2, 3].map((jobId) => ask(questionOf(jobId)));
  await turn();
  await turn();
  expect(asked.map(({ answers }) => answers)).toEqual(asked.map(() => [{ outcome: 'admitted' }]));
  expect(ofType('own_fault')).toMatchObject([{ place: 'read', error: 'RangeError' }]);
  expect(ofType('unreadable')).toEqual([]);
});

test('a batch that ends in an exception is our fault: every job of it is admitted and recorded', async () => {
  const { ask, ofType, unmetered } = answeringBench({
    send: () => async () => {
      throw new TypeError('a bug');
    },
  });
  const asked = range(1, 10).map((jobId) => ask(questionOf(jobId)));
  await turn();
  await turn();
  expect(asked.map(({ answers }) => answers)).toEqual(asked.map(() => [{ outcome: 'admitted' }]));
  expect(unmetered.queued).toBe(10);
  expect(ofType('own_fault')).toMatchObject([{ place: 'batch', error: 'TypeError' }]);
});

test('the minute in which it happened turns the alarm on by its own formula, and a quiet one does not', async () => {
  const { ask, clock, events } = answeringBench({ send: () => async (jobs) => jobs.map(() => broken) });
  const lines: string[] = [];
  const emf = startEmf({
    deployment: 'production',
    clock,
    random: () => 0.5,
    write: (line) => lines.push(line),
  });
  ask(questionOf(1));
  await turn();
  await turn();
  for (const event of events) emf.observe(event);
  clock.advance(2 * WRITE_EVERY_MS);
  emf.stop();
  const [first = '', second = ''] = lines;
  expect(breachesOn(measuredOf(first).values)).toContain('OwnFaults');
  expect(breachesOn(measuredOf(second).values)).not.toContain('OwnFaults');
});

test('one mistake is one line a minute, with its frames and without its message', () => {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => lines.push(line) });
  const observe = logEvents(log, { nowMs: () => 0, monotonicMs: () => 0, after: () => () => {} });
  const error = new TypeError('glcbt-not-a-secret');
  for (const _ of range(1, 100)) observe(ownFault('decide', error));
  observe(ownFault('tell', error));
  expect(lines).toHaveLength(2);
  const [first = ''] = lines;
  expect(JSON.parse(first)).toMatchObject({ level: 'error', place: 'decide', error: 'TypeError' });
  expect(JSON.parse(first).at[0]).toMatch(/own-faults\.test\.ts(\?\S+)?:\d+/);
  expect(lines.join()).not.toContain('not-a-secret');
});

test('what is thrown may be anything', () => {
  expect(ownFault('read', 'text')).toEqual({ type: 'own_fault', place: 'read', error: 'string', frames: [] });
  expect(framesOf(undefined)).toEqual([]);
});
