import { expect, test } from 'vitest';
import type { LimitRoom } from '../../functions/core/contract/admissions.ts';
import type { Violation } from '../../policies/reason.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { HandedRooms } from '../../relay/handed-rooms.ts';
import type { KeptLimitRoom } from '../../relay/limit-room.ts';
import { type KeptRooms, RelayRoom } from '../../relay/room.ts';
import { handClock } from '../../scripts/local/clock/hand-clock.ts';
import { aPolicy } from '../policies/documents.ts';
import { turn } from '../support/relay/commit-bench.ts';

const refusal = (subject: string, limit: string, leftEur: number): Violation => ({
  ...{ rule: 'budgets', class: 'cost', mode: 'enforce' },
  reason: {
    ...{ code: 'BUDGET_EXHAUSTED', subject, subjectLabel: subject, limit, unit: 'micros', zone: 'UTC' },
    ...{ limitAmount: 100_000_000, committed: 100_000_000 - leftEur * 1_000_000 },
    ...{ settled: 0, asked: 1_000_000 },
  },
});

/** A job costs one EUR. */
const budgetWith = (leftEur: number, subject = 'group/100'): LimitRoom => ({
  policy: 'room',
  refusal: refusal(subject, 'money-month', leftEur),
});

const aJob = (jobId: number, root = 100): AdmissionRequest => ({
  ...{ jobId, projectId: 1_000, namespaceId: root, rootNamespaceId: root, timeoutSeconds: 3_600 },
});

/** A relay, and the table's part of what it knows. */
function aRelay(left: readonly KeptRooms[] = []) {
  const clock = handClock();
  const writes: KeptRooms[] = [];
  const failures: unknown[] = [];
  const table = { isGone: false };
  const room = new RelayRoom({
    ...{ clock, isSettled: () => true, policy: aPolicy(), relays: 1, directory: () => undefined },
    changed: (how) => handed.changed(how),
  });
  const write = async (kept: KeptRooms): Promise<void> => {
    if (table.isGone) throw new Error('gone');
    writes.push(kept);
  };
  const handed = new HandedRooms({ left, write, clock, room, failed: (error) => failures.push(error) });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await turn();
  };
  return {
    ...{ clock, handed, room, writes, failures, table, pass },
    told: (leftEur: number) => room.tell({ rooms: [budgetWith(leftEur)], admitted: [], askedAtMs: 0 }),
    admits: (...jobIds: readonly number[]) => jobIds.filter((jobId) => room.take(aJob(jobId)) === undefined),
  };
}

test('while the ledger answers nothing is written, however often it tells', async () => {
  const { told, pass, writes, handed } = aRelay();
  for (let second = 0; second < 60; second += 1) {
    told(60 - second);
    await pass(1_000);
  }
  expect(writes).toEqual([]);
  await handed.leave();
  expect(writes).toMatchObject([{ rooms: [{ left: 1_000_000, spent: 0 }] }]);
});

test('a relay that was told of no limit leaves nothing', async () => {
  const { handed, writes, admits } = aRelay();
  expect(admits(1)).toEqual([1]);
  await handed.leave();
  expect(writes).toEqual([]);
});

test('what is given is written within a second, once for many, and again when more is', async () => {
  const { told, admits, pass, writes } = aRelay();
  told(5);
  admits(1, 2);
  await pass(999);
  expect(writes).toEqual([]);
  await pass(1);
  expect(writes.map(({ given }) => given)).toEqual([[1, 2]]);
  await pass(60_000);
  expect(writes).toHaveLength(1);
  admits(3);
  await pass(1_000);
  expect(writes.map(({ given }) => given)).toEqual([
    [1, 2],
    [1, 2, 3],
  ]);
});

test('a refusal is written where the table does not know yet what it goes by, and then no more', async () => {
  const { told, admits, pass, writes } = aRelay();
  told(0);
  for (let jobId = 1; jobId <= 20; jobId += 1) {
    expect(admits(jobId)).toEqual([]);
    await pass(1_000);
  }
  expect(writes).toMatchObject([{ rooms: [{ left: 0 }], given: [] }]);
});

test('a table that takes nothing is tried every ten seconds, and gets what is known then', async () => {
  const { told, admits, pass, writes, failures, table } = aRelay();
  told(5);
  table.isGone = true;
  admits(1);
  await pass(1_000);
  await pass(9_999);
  expect(failures).toHaveLength(1);
  admits(2);
  await pass(1);
  expect(failures).toHaveLength(2);
  table.isGone = false;
  await pass(10_000);
  expect(writes.map(({ given }) => given)).toEqual([[1, 2]]);
});

