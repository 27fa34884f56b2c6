import { expect, test } from 'vitest';
import { AS_DESCRIBED, answerEnded } from '../../../relay/wire/arm-choice.ts';

const after = (...outcomes: readonly ('taken' | 'refused')[]) =>
  outcomes.reduce(answerEnded, AS_DESCRIBED).swapped;

test.each([
  { outcomes: [], swapped: false, guarantee: 'begins as the descriptors say' },
  { outcomes: ['taken'], swapped: false, guarantee: 'stays with what is taken' },
  { outcomes: ['refused'], swapped: true, guarantee: 'gives up an arm that never worked at once' },
  {
    outcomes: ['refused', 'taken', 'taken'],
    swapped: true,
    guarantee: 'stays with the other one if it is taken',
  },
  {
    outcomes: ['refused', 'refused'],
    swapped: false,
    guarantee: 'goes back if the other one is refused, too',
  },
  {
    outcomes: ['taken', 'refused', 'refused'],
    swapped: false,
    guarantee: 'forgives an arm that worked two refusals',
  },
  {
    outcomes: ['taken', 'refused', 'taken', 'refused', 'refused'],
    swapped: false,
    guarantee: 'counts them in a row',
  },
  {
    outcomes: ['taken', 'refused', 'refused', 'refused'],
    swapped: true,
    guarantee: 'gives it up after three',
  },
] as const)('$guarantee', ({ outcomes, swapped }) => {
  expect(after(...outcomes)).toBe(swapped);
});
