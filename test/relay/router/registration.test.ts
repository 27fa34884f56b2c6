import { expect, test } from 'vitest';
import type { RelayEvent } from '../../../relay/events.ts';
import { randomInstanceId, startRegistration } from '../../../relay/router/registration.ts';
import { RouterStatus, STATUS } from '../../../relay/router/router.ts';
import { handClock } from '../../../scripts/local/clock.ts';

/** A registration before a router that answers with `outcomes`, in turn; the last one stays. */
function bench(...outcomes: (number | 'ok' | 'never')[]) {
  let closed: (error: Error) => void = () => {};
  const clock = handClock(1_000);
  const events: RelayEvent[] = [];
  const registered: bigint[] = [];
  const unregistered: bigint[] = [];
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  const answer = (outcome: number | 'ok' | 'never' | undefined): Promise<void> => {
    if (outcome === 'never')
      return new Promise((_resolve, reject) => {
        closed = reject;
      });
    return outcome === 'ok' || outcome === undefined
      ? Promise.resolve()
      : Promise.reject(new RouterStatus(outcome, 'refused'));
  };
  const router = {
    register: (instanceId: bigint) => {
      registered.push(instanceId);
      return answer(outcomes.length > 1 ? outcomes.shift() : outcomes[0]);
    },
    unregister: (instanceId: bigint) => {
      unregistered.push(instanceId);
      return answer(outcomes[0]);
    },
  };
  const start = () =>
    startRegistration({
      router,
      clock,
      random: () => 0.5,
      observe: (event) => events.push(event),
      instanceId: 7n,
    });
  /** As a channel does with calls that are under way when it is closed. */
  const close = (): void => closed(new RouterStatus(STATUS.UNAVAILABLE, 'Channel has been shut down'));
  return { clock, events, registered, unregistered, settle, start, close };
}

test('the controller registers at the start and every three minutes, with one instance id', async () => {
  const { start, clock, settle, registered, events } = bench('ok');
  start();
  await settle();
  clock.advance(180_000);
  await settle();
  clock.advance(180_000);
  await settle();
  expect(registered).toEqual([7n, 7n, 7n]);
  expect(events.map((event) => event.type)).toEqual(['registered', 'registered', 'registered']);
});

test('a failed registration is an event and is tried again after a minute, before the router forgets', async () => {
  const { start, clock, settle, events } = bench(STATUS.UNAVAILABLE, 'ok');
  start();
  await settle();
  clock.advance(60_000);
  await settle();
  expect(events).toEqual([
    { type: 'registration_failed', code: 14, details: 'refused' },
    { type: 'registered' },
  ]);
});

test.each([
  { code: STATUS.UNAVAILABLE, minutes: [1, 2, 3, 3, 3] },
  { code: STATUS.UNIMPLEMENTED, minutes: [1, 2, 4, 8, 16, 32, 60, 60] },
])(
  'a router that refuses to register with $code is asked again after $minutes minutes',
  async ({ code, minutes }) => {
    const { start, clock, settle, registered, events } = bench(code);
    start();
    await settle();
    for (const [index, pause] of minutes.entries()) {
      clock.advance(pause * 60_000 - 1);
      await settle();
      expect(registered).toHaveLength(index + 1);
      clock.advance(1);
      await settle();
      expect(registered).toHaveLength(index + 2);
    }
    expect(events[0]).toEqual({ type: 'registration_failed', code, details: 'refused' });
  },
);

test('a router that refuses registration once gets the next one, and is told goodbye at the end', async () => {
  const { start, clock, settle, events, unregistered } = bench(STATUS.UNIMPLEMENTED, 'ok');
  const registration = start();
  await settle();
  clock.advance(60_000);
  await settle();
  expect(events.map(({ type }) => type)).toEqual(['registration_failed', 'registered']);
  await registration.stop();
  expect(unregistered).toEqual([7n]);
});

test('stopping takes the announcement back and ends the period', async () => {
  const { start, clock, settle, registered, unregistered } = bench('ok');
  const registration = start();
  await settle();
  await registration.stop();
  clock.advance(3_600_000);
  await settle();
  expect(unregistered).toEqual([7n]);
  expect(registered).toHaveLength(1);
});

test('a router that does not answer the goodbye holds up the end for two seconds at most', async () => {
  const { start, clock, settle, events, close } = bench('ok', 'never');
  const registration = start();
  await settle();
  const stopping = registration.stop();
  clock.advance(2_000);
  await stopping;
  // The relay closes the router next: that the goodbye fails by it is nobody's news.
  close();
  await settle();
  expect(events.map(({ type }) => type)).toEqual(['registered']);
});

test('a goodbye that the router refuses is told', async () => {
  const { start, settle, events } = bench('ok', STATUS.UNAVAILABLE);
  const registration = start();
  await settle();
  await registration.stop();
  expect(events.at(-1)).toMatchObject({ type: 'registration_failed', details: 'taking it back: refused' });
});

test('instance ids are positive int64 and differ from start to start', () => {
  const ids = Array.from({ length: 100 }, randomInstanceId);
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) expect(id > 0n && id < 2n ** 63n).toBe(true);
});
