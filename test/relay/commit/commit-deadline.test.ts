import { expect, test } from 'vitest';
import { undecided } from '../../../relay/verdict.ts';
import { commitBench, range, turn } from '../../support/relay/commit-bench.ts';
import { admittedOf } from '../../support/relay/verdicts.ts';

test('the sender is told how long the most patient of its batch still waits', async () => {
  const { ask, batches } = commitBench();
  ask(1, { deadlineMs: 500 });
  ask(2, { deadlineMs: 1_500 });
  ask(1, { deadlineMs: 900 });
  await turn();
  expect(batches[0]?.remainingMs).toBe(1_500);
});

test('a job whose time ran out in the queue is answered in time and not sent', async () => {
  const { ask, batches, pass, clock } = commitBench();
  ask(1);
  ask(2, { deadlineMs: 1_900 });
  await turn();
  await pass(255);
  ask(3);
  await pass(10);
  // Two batches are out: these wait.
  const late = ask(4, { deadlineMs: 300 });
  const deadlineMs = clock.monotonicMs() + 300;
  const patient = ask(5);
  await pass(300);
  expect(late.verdict).toEqual(undecided('deadline'));
  expect(late.answeredAtMs).toBeLessThanOrEqual(deadlineMs);
  expect(late.answeredAtMs).toBeGreaterThan(deadlineMs - 30);
  await batches[0]?.answer();
  expect(batches[2]?.jobIds).toEqual([5]);
  await batches[2]?.answer();
  expect(patient.verdict).toEqual(admittedOf({ jobId: 5 }));
});

test('a job with too little time left for a transaction is not sent', async () => {
  const { ask, batches, commit } = commitBench();
  const [hasty, calm] = [ask(1, { deadlineMs: 149 }), ask(2, { deadlineMs: 150 })];
  await turn();
  expect(hasty.verdict).toEqual(undecided('deadline'));
  expect(batches.map((batch) => batch.jobIds)).toEqual([[2]]);
  expect(calm.verdict).toBeUndefined();
  expect(commit.open).toBe(1);
});

test('a job stays in the queue as long as one of those who asked still waits', async () => {
  const { ask, batches, pass } = commitBench();
  ask(1);
  await turn();
  await pass(255);
  ask(2);
  await turn();
  const hasty = ask(3, { deadlineMs: 200 });
  const patient = ask(3, { deadlineMs: 1_000 });
  await pass(200);
  expect(hasty.verdict).toEqual(undecided('deadline'));
  await batches[0]?.answer();
  await batches[1]?.answer();
  expect(batches[2]?.jobIds).toEqual([3]);
  await batches[2]?.answer();
  expect(patient.verdict).toEqual(admittedOf({ jobId: 3 }));
  expect(hasty.verdict).toEqual(undecided('deadline'));
});

test('a verdict that comes late changes no answer and disturbs no later batch', async () => {
  const { ask, batches, pass } = commitBench();
  const late = ask(1, { deadlineMs: 400 });
  await pass(400);
  expect(late.verdict).toEqual(undecided('deadline'));
  const again = ask(1);
  await turn();
  expect(batches).toHaveLength(2);
  ask(2);
  await batches[0]?.answer([undecided('unavailable')]);
  expect(late.verdict).toEqual(undecided('deadline'));
  expect(again.verdict).toBeUndefined();
  // Job 2 waits for the batch in flight, not for the one that ended long ago.
  expect(batches).toHaveLength(2);
  await batches[1]?.answer();
  expect(again.verdict).toEqual(admittedOf({ jobId: 1 }));
});

test('asked again after the first asker gave up, a job in flight is still decided once', async () => {
  const { ask, batches, pass } = commitBench();
  const hasty = ask(1, { deadlineMs: 300 });
  ask(2);
  await pass(300);
  expect(hasty.verdict).toEqual(undecided('deadline'));
  const again = ask(1);
  await turn();
  await batches[0]?.answer();
  expect(batches).toHaveLength(1);
  expect(again.verdict).toEqual(admittedOf({ jobId: 1 }));
});

test('senders that never answer do not block a root for ever', async () => {
  const { ask, batches, pass, commit } = commitBench();
  const lost = [ask(1, { deadlineMs: 1_000 })];
  await turn();
  lost.push(ask(2, { deadlineMs: 1_000 }));
  await pass(255);
  expect(batches).toHaveLength(2);
  const next = ask(3);
  await pass(745);
  expect(lost.map(({ verdict }) => verdict)).toEqual([undecided('deadline'), undecided('deadline')]);
  expect(batches[2]?.jobIds).toEqual([3]);
  await batches[2]?.answer();
  expect(next.verdict).toEqual(admittedOf({ jobId: 3 }));
  expect(commit.open).toBe(0);
});

test('a question that arrives after its own deadline is answered at once', async () => {
  const { ask, batches, pass } = commitBench();
  const late = ask(1, { deadlineMs: -50 });
  await pass(1);
  expect(late.verdict).toEqual(undecided('deadline'));
  expect(batches).toHaveLength(0);
});

test('closing answers everybody, queued or in flight, and leaves no timer', async () => {
  const { ask, batches, pass, commit, clock } = commitBench();
  const asked = [ask(1), ask(2, { root: 2 })];
  await turn();
  asked.push(...range(3, 5).map((jobId) => ask(jobId)), ask(1));
  expect(clock.timers).toBeGreaterThan(0);
  commit.close();
  await turn();
  expect(asked.map(({ verdict }) => verdict)).toEqual(asked.map(() => undecided('stopping')));
  expect(commit.open).toBe(0);
  expect(clock.timers).toBe(0);
  for (const batch of batches) await batch.answer();
  await pass(3_000);
  expect(batches).toHaveLength(2);
});

test('what is answered leaves no deadline behind', async () => {
  const { ask, batches, pass, clock, commit } = commitBench();
  for (const jobId of range(1, 5)) ask(jobId, { root: jobId, deadlineMs: jobId * 300 });
  await turn();
  for (const batch of batches) await batch.answer();
  expect(commit.open).toBe(0);
  // The one timer was set for the first deadline and finds no other.
  await pass(300);
  expect(clock.timers).toBe(0);
});
