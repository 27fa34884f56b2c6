/** Reads days of many subjects for forecasts: from sheets, and today and unpacked days from the table. */
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { FIGURES, type SheetKind, type SheetSum } from '../../core/sheets/index.ts';
import { usageOf } from '../../core/usage/index.ts';
import { readSums, rowIdOf } from './read-sums.ts';
import type { ReadContext } from './reading.ts';
import { type DaySpan, type DayUsage, dayText, readDays, today, type UsageBySubject } from './usage-days.ts';

/** Five requests of a hundred keys: as few are read one by one. */
const FROM_SHEETS_MIN = 500;

type ManyDaysReading = Pick<ReadContext, 'usage' | 'sheets' | 'zone' | 'clock'>;

/** Like {@link readDays}; of days before today only what sheets keep. @throws {LedgerError} */
export async function readManyDays(
  subjects: readonly string[],
  span: DaySpan,
  { usage, sheets, zone, clock }: ManyDaysReading,
): Promise<UsageBySubject> {
  const now = today(zone, clock.nowMs());
  const isFew = subjects.length * (span.to - span.from + 1) < FROM_SHEETS_MIN;
  if (sheets === undefined || isFew || span.to !== now) return readDays(subjects, span, usage);
  const byKind = Map.groupBy(new Set(subjects), sheetKindOf);
  const [others, todays, ...packed] = await Promise.all([
    readDays(byKind.get(undefined) ?? [], span, usage),
    readDays(subjects, { from: now, to: now }, usage),
    ...KINDS.map((kind) => packedDays(kind, byKind.get(kind) ?? [])),
  ]);
  const before = new Map(packed.flatMap((days) => [...days]));
  return new Map(
    subjects.map((subject) => {
      const [last] = todays.get(subject) ?? [];
      const days = [...(before.get(subject) ?? []), ...(last === undefined ? [] : [last])];
      return [subject, others.get(subject) ?? days];
    }),
  );

  async function packedDays(kind: SheetKind, some: readonly string[]): Promise<UsageBySubject> {
    if (some.length === 0) return new Map();
    const rows = new Map(some.map((subject) => [rowIdOf(subject), subject]));
    const tallies = new Map<string, Map<number, ReadonlyMap<string, number>>>();
    await readSums(
      { kind, from: span.from, to: now - 1, rows, byDay: true },
      { ...withoutAbsent({ sheets }), usage, today: now },
      (id, sum, day) => {
        const subject = rows.get(id);
        if (subject === undefined) return;
        const days = tallies.get(subject) ?? new Map<number, ReadonlyMap<string, number>>();
        tallies.set(subject, days.set(day, tallyOf(sum)));
      },
    );
    return new Map(
      some.map((subject) => [
        subject,
        Array.from({ length: now - span.from }, (_, index): DayUsage => {
          const number = span.from + index;
          const tally = tallies.get(subject)?.get(number) ?? NO_TALLY;
          return { ...usageOf(tally), number, day: dayText(number) };
        }),
      ]),
    );
  }
}

const KINDS = ['group', 'project'] as const satisfies readonly SheetKind[];
const NO_TALLY: ReadonlyMap<string, number> = new Map();

/** Undefined: no sheet has it, or only by a name. */
const sheetKindOf = (subject: string): SheetKind | undefined =>
  subject === 'instance' || /^group\/\d+$/.test(subject)
    ? 'group'
    : /^project\/\d+$/.test(subject)
      ? 'project'
      : undefined;

/** As the day's own item has it. */
function tallyOf(sum: SheetSum): ReadonlyMap<string, number> {
  const tally = new Map<string, number>(FIGURES.map((figure, place) => [figure, sum[place] ?? 0]));
  const of = (figure: (typeof FIGURES)[number]): number => tally.get(figure) ?? 0;
  return tally.set('seconds', of('milliseconds') / 1000).set('admitted', of('jobs') - of('rejected'));
}
