/** How many jobs were rejected, or would have been, since their owners were told. Counts are the rollup's. */
import { periodAt } from '../../../policies/limits/period.ts';
import { type RollupStore, type UsageTally, usageOf } from '../../core/usage/index.ts';
import type { Cursor } from './cursor.ts';
import type { ToldTally } from './notice.ts';

/** A job is counted on the day of its decision, at most a day after it: the stream keeps no longer. */
const DAYS = 2;
/** How long nobody may have been told anything before jobs are forgotten: one read of the table has their counts. */
const DAYS_MAX = 14;
/** The whole instance among the subjects of a day. */
export const ALL = '*';

export type Tallies = Readonly<Record<string, Readonly<Record<string, ToldTally>>>>;

/** A day in the rollup's zone. */
interface TallyDay {
  readonly day: string;
  readonly startMs: number;
}

/** The latest days in the rollup's zone, today first, as far back as anybody could still have to be told of. */
export function daysAt(nowMs: number, zone: string): readonly TallyDay[] {
  const days: TallyDay[] = [];
  for (let atMs = nowMs; days.length < DAYS_MAX; ) {
    const { key: day, startMs } = periodAt('day', zone, atMs);
    days.push({ day, startMs });
    atMs = startMs - 1;
  }
  return days;
}

/**
 * The days of which subjects are looked at one by one: today and yesterday, on which jobs are still counted, and those
 * before on which the whole instance has more than was told, because no run came to its end since.
 */
export const openDays = (
  days: readonly TallyDay[],
  all: ReadonlyMap<string, ToldTally>,
  cursor: Pick<Cursor, 'tallies' | 'talliesSince'>,
): readonly TallyDay[] =>
  days.filter(({ day }, back) => {
    if (back < DAYS) return true;
    // What was before is not known to have been told, nor not to have been.
    if (cursor.talliesSince === undefined || day < cursor.talliesSince) return false;
    const only = new Map([[day, all.get(day) ?? {}]]);
    return newlyRejected(ALL, only, cursor) > 0 || newlyWarned(ALL, only, cursor).size > 0;
  });

/** The first day that a cursor begins to keep. */
export const firstKept = (days: readonly TallyDay[]): string | undefined => days[DAYS - 1]?.day;

export async function talliesNow(
  subjects: readonly string[],
  days: readonly string[],
  usage: Pick<RollupStore, 'readUsage'>,
): Promise<ReadonlyMap<string, ReadonlyMap<string, ToldTally>>> {
  const keys = subjects.flatMap((subject) => days.map((day) => ({ subject, day })));
  const tallies = await inPieces(keys, (some) => usage.readUsage(some));
  const now = new Map<string, Map<string, ToldTally>>();
  for (const [index, { subject, day }] of keys.entries()) {
    const ofSubject = now.get(subject) ?? new Map<string, ToldTally>();
    now.set(subject, ofSubject);
    ofSubject.set(day, toldOf(tallies[index] ?? new Map()));
  }
  return now;
}

function toldOf(tally: UsageTally): ToldTally {
  const { rejected, watchedBy } = usageOf(tally);
  return { rejected, warned: Object.fromEntries(watchedBy) };
}

/** More than was told, over all days. */
export const newlyRejected = (
  subject: string,
  now: ReadonlyMap<string, ToldTally>,
  { tallies }: Pick<Cursor, 'tallies'>,
): number =>
  sum(
    [...now].map(([day, { rejected = 0 }]) =>
      Math.max(0, rejected - (tallies[day]?.[subject]?.rejected ?? 0)),
    ),
  );

/** How many more jobs each rule warned of; a rule without any is left out. */
export function newlyWarned(
  subject: string,
  now: ReadonlyMap<string, ToldTally>,
  { tallies }: Pick<Cursor, 'tallies'>,
): ReadonlyMap<string, number> {
  const more = new Map<string, number>();
  for (const [day, { warned = {} }] of now) {
    for (const [rule, jobs] of Object.entries(warned)) {
      const fresh = jobs - (tallies[day]?.[subject]?.warned?.[rule] ?? 0);
      if (fresh > 0) more.set(rule, (more.get(rule) ?? 0) + fresh);
    }
  }
  return more;
}

/** Keys read at once: one read has three seconds. */
const PIECE = 2_000;

/** In order, a bounded number at once. */
export async function inPieces<Key, Value>(
  keys: readonly Key[],
  read: (some: readonly Key[]) => Promise<readonly Value[]>,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (let start = 0; start < keys.length; start += PIECE)
    for (const value of await read(keys.slice(start, start + PIECE))) values.push(value);
  return values;
}

/** What was told, with what is told now put in its place; days that are over leave. */
export function withTallies(
  told: Tallies,
  days: readonly string[],
  now: ReadonlyMap<string, ReadonlyMap<string, ToldTally>>,
): Tallies {
  const next: Record<string, Record<string, ToldTally>> = {};
  for (const day of days) {
    const ofDay: Record<string, ToldTally> = { ...told[day] };
    for (const [subject, byDay] of now) {
      const tally = byDay.get(day);
      const before = ofDay[subject];
      // Most subjects have nothing to keep; what fell back to nothing is kept as that.
      if (tally === undefined || (before === undefined && isEmpty(tally))) continue;
      ofDay[subject] = {
        ...before,
        ...tally,
        ...(tally.warned !== undefined && { warned: { ...before?.warned, ...tally.warned } }),
      };
    }
    if (Object.keys(ofDay).length > 0) next[day] = ofDay;
  }
  return next;
}

/** Past days keep the whole instance alone: nobody's count of them grows any more. */
export function withoutDays(tallies: Tallies, days: readonly TallyDay[]): Tallies {
  const kept = new Set(days.slice(0, DAYS).map(({ day }) => day));
  return Object.fromEntries(
    Object.entries(tallies).flatMap(([day, told]) => {
      const all = told[ALL];
      return kept.has(day) ? [[day, told]] : all === undefined ? [] : [[day, { [ALL]: all }]];
    }),
  );
}

export const onlyRejected = ({ rejected = 0 }: ToldTally): ToldTally => ({ rejected });

export const onlyWarned = ({ warned = {} }: ToldTally, rules: ReadonlySet<string>): ToldTally => ({
  warned: Object.fromEntries([...rules].map((rule) => [rule, warned[rule] ?? 0])),
});

const isEmpty = ({ rejected = 0, warned = {} }: ToldTally): boolean =>
  rejected === 0 && Object.values(warned).every((jobs) => jobs === 0);

export const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0);
