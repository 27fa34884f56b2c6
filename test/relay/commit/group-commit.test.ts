import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REQUEST_BYTES_MAX, SECOND_BATCH_MS } from '../../../relay/commit/group-commit.ts';
import { createLanes } from '../../../relay/commit/lanes.ts';
import { undecided } from '../../../relay/exchange.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { type Asked, commitBench, range, type SentBatch, turn } from '../../support/relay/commit-bench.ts';
import { admittedOf } from '../../support/relay/decisions.ts';

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

test('unrelated roots do not wait for each other, and share calls once eight are out', async () => {
  const { ask, batches } = commitBench();
  for (const root of range(1, 8)) {
    ask(root, { root });
    await turn();
  }
  expect(batches.map(({ jobIds }) => jobIds)).toEqual(range(1, 8).map((id) => [id]));
  for (const root of range(9, 12)) ask(root, { root });
  await turn();
  expect(batches).toHaveLength(8);
  await batches[0]?.answer();
  expect(batches[8]?.jobIds).toEqual([9, 10]);
  await batches[1]?.answer();
  expect(batches[9]?.jobIds).toEqual([11, 12]);
});

test('roots that fight for a shared counter go by one lane, those that wait already included', async () => {
  const lanes = createLanes(handClock());
  const { ask, batches } = commitBench({ lanes });
  const [one, apart] = [1, 2];
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
      expect(asked.map(({ decision }) => decision)).toEqual(
        range(1, jobs).map((id) => admittedOf({ jobId: id })),
      );
      expect(commit.open).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test('a request that would push its neighbours out of their batch is not sent', async () => {
  const { ask, batches } = commitBench();
  const large = ask(1, { padding: REQUEST_BYTES_MAX });
  const small = ask(2);
  await turn();
  await batches[0]?.answer();
  expect(large.decision).toEqual(undecided('oversized'));
  expect(small.decision).toEqual(admittedOf({ jobId: 2 }));
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
  expect(asked.map(({ decision }) => decision)).toEqual(
    [1, 1, 2, 1, 1].map((jobId) => admittedOf({ jobId })),
  );
});

describe('deadlines of jobs', () => {
  test('senders that never answer do not block a root for ever', async () => {
    const { ask, batches, pass, commit } = commitBench();
    const lost = [ask(1, { deadlineMs: 1_000 })];
    await turn();
    lost.push(ask(2, { deadlineMs: 1_000 }));
    await pass(255);
    expect(batches).toHaveLength(2);
    const next = ask(3);
    await pass(745);
    expect(lost.map(({ decision }) => decision)).toEqual([undecided('deadline'), undecided('deadline')]);
    expect(batches[2]?.jobIds).toEqual([3]);
    await batches[2]?.answer();
    expect(next.decision).toEqual(admittedOf({ jobId: 3 }));
    expect(commit.open).toBe(0);
  });
});
