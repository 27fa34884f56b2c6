/** Runner classes of a group or project, from the records of the nightly runs. */
import { calendarDay, dayNumber } from '../../../policies/limits/calendar.ts';
import { addSumTo, type SheetSum } from '../../core/sheets/index.ts';
import { readSums, type SumSource } from '../reading/read-sums.ts';
import type { DaySpan } from '../reading/usage-days.ts';
import { classRowsOf } from '../report/candidate-rows.ts';
import { figuresOf } from '../report/spend-rows.ts';
import type { UsageView } from './model.ts';

/** As reports have them; jobs of no class are no row. @param firstDay - further back no day is looked at. @throws {LedgerError} */
export async function packedClasses(
  subject: string,
  { from, to }: DaySpan,
  firstDay: number,
  source: SumSource,
): Promise<UsageView['runnerClasses']> {
  const { kind = 'subject-class', named, nameOf } = classRowsOf(subject);
  const sums = new Map<number, SheetSum>();
  await readSums(
    {
      // A whole month is one read, and each day of another is one, too.
      ...{ from: Math.max(from, firstOfItsMonth(firstDay)), to, kind, byDay: false, neverLive: true },
      ...(named && { named }),
    },
    source,
    (id, sum) => addSumTo(sums, id, sum),
  );
  return [...sums].flatMap(([id, sum]) => {
    const { micros, heldMicros, seconds, jobs } = figuresOf(sum);
    return nameOf(id) === '' ? [] : [{ name: nameOf(id), micros: micros + heldMicros, seconds, jobs }];
  });
}

const firstOfItsMonth = (day: number): number => dayNumber({ ...calendarDay(day), day: 1 });
