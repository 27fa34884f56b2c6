import { expect, test } from 'vitest';
import { LineRounds } from '../../../relay/waiting/line-rounds.ts';

test('who joins a line has just been asked about: a new line waits for its first pause, an old one keeps its pace', () => {
  const rounds = new LineRounds();
  rounds.begin(['a'], 1_000);
  expect(rounds.nextMs(['a'])).toBe(1_250);
  rounds.begin(['a', 'b'], 2_000);
  expect(rounds.nextMs(['a'])).toBe(1_250);
  expect(rounds.nextMs(['b'])).toBe(2_250);
});

test('a line whose round is now comes no sooner for room that is told', () => {
  const rounds = new LineRounds();
  rounds.begin(['a'], 1_000);
  expect(rounds.told('a', 1, 1_250)).toBe(false);
  expect(rounds.told('a', 2, 1_249)).toBe(true);
});
