import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LimitRoom } from '../../functions/core/contract/admissions.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { RoomFile } from '../../relay/kept-rooms.ts';
import { SLOTS_MAX } from '../../relay/limit-room.ts';
import { RelayRoom } from '../../relay/room.ts';
import { handClock } from '../../scripts/local/clock/hand-clock.ts';
import { aPolicy, NOW_MS } from '../policies/documents.ts';
import { range } from '../support/relay/commit-bench.ts';

const HOUR_MS = 3_600_000;

let folder: string;
const file = () => join(folder, 'tollgate-rooms.json');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-rooms-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A job costs one EUR. */
const budgetWith = (leftEur: number): LimitRoom => ({
  policy: 'room',
  refusal: {
    rule: 'budgets',
    class: 'cost',
    mode: 'enforce',
    reason: {
      code: 'BUDGET_EXHAUSTED',
      subject: 'group/100',
      subjectLabel: 'acme',
      limit: 'money-month',
      unit: 'micros',
      limitAmount: 100_000_000,
      committed: 100_000_000 - leftEur * 1_000_000,
      settled: 0,
      asked: 1_000_000,
      zone: 'UTC',
    },
  },
});

const aJob = (jobId: number): AdmissionRequest => ({
  jobId,
  projectId: 1_000,
  namespaceId: 100,
  rootNamespaceId: 100,
  timeoutSeconds: 3_600,
});

/** One relay's life on this disk. */
function aRelay(atMs = 0) {
  const clock = { ...handClock(atMs), nowMs: () => NOW_MS + atMs };
  const failures: unknown[] = [];
  const isSettled = () => true;
  const room = new RelayRoom({
    ...{ clock, isSettled, policy: aPolicy(), relays: 1 },
    directory: () => undefined,
    changed: (how) => roomFile.changed(how),
  });
  const roomFile = new RoomFile({ folder, clock, room, failed: (error) => failures.push(error) });
  return {
    room,
    roomFile,
    clock,
    failures,
    told: (leftEur: number) => room.tell({ rooms: [budgetWith(leftEur)], admitted: [], askedAtMs: atMs }),
    admits: (jobIds: readonly number[]) => jobIds.filter((jobId) => room.take(aJob(jobId)) === undefined),
  };
}

test('a relay that starts in an outage goes on with what is left, and asks nothing again of whom it admitted', () => {
  const first = aRelay();
  first.told(3);
  expect(first.admits([1, 2])).toEqual([1, 2]);
  first.roomFile.write();
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  const next = aRelay(5_000);
  next.roomFile.restore();
  expect(next.admits([2, 3, 4, 1, 5])).toEqual([2, 3, 1]);
});

test('a limit that begins anew does so for the next relay as well', () => {
  const { room } = aRelay();
  const [daily, forever] = [{ ...budgetWith(3), periodMs: 24 * HOUR_MS }, budgetWith(3)];
  for (const told of [daily, forever]) {
    room.tell({ rooms: [told], admitted: [], askedAtMs: 0 });
    expect(room.keep('given').rooms.map((kept) => kept.room)).toEqual([told]);
  }
});

test('what the ledger admitted since it told is not left for the next relay, whether this one has deducted it or not', () => {
  const { room, clock, admits } = aRelay();
  const tell = (jobs: readonly number[], rooms: readonly LimitRoom[] = []): void => {
    clock.advance(100);
    room.tell({ rooms, admitted: jobs.map(aJob), askedAtMs: clock.monotonicMs() });
  };
  const remainingEur = (how: 'told' | 'given') =>
    room.keep(how).rooms.map(({ left, spent }) => (left - spent) / 1_000_000);
  tell([1], [budgetWith(0)]);
  // The one before, and the ones that come with it, are in what is told.
  tell([2, 3], [budgetWith(9)]);
  tell([4, 5]);
  expect([remainingEur('told'), remainingEur('given')]).toEqual([[9], [7]]);
  expect(admits([6])).toEqual([6]);
  expect([remainingEur('told'), remainingEur('given')]).toEqual([[6], [6]]);
  tell([7]);
  expect([remainingEur('told'), remainingEur('given')]).toEqual([[6], [5]]);
});

test('a relay that knows of no limits writes nothing down of whom it admits', () => {
  const { room, admits } = aRelay();
  expect(admits([1, 2])).toEqual([1, 2]);
  expect(room.keep('given').given).toEqual([]);
});

