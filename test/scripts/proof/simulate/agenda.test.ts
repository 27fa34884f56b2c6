import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Agenda } from '../../../../scripts/proof/simulate/agenda.ts';

test('what is due comes in the order of its time, equal times in the order they were added, and nothing is lost', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 })),
      fc.integer({ min: 0, max: 20 }),
      (times, untilMs) => {
        const agenda = new Agenda<{ readonly atMs: number; readonly index: number }>();
        const entries = times.map((atMs, index) => ({ atMs, index }));
        for (const entry of entries) agenda.add(entry.atMs, entry);
        const sorted = entries.toSorted((a, b) => a.atMs - b.atMs);
        expect(agenda.takeUntil(untilMs)).toEqual(sorted.filter(({ atMs }) => atMs <= untilMs));
        expect(agenda.nextMs).toBe(
          sorted.find(({ atMs }) => atMs > untilMs)?.atMs ?? Number.POSITIVE_INFINITY,
        );
        expect(agenda.takeUntil(20)).toEqual(sorted.filter(({ atMs }) => atMs > untilMs));
      },
    ),
  );
});
