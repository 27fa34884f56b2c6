import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordUnmetered } from '../../../functions/core/admission/decide.ts';
import type { UnmeteredAnswer, UnmeteredResult } from '../../../functions/core/contract/admissions.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import type { Item } from '../../../functions/core/store/operation.ts';
import { consume } from '../../../functions/settle/consume.ts';
import type { UnmeteredOutcome, UnmeteredPost } from '../../../relay/admit/forward.ts';
import { journalWriter, type WriteJournal } from '../../../relay/aws/aws-json.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { createUnmetered, REFUSALS_MAX } from '../../../relay/fallback/unmetered.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { flowRules } from '../../support/flow/flow.ts';
import { MemoryStore, type StoreFault } from '../../support/ledger/memory-store.ts';
import { propertyRuns } from '../../support/property-runs.ts';

type Outcome = UnmeteredResult['outcome'];

const anAnswer = (jobId: number, jobName = 'unit', rootNamespaceId = 1): UnmeteredAnswer => ({
  request: { jobId, jobName, rootNamespaceId },
  answered: 'admitted',
  cause: 'deadline',
  answeredAtMs: 1,
});
const jobIds = (batch: readonly UnmeteredPost[]): number[] =>
  batch.map(({ json }) => JSON.parse(json).request.jobId);
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** A queue before a service that answers with `says`, per call counted from 0. */
function bench(
  says: (batch: readonly UnmeteredPost[], call: number) => UnmeteredOutcome | Promise<UnmeteredOutcome>,
  capacity = 1_000,
  writeJournal?: WriteJournal,
) {
  const clock = handClock(1_000);
  const events: Extract<RelayEvent, { type: 'unmetered' }>[] = [];
  const posts: {
    readonly batch: readonly UnmeteredPost[];
    readonly timeoutMs: number;
    readonly now: boolean;
    readonly atMs: number;
  }[] = [];
  const unmetered = createUnmetered({
    clock,
    capacity,
    writeJournal,
    random: () => 0,
    observe: (event) => {
      if (event.type === 'unmetered') events.push(event);
    },
    post: async (batch, { timeoutMs, now = false }) => {
      posts.push({ batch, timeoutMs, now, atMs: clock.monotonicMs() });
      return says(batch, posts.length - 1);
    },
  });
  const sum = (what: 'posted' | 'journaled' | 'dropped') =>
    events.reduce((total, event) => total + (event[what] ?? 0), 0);
  /** Moves to the next timer and waits until what it started is over. */
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const losses = () => events.flatMap(({ lost }) => lost ?? []);
  return { clock, events, posts, unmetered, sum, pass, losses };
}

/** Everything of a batch has come to the same, but for the jobs that are named. */
const told = (
  batch: readonly UnmeteredPost[],
  kind: Outcome = 'recorded',
  others: Readonly<Record<number, Outcome>> = {},
): Extract<UnmeteredOutcome, { kind: 'reported' }> => ({
  kind: 'reported',
  outcomes: new Map(batch.map(({ jobId }) => [jobId, others[jobId] ?? kind])),
});
const recorded = (batch: readonly UnmeteredPost[]) => told(batch);
const UNREACHABLE: UnmeteredOutcome = { kind: 'unreachable' };

test('fault 5: while the service is down, pauses double up to a minute and nothing is lost', async () => {
  let down = true;
  const { unmetered, posts, clock, pass, sum } = bench((batch) => (down ? UNREACHABLE : recorded(batch)));
  for (const jobId of numbers(1, 100)) unmetered.add(anAnswer(jobId));
  const pausesMs: number[] = [];
  for (let post = 1; post <= 9; post += 1) {
    const beforeMs = clock.monotonicMs();
    while (posts.length < post) await pass(500);
    pausesMs.push(clock.monotonicMs() - beforeMs);
  }
  // Half of the full pause, which random = 0 makes the least.
  expect(pausesMs).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([100, 0, 0]);
  down = false;
  await pass(30_000);
  expect(posts.slice(-2).flatMap(({ batch }) => jobIds(batch))).toEqual(numbers(1, 100));
  expect(unmetered.queued).toBe(0);
});

test.each(['before', 'during'] as const)(
  'on stop a post that hangs %s it costs no more than the time given, and its answers are lost by name',
  async (when) => {
    const { unmetered, pass, clock, posts, losses } = bench(() => new Promise<UnmeteredOutcome>(() => {}));
    unmetered.add(anAnswer(1));
    if (when === 'before') await pass(1_000);
    let done = false;
    const flushed = unmetered.flush(2_000).then(() => {
      done = true;
    });
    await pass(1_999);
    expect(done).toBe(false);
    await pass(1);
    await flushed;
    expect(posts).toHaveLength(1);
    expect(losses()).toEqual([{ why: 'stopping', jobIds: [1] }]);
    expect([unmetered.queued, clock.timers]).toEqual([0, 0]);
  },
);

test.each([{ content: false }, { content: true }])(
  'a service that refuses everything (content: $content) is left alone with growing pauses, and all is told when it takes them',
  async ({ content }) => {
    let refuses = true;
    const { unmetered, posts, pass, sum } = bench((batch) =>
      refuses ? { kind: 'refused', content } : recorded(batch),
    );
    for (const jobId of numbers(1, 300)) unmetered.add(anAnswer(jobId));
    for (let second = 0; second < 1_800; second += 1) await pass(1_000);
    expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([300, 0, 0]);
    expect(posts.length, 'in half an hour').toBeLessThan(150);
    refuses = false;
    for (let second = 0; second < 120; second += 1) await pass(1_000);
    expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([0, 300, 0]);
  },
);

