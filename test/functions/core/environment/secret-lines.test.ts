import { expect, test } from 'vitest';
import type { Log } from '../../../../functions/core/environment/environment.ts';
import { secretLines } from '../../../../functions/core/environment/secrets.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';

const MINUTE_MS = 60_000;

function aReader(answers: readonly (string | Error)[]) {
  const clock = manualClock();
  const left = [...answers];
  let loads = 0;
  const lines: string[] = [];
  const note = (message: string, fields?: object): void =>
    void lines.push(JSON.stringify({ message, ...fields }));
  const log: Log = { info: note, warn: note, error: note };
  const read = secretLines({
    load: async () => {
      loads += 1;
      const next = left.shift() ?? new Error('nothing more');
      if (next instanceof Error) throw next;
      return next;
    },
    clock,
    log,
  });
  return { read, clock, lines, loads: () => loads };
}

test('calls at the same time and within five minutes read once; after that a new secret is taken', async () => {
  const { read, clock, loads } = aReader(['a', 'b']);
  expect(await Promise.all([read(), read()])).toEqual([['a'], ['a']]);
  clock.advance(5 * MINUTE_MS - 1);
  expect(await read()).toEqual(['a']);
  expect(loads()).toBe(1);
  clock.advance(1);
  expect(await read()).toEqual(['b']);
});

test('while they cannot be read the last ones go on for an hour, asked for again every ten seconds at most', async () => {
  const failure = new Error('throttled reading /tollgate/secret');
  const { read, clock, lines, loads } = aReader(['a', failure, failure, failure]);
  await read();
  clock.advance(6 * MINUTE_MS);
  expect([await read(), await read()]).toEqual([['a'], ['a']]);
  expect(loads()).toBe(2);
  clock.advance(10_000);
  expect(await read()).toEqual(['a']);
  expect(loads()).toBe(3);
  expect(lines.join()).not.toContain('/tollgate/secret');
  clock.advance(60 * MINUTE_MS);
  await expect(read()).rejects.toBe(failure);
});

test('secrets that were never read are an error, not an empty list, and are asked for again at once', async () => {
  const { read } = aReader([new Error('not yet'), 'a']);
  await expect(read()).rejects.toThrow('not yet');
  expect(await read()).toEqual(['a']);
});
