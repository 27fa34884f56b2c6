/** What is kept of limits and their counters is what they are at that moment, also once a limit began or a period ended. */
import { expect, test } from 'vitest';
import { countedLimitsNow } from '../../../../functions/answers/status/subject-limits.ts';
import { directoryOf } from '../../../../policies/directory.ts';
import { someLimits } from '../../../policies/documents.ts';

const DIRECTORY = directoryOf([{ id: 7, path: 'acme', personal: false }]);
const [group] = [...DIRECTORY.groupById.values()];
const atMs = (text: string): number => Date.parse(`${text}Z`);

function asked(limits: ReturnType<typeof someLimits>) {
  const now = countedLimitsNow();
  const at = (text: string) => now(limits, DIRECTORY, atMs(text));
  const names = (text: string) =>
    group === undefined
      ? []
      : at(text)
          .ofGroup(group)
          .map(({ counter }) => counter.name);
  return { at, names };
}

test('a month is counted where it is, and the next one where that is', () => {
  const { at, names } = asked(someLimits({ limits: [{ on: { group: 7 }, money: 10, per: 'month' }] }));
  const november = ['group/7|money-month|2026-11'];
  expect(names('2026-11-21T12:00:00')).toEqual(november);
  expect(at('2026-11-30T22:59:59')).toBe(at('2026-11-21T12:00:00'));
  expect(names('2026-12-01T00:00:00')).toEqual(['group/7|money-month|2026-12']);
  // Clocks of machines step back.
  expect(names('2026-11-21T12:00:00')).toEqual(november);
});

test('a limit that begins or ends is asked from then on, or no more', () => {
  const { names } = asked(
    someLimits({
      limits: [
        { on: { group: 7 }, money: 10, per: 'year', until: '2026-11-22' },
        { on: { group: 7 }, minutes: 10, per: 'year', from: '2026-11-25' },
      ],
    }),
  );
  expect(names('2026-11-21T12:00:00')).toEqual(['group/7|money-year|2026']);
  expect(names('2026-11-23T12:00:00')).toEqual([]);
  expect(names('2026-11-25T12:00:00')).toEqual(['group/7|minutes-year|2026']);
});
