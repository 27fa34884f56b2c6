import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import { createBreaker } from '../../../relay/admit/breaker.ts';
import { createForwarder } from '../../../relay/admit/forward.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import { systemRelayClock } from '../../../relay/relay.ts';
import { admitApp, flowRules, listen } from '../../support/flow/flow.ts';

const ROOTS = 40;
const PER_SECOND = 100;
const SECONDS = 3;
const CALLS_BEFORE = 50;
const THROTTLED_MIN = 30;
/** More than a relay has, so that the machine's own slowness frees no job. */
const DEADLINE_MS = 30_000;

test('300 ms of 429 over real HTTP, jobs of 40 roots coming at 100 a second: none is free', async () => {
  const { app } = admitApp(
    new MemoryStore({ instance: 'burst.example.com' }),
    flowRules([{ on: { group: 100 }, money: 1_000_000, per: 'month' }]),
  );
  let calls = 0;
  let throttled = 0;
  let burstUntilMs: number | undefined;
  const front = new Hono();
  front.post('*', (c) => {
    calls += 1;
    if (calls <= CALLS_BEFORE) return app.fetch(c.req.raw);
    burstUntilMs ??= systemRelayClock.monotonicMs() + 300;
    // A machine that stands still for a moment must not sleep through the burst.
    if (systemRelayClock.monotonicMs() >= burstUntilMs && throttled >= THROTTLED_MIN)
      return app.fetch(c.req.raw);
    throttled += 1;
    return c.body(null, 429);
  });
  const server = await listen(front);
  const events: RelayEvent[] = [];
  const observe = (event: RelayEvent): void => void events.push(event);
  const { send } = createForwarder({
    baseUrl: server.url,
    fetch,
    clock: systemRelayClock,
    random: Math.random,
    breaker: createBreaker(
      () => systemRelayClock.monotonicMs(),
      (state) => observe({ type: 'breaker', state }),
    ),
    observe,
  });
  const commit = createGroupCommit({ send, clock: systemRelayClock, observe, defer: setImmediate });
  const outcomes = await Promise.all(
    Array.from({ length: PER_SECOND * SECONDS }, async (_, index) => {
      await new Promise<void>((arrive) => systemRelayClock.after((index * 1_000) / PER_SECOND, arrive));
      const root = 100 + (index % ROOTS);
      const request = { jobId: index + 1, projectId: root, namespaceId: root, rootNamespaceId: root };
      return (await commit.decide(request, systemRelayClock.monotonicMs() + DEADLINE_MS)).outcome;
    }),
  );
  commit.close();
  await server.close();
  expect(throttled, 'there was a burst').toBeGreaterThanOrEqual(THROTTLED_MIN);
  expect(outcomes.filter((outcome) => outcome !== 'admitted')).toEqual([]);
  expect(events.filter(({ type }) => type === 'breaker')).toEqual([]);
});
