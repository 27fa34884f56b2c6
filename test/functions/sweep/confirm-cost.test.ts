/** The price of comparing reported ends with GitLab, at a million jobs a month: calls, and writes of the checkpoint. No record is written if the ends agree. */
import { expect, test } from 'vitest';
import { INBOX_SLOT_MS, inboxSlot } from '../../../functions/core/store/keys.ts';
import { hintText } from '../../../functions/core/truth/truth-text.ts';
import { house, MINUTE_MS, range } from './house.ts';

/** In half an hour, if a month has a million. */
const JOBS = 700;
const HALF_HOURS = 3;

/** Jobs of three half hours ran; the sweep compares the ends of the first, which newer jobs follow in GitLab's lists. */
async function sweepCalls(runnerOf: (jobId: number) => number, isConfirmed: boolean) {
  const world = house();
  const { clock, gitlab, ledger } = world;
  const first = inboxSlot(clock.nowMs());
  const slots = new Map<number, readonly string[]>();
  let checkpoint = { slot: first, doneTo: 0 };
  let checkpoints = 0;
  const all = range(1, HALF_HOURS * JOBS);
  for (let half = 0; half < HALF_HOURS; half += 1) {
    const jobs = range(half * JOBS + 1, JOBS);
    await world.hold(jobs);
    const truths = jobs.map((jobId) => world.finished(jobId, 60, { runnerId: runnerOf(jobId) }));
    gitlab.put(...truths);
    await ledger.settle(
      jobs.map((jobId) => ({ jobId, durationSeconds: 60, endedAtMs: clock.nowMs() + MINUTE_MS })),
    );
    const bodies = truths.map((truth) => hintText({ groupId: 1, truth }));
    slots.set(first + half, bodies);
    clock.advance(half === 0 ? INBOX_SLOT_MS : INBOX_SLOT_MS / 4);
  }
  const records = await ledger.readRecords(all);
  const reported = {
    read: async (slot: number) => slots.get(slot) ?? [],
    readCheckpoint: async () => checkpoint,
    writeCheckpoint: async (next: typeof checkpoint) => {
      checkpoint = next;
      checkpoints += 1;
    },
  };
  await world.sweep(isConfirmed ? { reported } : {});
  expect(await ledger.readRecords(all)).toEqual(records);
  expect(checkpoint).toEqual({ slot: isConfirmed ? first + 1 : first, doneTo: 0 });
  return { calls: gitlab.total, checkpoints };
}

async function perMillion(runnerOf: (jobId: number) => number) {
  const [confirming, alone] = [await sweepCalls(runnerOf, true), await sweepCalls(runnerOf, false)];
  const scaled = (count: number): number => Math.round((count / JOBS) * 1_000_000);
  return { calls: scaled(confirming.calls - alone.calls), checkpoints: scaled(confirming.checkpoints) };
}

test.each([
  ['all jobs on one runner', () => 7, 77_143],
  ['fifty runners in turn', (jobId: number) => 10 + (jobId % 50), 214_286],
  ['a runner of its own for each job', (jobId: number) => 1_000 + jobId, 1_000_000],
])('%s: calls per million jobs, and three checkpoints for 700 jobs', async (_, runnerOf, calls) => {
  expect(await perMillion(runnerOf)).toEqual({ calls, checkpoints: 4_286 });
});
