import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Beat } from '../../../functions/core/contract/admissions.ts';
import { HEARTBEAT_EVERY_MS, startHeartbeat } from '../../../relay/monitoring/heartbeat.ts';
import { handClock } from '../../../scripts/local/clock.ts';

const HERE = { everConnected: true, downMs: undefined, openStreams: 8 };

function beating(put?: (beat: Beat) => Promise<void>) {
  const clock = handClock(1_000);
  const beats: Beat[] = [];
  const failures: unknown[] = [];
  const relay: { status: ReturnType<Parameters<typeof startHeartbeat>[0]['status']> } = {
    status: HERE,
  };
  const stop = startHeartbeat({
    policyVersion: 'p1',
    answerWithinMs: 20_000,
    status: () => relay.status,
    put:
      put ??
      (async (beat) => {
        beats.push(beat);
      }),
    clock,
    failed: (error) => failures.push(error),
  });
  return { clock, beats, failures, relay, stop };
}

test('a relay with a stream beats every 30 s, with the time and its streams', () => {
  const { clock, beats } = beating();
  clock.advance(HEARTBEAT_EVERY_MS * 2);
  expect(beats).toEqual([
    { atMs: 1_000 + HEARTBEAT_EVERY_MS, openStreams: 8, policyVersion: 'p1', answerWithinMs: 20_000 },
    { atMs: 1_000 + 2 * HEARTBEAT_EVERY_MS, openStreams: 8, policyVersion: 'p1', answerWithinMs: 20_000 },
  ]);
});

test('a beat tells the descriptors, the age of the directory and the breaker, where the relay knows them', () => {
  const { clock, beats, relay } = beating();
  const known = { schema: { source: 'gitlab.binpb' }, directoryAgeMs: 60_000, breaker: 'open' as const };
  relay.status = { ...HERE, ...known };
  clock.advance(HEARTBEAT_EVERY_MS);
  expect(beats).toEqual([
    {
      atMs: 1_000 + HEARTBEAT_EVERY_MS,
      openStreams: 8,
      policyVersion: 'p1',
      answerWithinMs: 20_000,
      ...known,
    },
  ]);
});

test('a beat tells who waits for room, and nothing where nobody does', () => {
  const { clock, beats, relay } = beating();
  const waitingLines = [{ root: '100', counter: 'group/101|jobs-now|now', jobs: 3 }];
  relay.status = { ...HERE, waitingLines };
  clock.advance(HEARTBEAT_EVERY_MS);
  relay.status = { ...HERE, waitingLines: [] };
  clock.advance(HEARTBEAT_EVERY_MS);
  expect(beats.map((beat) => beat.waiting)).toEqual([waitingLines, undefined]);
});

test('a relay that the router cannot ask does not beat, and beats again when it can', () => {
  const { clock, beats, relay } = beating();
  relay.status = { everConnected: false, downMs: undefined, openStreams: 8 };
  clock.advance(HEARTBEAT_EVERY_MS);
  relay.status = { everConnected: true, downMs: 1, openStreams: 8 };
  clock.advance(HEARTBEAT_EVERY_MS);
  expect(beats).toEqual([]);
  relay.status = HERE;
  clock.advance(HEARTBEAT_EVERY_MS);
  expect(beats).toHaveLength(1);
});

test('a beat that the table did not take is told, and the next one is written all the same', async () => {
  const failure = new Error('no table');
  let puts = 0;
  const { clock, failures } = beating(async () => {
    puts += 1;
    throw failure;
  });
  clock.advance(HEARTBEAT_EVERY_MS * 2);
  await setImmediate();
  expect(failures).toEqual([failure, failure]);
  expect(puts).toBe(2);
});

test('nothing beats after the end', () => {
  const { clock, beats, stop } = beating();
  stop();
  clock.advance(HEARTBEAT_EVERY_MS * 3);
  expect(beats).toEqual([]);
  expect(clock.timers).toBe(0);
});
