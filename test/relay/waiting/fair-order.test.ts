import { expect, test } from 'vitest';
import { FairOrder, HEADS_MAX, PASSES_MAX, type Place } from '../../../relay/waiting/fair-order.ts';

const ids = (places: readonly Place[]): number[] => places.map(({ jobId }) => jobId);

test('roots take turns by weight, however many jobs one of them has; within a root the first comes first', () => {
  const order = new FairOrder((root) => (root === 'heavy' ? 2 : 1));
  for (const jobId of [1, 2, 3, 4]) order.join(jobId, 'flood', ['a']);
  for (const jobId of [11, 12, 13, 14]) order.join(jobId, 'heavy', ['a']);
  order.join(21, 'late', ['a']);
  expect(ids(order.places)).toEqual([11, 1, 12, 21, 13, 2, 14, 3, 4]);
});

test('a few of a line are asked about at once, and lines do not hinder each other', () => {
  const order = new FairOrder();
  for (const jobId of [1, 2, 3, 4, 5, 6]) order.join(jobId, 'x', ['a']);
  order.join(9, 'x', ['b']);
  expect(ids(order.turns())).toEqual([1, 2, 3, 4, 9]);
  expect(HEADS_MAX).toBe(4);
});

test('who has been passed often enough is waited for; then the others go on', () => {
  const order = new FairOrder();
  const large = order.join(1, 'x', ['a']);
  let passed = 0;
  for (let jobId = 2; jobId < 40; jobId += 1) {
    order.join(jobId, 'x', ['a']);
    const small = order.turns().find((place) => place !== large && !place.left);
    if (small === undefined) break;
    order.asked(small);
    order.answered(small, 'admitted');
    order.leave(small);
    passed += 1;
  }
  expect(passed).toBe(PASSES_MAX);
  expect(ids(order.turns())).toEqual([1]);
  order.leave(large);
  expect(order.turns()).toHaveLength(1);
});

test('those that are being asked about count as if they would pass', () => {
  const order = new FairOrder();
  const large = order.join(1, 'x', ['a']);
  large.passed = PASSES_MAX - 2;
  const others = [2, 3, 4].map((jobId) => order.join(jobId, 'x', ['a']));
  const [second, third, fourth] = others as [Place, Place, Place];
  expect(ids(order.turns())).toEqual([1, 2, 3]);
  order.asked(second);
  order.asked(third);
  expect(order.mayPass(fourth)).toBe(false);
  order.answered(second, 'refused');
  expect(order.mayPass(fourth)).toBe(true);
});

test('a job of another line is not passed: however many of those are admitted, the next may be', () => {
  const order = new FairOrder();
  const first = order.join(1, '1', ['a']);
  for (let jobId = 2; jobId < 2 * PASSES_MAX + 2; jobId += 1) {
    const other = order.join(jobId, '2', ['b']);
    expect(order.mayPass(other)).toBe(true);
    order.asked(other);
    order.answered(other, 'admitted');
    order.leave(other);
  }
  expect(first.passed).toBe(0);
});

test('a root whose jobs all have their answers begins anew: how many it had is not held against it', () => {
  const order = new FairOrder();
  order.join(1, 'first', ['a']);
  const flood = [2, 3, 4, 5, 6].map((jobId) => order.join(jobId, 'flood', ['a']));
  for (const place of flood) order.leave(place);
  order.join(7, 'flood', ['a']);
  order.join(8, 'late', ['a']);
  expect(ids(order.places)).toEqual([1, 7, 8]);
});

test('of roots that have the same turn the one that came first is passed by the other', () => {
  const order = new FairOrder();
  const [first, second] = [order.join(1, '1', ['a']), order.join(2, '2', ['a'])];
  expect(first.tag).toBe(second.tag);
  order.asked(second);
  order.answered(second, 'admitted');
  expect(first.passed).toBe(1);
});