test('where nothing is left, jobs that ask for nothing start no more either', () => {
  const { room, admits } = aRelay();
  const { refusal, ...budget } = budgetWith(0);
  const reason = { ...refusal.reason, unit: 'millicpu', limit: 'cpu', limitAmount: 0, committed: 0 };
  room.tell({
    rooms: [{ ...budget, refusal: { ...refusal, reason } as LimitRoom['refusal'] }],
    ...{ admitted: [], askedAtMs: 0 },
  });
  expect(admits([1])).toEqual([]);
});

test('what the ledger tells is newer, but what an earlier relay gave is not taken to be in it at once', () => {
  const first = aRelay();
  first.told(5);
  first.admits([1, 2]);
  first.roomFile.write();
  const next = aRelay(5_000);
  next.roomFile.restore();
  next.told(4);
  expect(next.admits([3, 4, 5])).toEqual([3, 4]);
});

test('it is written soon after room is given, later where the ledger tells it anew, and once for many', () => {
  const { told, admits, clock } = aRelay();
  told(5);
  clock.advance(9_999);
  expect(existsSync(file())).toBe(false);
  clock.advance(1);
  expect(existsSync(file())).toBe(true);
  rmSync(file());
  admits([1]);
  admits([2]);
  clock.advance(999);
  expect(existsSync(file())).toBe(false);
  clock.advance(1);
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({ version: 1, given: [1, 2] });
  expect(existsSync(`${file()}.new`)).toBe(false);
});

test.each([
  ['is of a day ago', 24 * HOUR_MS + 1],
  ['is of a time to come', -1],
])('a room that %s is none', (_, laterMs) => {
  const first = aRelay();
  first.told(0);
  first.roomFile.write();
  const next = aRelay(laterMs);
  next.roomFile.restore();
  expect(next.admits([1])).toEqual([1]);
});

test('a room of exactly a day ago, with as many slots as are waited for, is one', () => {
  const first = aRelay();
  first.told(0);
  first.roomFile.write();
  const { rooms, ...rest } = JSON.parse(readFileSync(file(), 'utf8'));
  const slots = Array.from({ length: SLOTS_MAX }, () => ({ endsMs: 1, amount: 0 }));
  writeFileSync(file(), JSON.stringify({ ...rest, rooms: [{ ...rooms[0], slots }] }));
  const next = aRelay(24 * HOUR_MS);
  next.roomFile.restore();
  expect(next.admits([1])).toEqual([]);
});

test('a file that nobody can read is none, and an entry that nobody can read spoils itself only', () => {
  const first = aRelay();
  first.told(0);
  first.roomFile.write();
  const text = readFileSync(file(), 'utf8');
  const [kept] = JSON.parse(text).rooms;
  const odd = [
    null,
    {},
    { ...kept, left: 'much' },
    { ...kept, slots: [{}] },
    { ...kept, slots: [{ endsMs: 'soon', amount: 1 }] },
    { ...kept, slots: [{ endsMs: 1 }] },
    { ...kept, slots: Array.from({ length: SLOTS_MAX + 1 }, () => ({ endsMs: 1, amount: 1 })) },
    { ...kept, room: { policy: 'room' } },
  ];
  const unreadable = [
    'no JSON',
    text.slice(0, -9),
    '[]',
    text.replace('"version":1', '"version":2'),
    JSON.stringify({ version: 1, rooms: odd, given: ['x'] }),
    `${text}${' '.repeat(9 * 1024 * 1024)}`,
  ];
  for (const content of unreadable) {
    writeFileSync(file(), content);
    const next = aRelay();
    next.roomFile.restore();
    expect(next.admits([1])).toEqual([1]);
  }
  writeFileSync(file(), JSON.stringify({ version: 1, rooms: [...odd, kept], given: [] }));
  const next = aRelay();
  next.roomFile.restore();
  expect(next.admits([1])).toEqual([]);
});

test('a disk that cannot be written to is told, and the rooms are in memory', () => {
  const { roomFile, told, admits, failures } = aRelay();
  rmSync(folder, { recursive: true });
  told(2);
  roomFile.write();
  expect(failures).toHaveLength(1);
  expect(admits(range(1, 3))).toEqual([1, 2]);
});
