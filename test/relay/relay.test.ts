import { expect, test } from 'vitest';
import { ADMISSIONS_PATH } from '../../functions/core/contract/admissions.ts';
import type { RelayEvent } from '../../relay/events.ts';
import { createRelay } from '../../relay/relay.ts';
import { loadSchema } from '../../relay/wire/schema.ts';
import { handClock } from '../../scripts/local/clock.ts';
import { questionOf } from '../support/relay/answering-bench.ts';
import { turn } from '../support/relay/commit-bench.ts';
import { FakeCall } from '../support/relay/pool-bench.ts';

/** A container that is told to stop is killed after this. */
const STOP_MS_MAX = 10_000;
/** More patience with the service than there is time to stop. */
const DEADLINE_MS = 10_000;

/** A whole relay before a fake router, with a service that never answers. */
function stuckRelay() {
  const clock = handClock(1_000);
  const calls: FakeCall[] = [];
  const events: RelayEvent[] = [];
  let posts = 0;
  const never = (): Promise<never> => new Promise(() => {});
  const relay = createRelay({
    router: {
      admitJob: (listener) => {
        const call = new FakeCall(listener);
        calls.push(call);
        listener.onWaiting();
        return call;
      },
      register: async () => {},
      unregister: never,
      close: () => {},
    },
    schema: loadSchema(),
    admitUrl: 'http://admit.invalid',
    fetch: (url) => {
      if (url.endsWith(ADMISSIONS_PATH)) posts += 1;
      return never();
    },
    deadlineMs: DEADLINE_MS,
    fallback: 'admit',
    observe: (event) => events.push(event),
    clock,
    random: () => 0.5,
  });
  const settle = async (): Promise<void> => {
    for (let time = 0; time < 5; time += 1) await turn();
  };
  return { relay, clock, calls, events, settle, posts: () => posts };
}

test('a stop leaves no question without an answer, however patient the deadline and however silent the service', async () => {
  const { relay, clock, calls, events, settle, posts } = stuckRelay();
  relay.start();
  const [asked] = calls;
  asked?.listener.onRequest(questionOf(1));
  await settle();
  expect(posts(), 'the question is at the service').toBe(1);

  const startedMs = clock.monotonicMs();
  let stopped = false;
  const stop = relay.stop().then(() => {
    stopped = true;
  });
  while (!stopped && clock.monotonicMs() - startedMs < STOP_MS_MAX) {
    clock.advance(100);
    await settle();
    // As the router does: what is answered ends.
    if (asked?.answered !== undefined) asked.end();
  }
  expect(stopped, 'within the time a container has').toBe(true);
  await stop;
  expect(events.filter(({ type }) => type === 'answered')).toMatchObject([
    { answer: { outcome: 'admitted' }, via: 'fallback', cause: 'stopping', heard: true },
  ]);
  expect(calls.filter((call) => !call.ended)).toEqual([]);
});
