import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parameterToken, START_MS_MAX } from '../../../relay/aws/secrets.ts';
import { handClock } from '../../../scripts/local/clock.ts';

/** A parameter whose every read gives the next of what is scripted; errors are thrown, the last stays. */
function parameter(...script: readonly (string | Error)[]) {
  const clock = handClock(1_000);
  const failures: unknown[] = [];
  const parameterStore = { reads: 0 };
  const load = async (): Promise<string> => {
    const next = script[Math.min(parameterStore.reads, script.length - 1)];
    parameterStore.reads += 1;
    if (typeof next === 'string') return next;
    throw next;
  };
  const opening = parameterToken('/tollgate/prod/router-token', {
    parameter: load,
    clock,
    random: () => 1,
    failed: (error) => failures.push(error),
  });
  return { clock, failures, parameterStore, opening };
}

const denied = () => Object.assign(new Error('glrct-not-a-secret'), { name: 'AccessDeniedException' });

test('a role that works a moment later is waited for', async () => {
  const { clock, failures, parameterStore, opening } = parameter(denied(), denied(), 'glrct-one\n');
  for (let wait = 0; wait < 2; wait += 1) {
    await setImmediate();
    clock.advance(1_000);
  }
  expect((await opening).read()).toBe('glrct-one');
  expect(parameterStore.reads).toBe(3);
  expect(failures).toHaveLength(2);
  expect(clock.timers).toBe(0);
});

test.each([
  { script: denied(), told: 'AccessDeniedException' },
  { script: ' ', told: 'is empty' },
  { script: 'glrct-not-a-secret\r\nx-evil: 1', told: 'characters no token has' },
])('two minutes without a token end the start: $told, and no text of it', async ({ script, told }) => {
  const { clock, parameterStore, opening } = parameter(script);
  const ending = opening.catch((error: unknown) => error);
  for (let passedMs = 0; passedMs <= START_MS_MAX; passedMs += 10_000) {
    await setImmediate();
    clock.advance(10_000);
  }
  const error = await ending;
  expect(error).toMatchObject({ code: 'token_unreadable' });
  expect(String(error)).toContain('/tollgate/prod/router-token');
  expect(String(error)).toContain(told);
  expect(String(error)).not.toContain('not-a-secret');
  expect(parameterStore.reads).toBeLessThan(30);
});

test('a refused token is read anew, once for all the streams that were refused', async () => {
  const { clock, parameterStore, opening } = parameter('glrct-one', 'glrct-two', 'glrct-three');
  const token = await opening;
  for (let stream = 0; stream < 8; stream += 1) token.refresh();
  await setImmediate();
  expect(token.read()).toBe('glrct-two');
  token.refresh();
  await setImmediate();
  expect(parameterStore.reads).toBe(2);
  clock.advance(5_000);
  token.refresh();
  await setImmediate();
  expect(token.read()).toBe('glrct-three');
});

test('while the parameter cannot be read anew the last token stays in use', async () => {
  const { clock, failures, opening } = parameter('glrct-one', denied(), '', 'glrct-two');
  const token = await opening;
  for (let look = 0; look < 2; look += 1) {
    token.refresh();
    await setImmediate();
    expect(token.read()).toBe('glrct-one');
    clock.advance(5_000);
  }
  expect(failures).toHaveLength(2);
  token.refresh();
  await setImmediate();
  expect(token.read()).toBe('glrct-two');
});

test('a token that was put in the place of a valid one is taken within ten minutes, with one look', async () => {
  const { clock, parameterStore, opening } = parameter('glrct-one', 'glrct-two');
  const token = await opening;
  clock.advance(599_000);
  expect([token.read(), parameterStore.reads]).toEqual(['glrct-one', 1]);
  clock.advance(1_000);
  for (let stream = 0; stream < 8; stream += 1) token.read();
  await setImmediate();
  expect([token.read(), parameterStore.reads]).toEqual(['glrct-two', 2]);
});