test.each(['refused with its batch', 'invalid by name'])(
  'one answer that is %s is found, tried again, and given up by name; all others are told',
  async (how) => {
    const { unmetered, posts, pass, sum, losses } = bench((batch) => {
      const isThere = batch.some(({ jobId }) => jobId === 77);
      if (how !== 'invalid by name') return isThere ? { kind: 'refused', content: true } : recorded(batch);
      return told(batch, 'recorded', { 77: 'invalid' });
    });
    for (const jobId of numbers(1, 300)) unmetered.add(anAnswer(jobId));
    for (let second = 0; second < 20; second += 1) await pass(1_000);
    expect([unmetered.queued, sum('posted')]).toEqual([1, 299]);
    // Others come and are taken, so it is not the service that is in trouble.
    for (let minute = 1; minute <= 20; minute += 1) {
      unmetered.add(anAnswer(1_000 + minute));
      for (let second = 0; second < 60; second += 1) await pass(1_000);
    }
    expect([unmetered.queued, sum('posted'), sum('dropped')]).toEqual([0, 319, 1]);
    expect(losses()).toEqual([{ why: 'refused', jobIds: [77] }]);
    const tries = posts.filter(({ batch }) => batch.some(({ jobId }) => jobId === 77));
    expect(tries.length).toBeGreaterThanOrEqual(REFUSALS_MAX);
    if (how === 'invalid by name') expect(tries).toHaveLength(REFUSALS_MAX);
  },
);

const anOutcome = fc.constantFrom('recorded', 'undecided', 'invalid', 'unreachable', 'refused', 'too large');

test('every decision is waiting, posted, journaled or lost, and never two of these, whatever function and journal do', async () => {
  const run = fc.asyncProperty(
    fc.array(anOutcome, { minLength: 1, maxLength: 12 }),
    fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    fc.array(fc.record({ added: fc.nat({ max: 12 }), passMs: fc.nat({ max: 3_000 }) }), { maxLength: 15 }),
    async (outcomes, journalTakes, steps) => {
      let writes = 0;
      const { unmetered, pass, sum } = bench(
        (batch, call) => {
          const outcome = outcomes[call % outcomes.length] ?? 'unreachable';
          if (outcome === 'unreachable') return UNREACHABLE;
          if (outcome === 'refused' || outcome === 'too large')
            return { kind: 'refused', content: outcome === 'too large' };
          return told(batch, 'recorded', { [batch[0]?.jobId ?? 0]: outcome });
        },
        20,
        async () => {
          writes += 1;
          if (journalTakes[writes % journalTakes.length] !== true) throw new Error('no table');
        },
      );
      let added = 0;
      const isWhole = (): void =>
        expect(sum('posted') + sum('journaled') + sum('dropped') + unmetered.queued).toBe(added);
      for (const step of steps) {
        for (const _ of numbers(1, step.added)) {
          added += 1;
          unmetered.add(anAnswer(added));
        }
        isWhole();
        await pass(step.passMs);
        isWhole();
      }
      const flushed = unmetered.flush(2_000);
      for (const _ of numbers(1, 20)) await pass(100);
      await flushed;
      isWhole();
      expect(unmetered.queued).toBe(0);
    },
  );
  await fc.assert(run, { numRuns: propertyRuns(100) });
});

describe('with the journal in the table', () => {
  const INSTANCE = 'gitlab.example.com';
  const NOW_MS = Date.UTC(2026, 10, 21, 12);
  const clockAt = (nowMs: number) => ({ nowMs: () => nowMs, monotonicMs: () => 0, sleep: async () => {} });

  const ofProject = (jobId: number): UnmeteredAnswer => ({
    request: { jobId, jobName: 'build', projectId: 1001, namespaceId: 101, rootNamespaceId: 100 },
    answered: 'admitted',
    cause: 'unreachable',
    answeredAtMs: NOW_MS,
  });

  function aRelay(says = (): UnmeteredOutcome | Promise<UnmeteredOutcome> => UNREACHABLE) {
    const items: Item[] = [];
    const write = journalWriter({
      ...{ endpoint: 'https://dynamodb.example.com', table: 'tollgate-prod', instance: INSTANCE },
      nowMs: () => NOW_MS,
      fetch: async (_url, init) => {
        items.push(JSON.parse(String(init?.body)).Item);
        return new Response('{}', { status: 200 });
      },
    });
    return { ...bench(says, 1_000, write), items };
  }

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
    const relay = aRelay();
    for (const jobId of [1, 2, 3]) relay.unmetered.add(ofProject(jobId));
    for (const _ of [1, 2, 3, 4]) await relay.pass(500);
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

  test('a relay that stops writes before it asks, so that a function that hangs costs nothing', async () => {
    const relay = aRelay();
    for (const jobId of [1, 2]) relay.unmetered.add(ofProject(jobId));
    const flushed = relay.unmetered.flush(2_000);
    await relay.pass(500);
    await flushed;
    expect([relay.posts, relay.items.length, relay.sum('dropped')]).toEqual([[], 1, 0]);
  });

  test('a post that hangs while the relay stops loses no decision', async () => {
    const relay = aRelay(() => new Promise<UnmeteredOutcome>(() => {}));
    relay.unmetered.add(ofProject(1));
    await relay.pass(1_000);
    relay.unmetered.add(ofProject(2));
    expect([relay.posts.length, relay.items.length]).toEqual([1, 0]);
    const flushed = relay.unmetered.flush(2_000);
    await relay.pass(500);
    await flushed;
    expect([relay.posts.length, relay.items.length, relay.sum('dropped')]).toEqual([1, 2, 0]);
  });
});
