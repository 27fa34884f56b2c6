import { expect, test } from 'vitest';
import { recordUnmetered } from '../../../functions/core/admission/decide.ts';
import type { UnmeteredAnswer } from '../../../functions/core/contract/admissions.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { MemoryStore, type StoreFault } from '../../../functions/core/ledger/memory-store.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import type { Item } from '../../../functions/core/store/operation.ts';
import { consume } from '../../../functions/settle/consume.ts';
import type { UnmeteredOutcome } from '../../../relay/admit/forward.ts';
import { journalWriter } from '../../../relay/aws/relay-items.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { createUnmetered } from '../../../relay/fallback/unmetered.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';
import { flowRules } from '../../support/flow/flow.ts';
import { turn } from '../../support/relay/commit-bench.ts';

const INSTANCE = 'gitlab.example.com';
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const clockAt = (nowMs: number) => ({ nowMs: () => nowMs, monotonicMs: () => 0, sleep: async () => {} });

const anAnswer = (jobId: number): UnmeteredAnswer => ({
  request: { jobId, jobName: 'build', projectId: 1001, namespaceId: 101, rootNamespaceId: 100 },
  answered: 'admitted',
  cause: 'unreachable',
  answeredAtMs: NOW_MS,
});

/** A table that keeps what is put, or is dead. */
function aTable() {
  const items: Item[] = [];
  const state = { isDead: false };
  const write = journalWriter({
    endpoint: 'https://dynamodb.example.com',
    table: 'tollgate-prod',
    instance: INSTANCE,
    nowMs: () => NOW_MS,
    fetch: async (_url, init) => {
      if (state.isDead) throw new Error('nobody there');
      const { TableName, Item } = JSON.parse(String(init?.body)) as { TableName: string; Item: Item };
      expect(TableName).toBe('tollgate-prod');
      items.push(Item);
      return new Response('{}', { status: 200 });
    },
  });
  return { items, state, write };
}

/** Answers on their way: to a function whose word is scripted, and to the journal. */
function aRelay(says: () => UnmeteredOutcome, clock: HandClock = handClock(1_000)) {
  const table = aTable();
  const events: RelayEvent[] = [];
  const posts: number[] = [];
  const post = async (answers: readonly { readonly jobId: number }[]): Promise<UnmeteredOutcome> => {
    posts.push(answers.length);
    return says();
  };
  const failures: unknown[] = [];
  const unmetered = createUnmetered({
    post,
    writeJournal: table.write,
    notWritten: (error) => failures.push(error),
    clock,
    random: () => 0.5,
    observe: (event) => events.push(event),
  });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 500) {
      clock.advance(500);
      await turn();
    }
  };
  const lost = (): number =>
    events.reduce((sum, event) => sum + (event.type === 'unmetered' ? event.dropped : 0), 0);
  return { ...table, clock, unmetered, posts, pass, lost, failures };
}

const UNREACHABLE: UnmeteredOutcome = { kind: 'unreachable' };
const told = (...jobIds: readonly number[]): UnmeteredOutcome => ({
  kind: 'reported',
  outcomes: new Map(jobIds.map((jobId) => [jobId, 'recorded'])),
});

const records = (items: readonly Item[]) => ({
  Records: items.map((NewImage, index) => ({
    eventName: 'INSERT',
    dynamodb: { SequenceNumber: `${index + 1}`, NewImage },
  })),
});

function books(fault?: () => StoreFault | undefined) {
  const store = new MemoryStore({ instance: INSTANCE, ...(fault && { fault }) });
  const clock = clockAt(NOW_MS + 60_000);
  const ledger = createLedger({ store, clock });
  const rules = flowRules([{ on: { group: 100 }, money: 5, per: 'month' }]);
  const currentRules = async () => rules;
  const book = (items: readonly Item[]) =>
    consume(records(items), {
      ledger,
      keys: ledgerKeys(INSTANCE),
      directoryFor: async () => rules.directory,
      recordJournal: (answers) => recordUnmetered(answers, { ledger, currentRules, clock }),
      clock,
      log: silentLog,
    });
  return { ledger, book };
}

