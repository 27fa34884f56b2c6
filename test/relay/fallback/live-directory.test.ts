import { expect, test } from 'vitest';
import { createAdmitApp } from '../../../functions/admit/app.ts';
import type { HandOutDirectory } from '../../../functions/core/admission/judge.ts';
import { directoryHandOut } from '../../../functions/core/directory/hand-out.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { Fetch } from '../../../relay/admit/admit-call.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { createLiveDirectory, DIRECTORY_AGE_MS_MAX } from '../../../relay/fallback/live-directory.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { flowRules } from '../../support/flow/flow.ts';
import { MemoryStore } from '../../support/ledger/memory-store.ts';
import { turn } from '../../support/relay/commit-bench.ts';
import { MINUTE_MS, syncBench } from '../../support/sync-bench.ts';

/** The real admit app before a synced table, and a relay's directory before that. */
function bench(change: (fetch: Fetch) => Fetch = (fetch) => fetch) {
  const sync = syncBench();
  const { groups, projects } = sync.places;
  groups.set(1, { id: 1, path: 'acme' });
  groups.set(2, { id: 2, parentId: 1, path: 'pay' });
  projects.set(11, { id: 11, namespaceId: 2, path: 'checkout' });
  const rules = flowRules([]);
  const handOutDirectory: HandOutDirectory = directoryHandOut({ table: sync.table, clock: sync.clock });
  const app = createAdmitApp({
    ledger: createLedger({ store: new MemoryStore({ instance: 'gitlab.example.com' }), clock: sync.clock }),
    currentRules: async () => rules,
    handOutDirectory,
    clock: sync.clock,
    log: silentLog,
  });
  const fetch = change(async (url, init) => app.request(new URL(url).pathname, init));
  const clock = handClock(1_000);
  const events: Extract<RelayEvent, { type: 'directory' }>[] = [];
  const live = createLiveDirectory({
    baseUrl: 'http://admit.example.com',
    fetch,
    clock,
    random: () => 0.5,
    observe: (event) => {
      if (event.type === 'directory') events.push(event);
    },
  });
  const heard = async (): Promise<void> => {
    const before = events.length;
    for (let turns = 0; events.length === before; turns += 1) {
      if (turns > 10_000) throw new Error('nothing was heard of the directory');
      await turn();
    }
  };
  const start = (): Promise<void> => {
    live.start();
    return heard();
  };
  const pass = (ms: number): Promise<void> => {
    clock.advance(ms);
    return heard();
  };
  return { sync, live, clock, events, start, pass };
}

const paths = (live: { current(): { groupById: ReadonlyMap<number, { path: string }> } | undefined }) =>
  [...(live.current()?.groupById.values() ?? [])].map(({ path }) => path).sort();

test('the groups that were synced are known within a minute, with their age, and a move is followed', async () => {
  const { sync, live, start, pass, events } = bench();
  await sync.run();
  await start();
  expect(paths(live)).toEqual(['acme', 'acme/pay']);
  // The sync passes five minutes after it listed.
  expect(live.ageMs()).toBe(5 * MINUTE_MS);
  sync.places.groups.set(3, { id: 3, path: 'other' });
  sync.places.groups.set(2, { id: 2, parentId: 3, path: 'pay' });
  await sync.run();
  await pass(MINUTE_MS);
  expect(paths(live)).toEqual(['acme', 'other', 'other/pay']);
  expect(
    live
      .current()
      ?.chainById.get(2)
      ?.map(({ id }) => id),
  ).toEqual([3, 2]);
  expect(events.at(-1)).toMatchObject({ groups: 3, ageMs: 5 * MINUTE_MS });
});

test('what is older than an hour is not known any more, until it is heard again', async () => {
  let down = false;
  const { sync, live, clock, start, pass, events } = bench((fetch) => async (url, init) => {
    if (down) throw new TypeError('down');
    return fetch(url, init);
  });
  await sync.run();
  await start();
  down = true;
  await pass(MINUTE_MS);
  expect(events.at(-1)).toMatchObject({ groups: 2, problem: expect.stringContaining('could not be called') });
  clock.advance(DIRECTORY_AGE_MS_MAX - live.ageMs());
  expect(live.current()).toBeDefined();
  clock.advance(1);
  expect(live.current()).toBeUndefined();
  await turn();
  down = false;
  await pass(15_000);
  expect(paths(live)).toEqual(['acme', 'acme/pay']);
});

test.each([
  { body: { live: true, ageMs: -1, parts: {}, changed: {} }, flaw: 'an age that is none' },
  { body: { live: true, ageMs: 0, parts: { a: 'x' }, changed: {} }, flaw: 'a part that never comes' },
  { body: { live: true, ageMs: 0, parts: {}, changed: { b: [] } }, flaw: 'a part that is not named' },
  { body: [], flaw: 'the wrong shape' },
])('$flaw is told as a problem, and what was known before stays', async ({ body }) => {
  let broken = false;
  let calls = 0;
  const { sync, live, start, pass, events } = bench((fetch) => async (url, init) => {
    const response = await fetch(url, init);
    if (broken) calls += 1;
    return broken ? Response.json(body) : response;
  });
  await sync.run();
  await start();
  broken = true;
  await pass(MINUTE_MS);
  expect(events.at(-1)?.problem).toContain('/v1/directory');
  expect(calls).toBe(1);
  expect(paths(live)).toEqual(['acme', 'acme/pay']);
});
