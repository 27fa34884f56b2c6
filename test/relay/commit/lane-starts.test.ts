/** A lane starts once for all questions of a network read, and once for what is planned: questions cost no starts of their own. */
import { expect, test } from 'vitest';
import { createGroupCommit, REQUEST_BYTES_MAX, SECOND_BATCH_MS } from '../../../relay/commit/group-commit.ts';
import type { LedgerVerdict } from '../../../relay/verdict.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { turn } from '../../support/relay/commit-bench.ts';
import { admittedOf } from '../../support/relay/verdicts.ts';

/** Starts wait until they are told to run. */
function house() {
  const clock = handClock(1_000);
  const starts: (() => void)[] = [];
  const sent: { readonly jobIds: readonly number[]; readonly answer: () => Promise<void> }[] = [];
  const commit = createGroupCommit({
    clock,
    observe: () => {},
    defer: (run) => void starts.push(run),
    send: (jobs) =>
      new Promise<readonly LedgerVerdict[]>((resolve) => {
        const jobIds = jobs.map(({ request }) => request.jobId);
        const answer = (): Promise<void> => {
          resolve(jobs.map(({ request }) => admittedOf(request)));
          return turn();
        };
        sent.push({ jobIds, answer });
      }),
  });
  const ask = (jobId: number, deadlineMs = 2_000, image = ''): Promise<LedgerVerdict> =>
    commit.decide({ jobId, projectId: 1, rootNamespaceId: 1, image }, clock.monotonicMs() + deadlineMs);
  return {
    ...{ clock, starts, sent, ask },
    runStarts: () => {
      for (const run of starts.splice(0)) run();
    },
    sentIds: () => sent.map(({ jobIds }) => jobIds),
  };
}

test('forty questions of one read start their lane once', () => {
  const { ask, starts, runStarts, sent } = house();
  for (let jobId = 1; jobId <= 40; jobId += 1) void ask(jobId);
  expect(starts).toHaveLength(1);
  runStarts();
  expect(sent).toHaveLength(1);
});

test('what comes while a second batch is planned starts nothing, and goes with it', () => {
  const { ask, starts, runStarts, clock, sentIds } = house();
  void ask(1);
  runStarts();
  void ask(2);
  runStarts();
  void ask(3);
  expect(starts).toEqual([]);
  clock.advance(SECOND_BATCH_MS);
  expect(sentIds()).toEqual([[1], [2, 3]]);
});

test('where all that waits came too late, nothing is sent', async () => {
  const { ask, runStarts, sent } = house();
  const late = ask(1, 100);
  runStarts();
  expect(sent).toEqual([]);
  expect(await late).toEqual({ outcome: 'undecided', cause: 'deadline' });
});

test('a lane that is about to start is not forgotten with the end of its batch: its root still has one batch at a time', async () => {
  const { ask, runStarts, clock, sent, sentIds } = house();
  void ask(1);
  runStarts();
  void ask(2, 200);
  clock.advance(200);
  await sent[0]?.answer();
  void ask(3);
  runStarts();
  void ask(4);
  runStarts();
  expect(sentIds()).toEqual([[1], [3]]);
});

test('a request as large as one may be is sent', async () => {
  const { ask, runStarts, sentIds } = house();
  const without = Buffer.byteLength(
    JSON.stringify({ jobId: 1, projectId: 1, rootNamespaceId: 1, image: '' }),
  );
  const over = ask(2, 2_000, 'x'.repeat(REQUEST_BYTES_MAX - without + 1));
  void ask(1, 2_000, 'x'.repeat(REQUEST_BYTES_MAX - without));
  runStarts();
  expect(await over).toEqual({ outcome: 'undecided', cause: 'oversized' });
  expect(sentIds()).toEqual([[1]]);
});
