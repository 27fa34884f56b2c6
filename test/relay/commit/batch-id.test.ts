import { expect, test } from 'vitest';
import { createGroupCommit, type SendBatch } from '../../../relay/commit/group-commit.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { turn } from '../../support/relay/commit-bench.ts';

/** Batches called 1, 2, 3 …, none of which is ever answered unless told. */
function bench() {
  const clock = handClock(1_000);
  const sent: { readonly jobIds: readonly number[]; readonly batch: string | undefined }[] = [];
  const events: RelayEvent[] = [];
  const send: SendBatch = (jobs, _, batch) => {
    sent.push({ jobIds: jobs.map(({ request }) => request.jobId), batch });
    return new Promise(() => {});
  };
  let count = 0;
  const commit = createGroupCommit({
    send,
    clock,
    observe: (event) => events.push(event),
    defer: setImmediate,
    newBatchId: () => {
      count += 1;
      return String(count);
    },
  });
  const heard: string[] = [];
  const ask = (jobId: number, root: number): void =>
    void commit.decide({ jobId, rootNamespaceId: root }, clock.monotonicMs() + 2_000, (batch) =>
      heard.push(`${jobId} in ${batch}`),
    );
  return { sent, events, heard, ask };
}

test('whoever asks is told the name by which the batch goes out', async () => {
  const { ask, sent, heard, events } = bench();
  ask(1, 7);
  ask(2, 7);
  ask(3, 8);
  await turn();
  expect(sent).toEqual([
    { jobIds: [1, 2], batch: '1' },
    { jobIds: [3], batch: '2' },
  ]);
  expect(heard).toEqual(['1 in 1', '2 in 1', '3 in 2']);
  expect(events).toMatchObject([
    { type: 'batch', id: '1' },
    { type: 'batch', id: '2' },
  ]);
});

test('who asks about a job that is out already is told its batch, too', async () => {
  const { ask, heard } = bench();
  ask(1, 7);
  await turn();
  ask(1, 7);
  expect(heard).toEqual(['1 in 1', '1 in 1']);
});