test('without the function answers go into the table, and the stream books them once', async () => {
  const relay = aRelay(() => UNREACHABLE);
  for (const jobId of [1, 2, 3]) relay.unmetered.add(anAnswer(jobId));
  await relay.pass(2_000);
  expect(relay.unmetered.queued).toBe(0);
  expect(relay.items).toHaveLength(1);
  expect(relay.items[0]?.pk?.S).toMatch(/^gitlab\.example\.com#journal#[\w-]{36}$/);
  expect(relay.items[0]).toMatchObject({ sk: { S: 'inbox' }, v: { N: '1' } });

  const { ledger, book } = books();
  expect(await book([...relay.items, ...relay.items])).toEqual({ batchItemFailures: [] });
  for (const jobId of [1, 2, 3])
    expect(await ledger.readRecord(jobId)).toMatchObject({ state: 'HELD', answered: 'fallback' });
  const counter = { subject: 'group/100', limit: 'money-month', period: '2026-11' };
  expect(await ledger.readCounters([counter])).toMatchObject([{ committed: 3_000_000 }]);
});

test('a function that can be told is told, and nothing is written', async () => {
  const relay = aRelay(() => told(1));
  relay.unmetered.add(anAnswer(1));
  await relay.pass(2_000);
  expect([relay.posts, relay.items]).toEqual([[1], []]);
});

test('a function that refuses the caller leaves it to the journal; one that refuses the content does not', async () => {
  for (const [content, written] of [
    [false, 1],
    [true, 0],
  ] as const) {
    const relay = aRelay(() => ({ kind: 'refused', content }));
    relay.unmetered.add(anAnswer(1));
    await relay.pass(2_000);
    expect(relay.items).toHaveLength(written);
  }
});

test('an hour with neither function nor table loses nothing that fits into memory', async () => {
  const relay = aRelay(() => UNREACHABLE);
  relay.state.isDead = true;
  for (let minute = 0; minute < 60; minute += 1) {
    for (let each = 0; each < 10; each += 1) relay.unmetered.add(anAnswer(minute * 10 + each + 1));
    await relay.pass(60_000);
  }
  expect([relay.unmetered.queued, relay.items.length]).toEqual([600, 0]);
  relay.state.isDead = false;
  await relay.pass(120_000);
  const jobIds = relay.items.flatMap(({ b }) =>
    (JSON.parse(b?.S ?? '') as { answers: UnmeteredAnswer[] }).answers.map(({ request }) => request.jobId),
  );
  expect(new Set(jobIds).size).toBe(600);
  expect([relay.unmetered.queued, relay.lost()]).toEqual([0, 0]);
});

test('each batch that the table does not take is reported, and waits', async () => {
  const relay = aRelay(() => UNREACHABLE);
  relay.state.isDead = true;
  relay.unmetered.add(anAnswer(1));
  await relay.pass(1_000);
  expect([relay.failures.length, relay.unmetered.queued]).toEqual([1, 1]);
});

test('a relay that stops writes before it asks, so that a function that hangs costs nothing', async () => {
  const relay = aRelay(() => UNREACHABLE);
  for (const jobId of [1, 2]) relay.unmetered.add(anAnswer(jobId));
  const flushed = relay.unmetered.flush(2_000);
  await relay.pass(500);
  await flushed;
  expect([relay.posts, relay.items.length, relay.lost()]).toEqual([[], 1, 0]);
});

test('what was written counts as not yet booked for a minute', async () => {
  const relay = aRelay(() => UNREACHABLE);
  const isBooked = () => relay.unmetered.isBookedSince(relay.clock.monotonicMs());
  expect(isBooked()).toBe(true);
  relay.unmetered.add(anAnswer(1));
  while (relay.items.length === 0) await relay.pass(500);
  relay.clock.advance(59_999);
  expect(isBooked()).toBe(false);
  relay.clock.advance(1);
  expect(isBooked()).toBe(true);
});

test('an item that is not booked whole is read again; one that nobody can read is passed over', async () => {
  const relay = aRelay(() => UNREACHABLE);
  relay.unmetered.add(anAnswer(1));
  await relay.pass(2_000);
  const silent = books(() => ({ kind: 'lost-before' }));
  expect(await silent.book(relay.items)).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
  const bodies = ['', '{', 'null', '{"answers":1}'];
  const odd = bodies.map((b): Item => ({ ...relay.items[0], b: { S: b } }));
  expect(await books().book(odd)).toEqual({ batchItemFailures: [] });
});
