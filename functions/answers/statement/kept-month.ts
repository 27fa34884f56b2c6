/**
 * A month by its days alone: its jobs' records may be gone, or are not to be read. Usage by day is kept longer than they are,
 * and for good the counters of its limits with their closing entries. A statement of just these is exact and as cheap as the
 * month is long.
 */

import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type Period, periodAt } from '../../../policies/limits/period.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import {
  adjustedIn,
  type ClosingStore,
  closingIn,
  counterIn,
  type StoredItem,
} from '../../core/ledger/index.ts';
import { type RollupStore, type Usage, usageExpiresAtSeconds, usageOf } from '../../core/usage/index.ts';
import type { ControlSum, Statement, StatementLine } from './model.ts';

interface KeptMonthAsk {
  readonly month: Period;
  /** `group/101` or `instance`. */
  readonly subject: string;
  /** Ids of its limits of money in this month. */
  readonly limitIds: ReadonlySet<string>;
  /** IANA zone of the days of usage. */
  readonly usageZone: string;
  readonly directory: Directory;
  /** Records of its jobs may be gone. */
  readonly isLongOver: boolean;
  /** Unix ms. */
  readonly nowMs: number;
}

interface KeptMonthDeps {
  readonly usage: Pick<RollupStore, 'readUsage'>;
  readonly periods: Pick<ClosingStore, 'readPeriod'>;
}

const TIMEOUT_MS = 15_000;

export async function keptMonth(
  ask: KeptMonthAsk,
  { usage, periods }: KeptMonthDeps,
): Promise<Pick<Statement, 'lines' | 'totals' | 'controls' | 'notes'>> {
  const { month, subject, limitIds, usageZone } = ask;
  const days = daysOf(month, usageZone);
  const tallies = await usage.readUsage(days.map(({ key }) => ({ subject, day: key })));
  // Days of usage go after two years, the counters never.
  const kept = days.filter(({ key }) => usageExpiresAtSeconds({ subject, day: key }) * 1000 > ask.nowMs);
  const whole = kept.length === days.length && days.every((day) => isInside(day, month));
  const lines = days.flatMap((day, index) => {
    const used = usageOf(tallies[index] ?? new Map());
    const counts = isInside(day, month) && (used.settledMicros !== 0 || used.seconds !== 0);
    return counts ? [lineOf(day, used, ask)] : [];
  });
  const shown = await Promise.all(
    [...limitIds].sort().map(async (limit) => settledOn({ subject, limit, period: month.key }, periods)),
  );
  const inside = sumOf(lines, 'micros');
  const rest = whole ? undefined : restOf(shown[0], inside, days, ask);
  const all = rest === undefined ? lines : [...lines, rest];
  const micros = sumOf(all, 'micros');
  return {
    lines: all,
    totals: {
      ...{ jobs: sumOf(all, 'jobs'), seconds: sumOf(all, 'seconds'), micros },
      ...{ correctedMicros: 0, lateMicros: 0, openJobs: 0, heldMicros: shown[0]?.heldMicros ?? 0 },
    },
    controls: shown.map(({ counter, shownMicros }) => ({ counter, shownMicros, settledMicros: micros })),
    notes: notesOf(whole, shown.length > 0, ask),
  };
}

/** Days of usage that have a part of the month, in their order. */
function daysOf({ startMs, endMs }: Period, zone: string): readonly Period[] {
  const days: Period[] = [];
  for (let atMs = startMs; atMs < endMs; ) {
    const day = periodAt('day', zone, atMs);
    days.push(day);
    atMs = day.endMs;
  }
  return days;
}

const isInside = (day: Period, month: Period): boolean =>
  day.startMs >= month.startMs && day.endMs <= month.endMs;

/** What jobs have settled there, and what those that are not over hold. Credits and debits by hand are on no statement. */
async function settledOn(
  key: CounterKey,
  periods: KeptMonthDeps['periods'],
): Promise<Pick<ControlSum, 'counter' | 'shownMicros'> & { readonly heldMicros: number }> {
  const items = await periods.readPeriod(key, { timeoutMs: TIMEOUT_MS });
  const { committed = 0, settled = 0 } = counterIn(items) ?? {};
  return {
    counter: counterName(key),
    shownMicros: settledIn(items) - adjustedIn(items),
    heldMicros: committed - settled,
  };
}

/** The counter has what came after its closing, too. */
const settledIn = (items: readonly StoredItem[]): number =>
  (counterIn(items) ?? closingIn(items))?.settled ?? 0;

/** The hours of the month that are no whole day of usage: what the counter has beyond the whole days. */
function restOf(
  shown: Pick<ControlSum, 'shownMicros'> | undefined,
  insideMicros: number,
  days: readonly Period[],
  ask: KeptMonthAsk,
): StatementLine | undefined {
  const last = days.at(-1);
  const micros = (shown?.shownMicros ?? insideMicros) - insideMicros;
  if (last === undefined || micros === 0) return undefined;
  return { ...placed(last, ask), jobs: 0, seconds: 0, micros };
}

const lineOf = (
  day: Period,
  { jobs, released, rejected, ranRejected, expired, seconds, settledMicros }: Usage,
  ask: KeptMonthAsk,
): StatementLine => ({
  ...placed(day, ask),
  jobs: jobs - released - expired - (rejected - ranRejected),
  seconds,
  micros: settledMicros,
});

function placed(
  day: Period,
  { subject, directory }: KeptMonthAsk,
): Omit<StatementLine, 'jobs' | 'seconds' | 'micros'> {
  return {
    ...{ day: day.key, dayStartMs: day.startMs, dayEndMs: day.endMs },
    ...(subject !== 'instance' && groupFields(Number(subject.slice('group/'.length)), directory)),
    ...{ runnerClass: '', microsPerMinute: 0, priceVersion: '', kind: 'usage', late: false },
  };
}

function groupFields(
  groupId: number,
  directory: Directory,
): Pick<StatementLine, 'rootId' | 'rootPath' | 'groupId' | 'groupPath'> {
  const [root] = directory.chainById.get(groupId) ?? [];
  const groupPath = directory.groupById.get(groupId)?.path;
  return {
    ...(root !== undefined && { rootId: root.id, rootPath: root.path }),
    groupId,
    ...(groupPath !== undefined && { groupPath }),
  };
}

/** What a reader misses, and why. */
const notesOf = (
  whole: boolean,
  counted: boolean,
  { usageZone, isLongOver, month, nowMs }: KeptMonthAsk,
): readonly string[] => [
  `${isLongOver ? 'The month is over for more than 90 days and records of its jobs may be gone: lines' : 'Lines'} are days of the whole group, corrections are in them. Jobs whose end nobody knows are charged, and are no part of jobs and seconds.`,
  ...(nowMs < month.endMs ? ['The month is not over: this is what is charged so far.'] : []),
  ...(whole
    ? []
    : [
        counted
          ? `Days of usage begin in ${usageZone} and are kept for two years: what is no whole day there, or is gone, is the last line, without jobs and seconds.`
          : `Days of usage begin in ${usageZone} and are kept for two years: what is no whole day there, or is gone, is missing.`,
      ]),
];

const sumOf = (lines: readonly StatementLine[], part: 'jobs' | 'seconds' | 'micros'): number =>
  lines.reduce((sum, line) => sum + line[part], 0);