test('a relay that stops writes a last time, and never after that', async () => {
  const { told, admits, pass, writes, handed } = aRelay();
  told(5);
  admits(1);
  await handed.leave();
  expect(writes.map(({ given }) => given)).toEqual([[1]]);
  admits(2);
  await pass(60_000);
  await handed.leave();
  expect(writes.map(({ given }) => given)).toEqual([[1], [1, 2]]);
});

test('a write on its way is waited for, and what came meanwhile goes after it', async () => {
  const clock = handClock();
  const writes: KeptRooms[] = [];
  let release = (): void => {};
  const room = new RelayRoom({
    ...{ clock, isSettled: () => true, policy: aPolicy(), relays: 1, directory: () => undefined },
    changed: (how) => handed.changed(how),
  });
  const write = (kept: KeptRooms): Promise<void> => {
    writes.push(kept);
    return new Promise((resolve) => {
      release = resolve;
    });
  };
  const handed = new HandedRooms({ left: [], write, clock, room, failed: () => {} });
  room.tell({ rooms: [budgetWith(5)], admitted: [], askedAtMs: 0 });
  room.take(aJob(1));
  clock.advance(1_000);
  room.take(aJob(2));
  clock.advance(60_000);
  expect(writes).toHaveLength(1);
  release();
  await turn();
  clock.advance(1_000);
  expect(writes.map(({ given }) => given)).toEqual([[1], [1, 2]]);
  const left = handed.leave();
  release();
  await left;
  expect(writes).toHaveLength(2);
});

const NOW_MS = handClock().nowMs();
const kept = (
  leftEur: number,
  part: Partial<KeptLimitRoom> = {},
  given: readonly number[] = [],
): KeptRooms => ({
  rooms: [
    {
      ...{
        room: budgetWith(leftEur),
        left: leftEur * 1_000_000,
        toldAtMs: NOW_MS - 1_000,
        spent: 0,
        slots: [],
      },
      ...part,
    },
  ],
  given,
});

test('of what others wrote the newest counts, less the most that any of them gave', () => {
  const relay = aRelay([
    kept(9, { toldAtMs: NOW_MS - 5_000, spent: 3_000_000 }, [1]),
    kept(5, { spent: 1_000_000 }, [2]),
    kept(8, { toldAtMs: NOW_MS - 9_000 }, [3]),
  ]);
  relay.handed.restore();
  // 5 are left and 3 given; whoever was admitted once spends nothing more.
  expect(relay.admits(1, 2, 3, 11, 12, 13)).toEqual([1, 2, 3, 11, 12]);
});

test('what was given in a period that is over is not taken from the next one', () => {
  const relay = aRelay([
    kept(9, { toldAtMs: NOW_MS - 5_000, spent: 9_000_000, resetsAtMs: NOW_MS - 2_000 }),
    kept(2, { resetsAtMs: NOW_MS + 3_600_000 }),
  ]);
  relay.handed.restore();
  expect(relay.admits(1, 2, 3)).toEqual([1, 2]);
});

test('slots of jobs that have ended since are not taken for the most that was given', () => {
  const ended = { endsMs: NOW_MS, amount: 4_000_000 };
  const running = { endsMs: NOW_MS + 60_000, amount: 2_000_000 };
  const relay = aRelay([
    kept(5, { spent: 4_000_000, slots: [ended] }),
    kept(5, { spent: 3_000_000, slots: [{ ...running, amount: 3_000_000 }] }),
    kept(5, { spent: 2_000_000, slots: [running] }),
  ]);
  relay.handed.restore();
  expect(relay.admits(1, 2, 3)).toEqual([1, 2]);
});

test('limits of others are limits of their own', () => {
  const other = {
    ...kept(0),
    rooms: [{ ...kept(0).rooms[0], room: budgetWith(0, 'group/200') } as KeptLimitRoom],
  };
  const relay = aRelay([kept(1), other]);
  relay.handed.restore();
  expect(relay.admits(1, 2)).toEqual([1]);
  expect(relay.room.take(aJob(3, 200))).toBeDefined();
  expect(relay.room.take(aJob(4, 300))).toBeUndefined();
});
