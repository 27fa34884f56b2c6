import fc from 'fast-check';
import { expect, test } from 'vitest';
import { REQUEST_BYTES_MAX, SECOND_BATCH_MS } from '../../../relay/commit/group-commit.ts';
import { createLanes } from '../../../relay/commit/lanes.ts';
import { undecided } from '../../../relay/verdict.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { type Asked, commitBench, range, type SentBatch, turn } from '../../support/relay/commit-bench.ts';
import { admittedOf } from '../../support/relay/verdicts.ts';

test('questions of one network read share a batch', async () => {
  const { ask, batches, events } = commitBench();
  for (const jobId of [1, 2, 3]) ask(jobId);
  expect(batches).toHaveLength(0);
  await turn();
  expect(batches.map((batch) => batch.jobIds)).toEqual([[1, 2, 3]]);
  expect(events).toEqual([{ type: 'batch', lane: 'quiet 4', jobs: 3, waiters: 3 }]);
});

test('one batch is in flight per root, and what queued meanwhile is the next one', async () => {
  const { ask, batches, pass } = commitBench();
  ask(1);
  await turn();
  for (const jobId of [2, 3, 4]) {
    ask(jobId);
    await pass(20);
  }
  expect(batches).toHaveLength(1);
  await batches[0]?.answer();
  expect(batches.map((batch) => batch.jobIds)).toEqual([[1], [2, 3, 4]]);
});

test('a second batch starts 250 ms after the first, and never a third', async () => {
  const { ask, batches, pass, clock } = commitBench();
  const startMs = clock.monotonicMs();
  ask(1);
  await turn();
  ask(2);
  await pass(SECOND_BATCH_MS - 1);
  ask(3);
  await turn();
  expect(batches).toHaveLength(1);
  await pass(1);
  expect(batches[1]).toMatchObject({ jobIds: [2, 3], atMs: startMs + 250 });
  ask(4);
  await pass(1_000);
  expect(batches).toHaveLength(2);
  await batches[1]?.answer();
  expect(batches[2]?.jobIds).toEqual([4]);
});

test('a burst that meets a batch out for long still shares one batch', async () => {
  const { ask, batches, pass } = commitBench();
  ask(1);
  await pass(300);
  for (const jobId of range(2, 41)) ask(jobId);
  await turn();
  expect(batches.map((batch) => batch.jobIds.length)).toEqual([1, 40]);
});

test('when the older of two batches ends, the younger one counts as first', async () => {
  const { ask, batches, pass } = commitBench();
  ask(1);
  await turn();
  ask(2);
  await pass(250);
  ask(3);
  await turn();
  await batches[0]?.answer();
  expect(batches).toHaveLength(2);
  await pass(240);
  expect(batches).toHaveLength(2);
  await pass(10);
  expect(batches[2]?.jobIds).toEqual([3]);
});

test('roots do not wait for each other', async () => {
  const { ask, batches } = commitBench();
  ask(1, { root: 1 });
  await turn();
  ask(2, { root: 2 });
  ask(3, { root: 1 });
  await turn();
  expect(batches.map((batch) => [batch.root, ...batch.jobIds])).toEqual([
    ['1', 1],
    ['2', 2],
  ]);
});

/** Roots that share a lane, and one of another. */
function neighbours(): { readonly one: number; readonly other: number; readonly apart: number } {
  const { laneOf } = createLanes(handClock());
  const [one = 0, other = 0] = range(1, 200).filter((root) => laneOf(String(root)) === 'quiet 0');
  const apart = range(1, 200).find((root) => laneOf(String(root)) === 'quiet 7') ?? 0;
  return { one, other, apart };
}

test('quiet roots of one lane share a batch, and what comes meanwhile is the next one', async () => {
  const { ask, batches } = commitBench();
  const { one, other } = neighbours();
  ask(1, { root: one });
  ask(2, { root: other });
  await turn();
  ask(3, { root: other });
  ask(4, { root: one });
  await turn();
  await batches[0]?.answer();
  expect(batches.map(({ jobIds }) => jobIds)).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('a flooding root delays a neighbour of its lane by one turn, whatever number of projects it has', async () => {
  const { ask, batches } = commitBench();
  const { one, other } = neighbours();
  for (const jobId of range(1, 500)) ask(jobId, { root: one, project: jobId });
  await turn();
  for (const jobId of [1_001, 1_002]) ask(jobId, { root: other });
  await batches[0]?.answer();
  expect(batches[1]?.jobIds).toHaveLength(96);
  expect(batches[1]?.jobIds.slice(0, 4)).toEqual([97, 1_001, 98, 1_002]);
});

test('beside a flooding root, fifteen quiet ones of its lane have their share of each batch, and their jobs wait for no second', async () => {
  const lanes = createLanes(handClock());
  const [flooding = 0, ...quiet] = range(1, 16);
  lanes.noteContended('instance', [flooding, ...quiet].map(String));
  const { ask, batches } = commitBench({ lanes });
  const rounds = 12;
  for (const jobId of range(1, 2_000)) ask(jobId, { root: flooding, project: jobId });
  await turn();
  for (const round of range(1, rounds)) {
    // From one job each to a sixteenth of a batch.
    const each = 1 + (round % 6);
    const jobIds = range(1, each).flatMap((place) =>
      quiet.map((root) => 10_000 * round + 100 * root + place),
    );
    for (const jobId of jobIds) ask(jobId, { root: Math.floor((jobId % 10_000) / 100) });
    await batches.at(-1)?.answer();
    const next = batches[round]?.jobs ?? [];
    expect(next).toHaveLength(96);
    const ofQuiet = next.flatMap(({ request, root }) => (root === String(flooding) ? [] : [request.jobId]));
    expect(new Set(ofQuiet)).toEqual(new Set(jobIds));
  }
});

test('when a flood fills the queue, no job of its quiet neighbours leaves it', async () => {
  const lanes = createLanes(handClock());
  const [flooding = 0, ...quiet] = range(1, 16);
  lanes.noteContended('instance', [flooding, ...quiet].map(String));
  const { ask, batches } = commitBench({ lanes, queuedMax: 100 });
  for (const jobId of range(1, 90)) ask(jobId, { root: flooding });
  const asked = quiet.map((root) => ask(1_000 + root, { root }));
  for (const jobId of range(91, 180)) ask(jobId, { root: flooding });
  await turn();
  await batches[0]?.answer();
  expect(asked.map(({ verdict }) => verdict?.outcome)).toEqual(quiet.map(() => 'admitted'));
});

test('roots that fight for a shared counter go by one lane, those that wait already included', async () => {
  const lanes = createLanes(handClock());
  const { ask, batches } = commitBench({ lanes });
  const { one, apart } = neighbours();
  ask(1, { root: one });
  ask(2, { root: apart });
  await turn();
  ask(3, { root: one });
  ask(4, { root: apart });
  await turn();
  lanes.noteContended('instance', [String(one), String(apart)]);
  await batches[1]?.answer();
  expect(batches).toHaveLength(2);
  await batches[0]?.answer();
  expect(batches.map(({ jobIds }) => jobIds)).toEqual([[1], [2], [3, 4]]);
  ask(5, { root: apart });
  await turn();
  expect(batches).toHaveLength(3);
});

test('roots that no longer fight wait for each other no longer', async () => {
  const clock = handClock();
  const lanes = createLanes(clock);
  const { ask, batches } = commitBench({ lanes });
  const { one, apart } = neighbours();
  lanes.noteContended('instance', [String(one), String(apart)]);
  ask(1, { root: one });
  await turn();
  ask(2, { root: apart });
  await turn();
  expect(batches).toHaveLength(1);
  clock.advance(10_000);
  ask(3, { root: apart });
  await turn();
  expect(batches.map(({ jobIds }) => jobIds)).toEqual([[1], [2, 3]]);
});

test('whatever roots fight for while jobs come and batches end: each job is sent once and answered once', async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('ask' as const), root: fc.nat(12) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat(5) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('fight' as const),
        counter: fc.constantFrom('a', 'b'),
        roots: fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(10, 300, 900) }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = handClock(1_000);
      const lanes = createLanes(clock);
      const { ask, batches, commit, pass } = commitBench({ lanes, clock });
      const left: SentBatch[] = [];
      let seen = 0;
      let jobs = 0;
      const asked: Asked[] = [];
      for (const one of steps) {
        if (one.do === 'ask') {
          jobs += 1;
          asked.push(ask(jobs, { root: one.root, deadlineMs: 60_000 }));
        } else if (one.do === 'answer')
          await left.splice(one.which % Math.max(1, left.length), 1)[0]?.answer();
        else if (one.do === 'fight') lanes.noteContended(one.counter, one.roots.map(String));
        else await pass(one.ms);
        await turn();
        left.push(...batches.slice(seen));
        seen = batches.length;
      }
      for (; left.length > 0; seen = batches.length) {
        await left.shift()?.answer();
        // Who moves to another lane goes with the next turn.
        await turn();
        left.push(...batches.slice(seen));
      }
      const sent = batches.flatMap(({ jobIds }) => jobIds);
      expect(sent.toSorted((a, b) => a - b)).toEqual(range(1, jobs));
      expect(asked.map(({ verdict }) => verdict)).toEqual(
        range(1, jobs).map((id) => admittedOf({ jobId: id })),
      );
      expect(commit.open).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test('500 questions at once of one root are six batches of at most 96, one after the other', async () => {
  const { ask, batches, commit } = commitBench();
  const asked = range(1, 500).map((jobId) => ask(jobId));
  await turn();
  for (let index = 0; index < 6; index += 1) {
    expect(batches).toHaveLength(index + 1);
    await batches[index]?.answer();
  }
  expect(batches.map((batch) => batch.jobIds.length)).toEqual([96, 96, 96, 96, 96, 20]);
  expect(asked.map(({ verdict }) => verdict)).toEqual(range(1, 500).map((jobId) => admittedOf({ jobId })));
  expect(commit.open).toBe(0);
});

test('a batch stays below 300 KB', async () => {
  const { ask, batches } = commitBench();
  for (const jobId of range(1, 7)) ask(jobId, { padding: 60_000 });
  await turn();
  await batches[0]?.answer();
  expect(batches.map((batch) => batch.jobIds.length)).toEqual([5, 2]);
});

test('a request that would push its neighbours out of their batch is not sent', async () => {
  const { ask, batches } = commitBench();
  const large = ask(1, { padding: REQUEST_BYTES_MAX });
  const small = ask(2);
  await turn();
  await batches[0]?.answer();
  expect(large.verdict).toEqual(undecided('oversized'));
  expect(small.verdict).toEqual(admittedOf({ jobId: 2 }));
  expect(batches[0]?.jobIds).toEqual([2]);
});

test('asked twice while it waits, or while in flight, a job is sent once and everybody is answered', async () => {
  const { ask, batches, events } = commitBench();
  const asked = [ask(1), ask(1), ask(2)];
  await turn();
  asked.push(ask(1), ask(1));
  await turn();
  await batches[0]?.answer();
  expect(batches.map((batch) => batch.jobIds)).toEqual([[1, 2]]);
  expect(events).toMatchObject([{ jobs: 2, waiters: 3 }]);
  expect(asked.map(({ verdict }) => verdict)).toEqual([1, 1, 2, 1, 1].map((jobId) => admittedOf({ jobId })));
});

test('asked again after its answer, a job is sent again', async () => {
  const { ask, batches } = commitBench();
  ask(1);
  await turn();
  await batches[0]?.answer();
  const again = ask(1);
  await turn();
  await batches[1]?.answer();
  expect(again.verdict).toEqual(admittedOf({ jobId: 1 }));
  expect(batches).toHaveLength(2);
});

test('each job gets the verdict of its own place', async () => {
  const { ask, batches } = commitBench();
  const asked = range(1, 3).map((jobId) => ask(jobId));
  await turn();
  const verdicts = [undecided('contended'), admittedOf({ jobId: 2 }), undecided('invalid')];
  await batches[0]?.answer(verdicts);
  expect(asked.map(({ verdict }) => verdict)).toEqual(verdicts);
});

test('a sender that fails or answers for fewer jobs than it got leaves nobody waiting', async () => {
  const { ask, batches } = commitBench();
  const [first, second, third] = [ask(1), ask(2), ask(3, { root: 2 })];
  await turn();
  await batches[0]?.answer([admittedOf({ jobId: 1 })]);
  await batches[1]?.fail();
  expect(first?.verdict).toEqual(admittedOf({ jobId: 1 }));
  expect(second?.verdict).toEqual(undecided('deadline'));
  expect(third?.verdict).toEqual(undecided('error'));
});

test('two projects share the batches of their root, however many jobs one of them has', async () => {
  const { ask, batches } = commitBench();
  for (const jobId of range(1, 300)) ask(jobId, { project: 1 });
  for (const jobId of range(1_001, 1_010)) ask(jobId, { project: 2 });
  await turn();
  expect(batches[0]?.jobIds).toHaveLength(96);
  expect(batches[0]?.jobIds.filter((jobId) => jobId > 1_000)).toEqual(range(1_001, 1_010));
});

test('beyond the queue’s bound the newest job of whoever has the most is not queued; others are unharmed', async () => {
  const { ask, batches } = commitBench({ queuedMax: 10 });
  const many = range(1, 8).map((jobId) => ask(jobId, { project: 1 }));
  const few = range(11, 14).map((jobId) => ask(jobId, { project: 2, root: 2 }));
  await turn();
  expect(many.map(({ verdict }) => verdict)).toEqual([
    ...Array.from({ length: 6 }, () => undefined),
    undecided('queue_full'),
    undecided('queue_full'),
  ]);
  for (const batch of batches) await batch.answer();
  expect(few.map(({ verdict }) => verdict)).toEqual(range(11, 14).map((jobId) => admittedOf({ jobId })));
});
