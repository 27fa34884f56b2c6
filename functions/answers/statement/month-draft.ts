/** What a group's month came to so far, and what of it no earlier statement has: all that a closed statement says but its number. */
import { type Period, periodAt } from '../../../policies/limits/period.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { type PriceTable, priceVersions } from '../../../policies/prices/price.ts';
import type { ClosingStore } from '../../core/ledger/index.ts';
import type { ClosedAdjustment, ClosedStatement, CreditNote } from '../../core/statements/index.ts';
import type { RollupStore } from '../../core/usage/index.ts';
import { keptMonth } from './kept-month.ts';
import type { MonthRule } from './month.ts';

export interface DraftTerms {
  readonly instance: string;
  readonly currency: string;
  readonly prices: PriceTable;
  /** IANA zone of the days of usage. */
  readonly usageZone: string;
  readonly directory: Directory;
  /** Unix ms. */
  readonly nowMs: number;
  readonly usage: Pick<RollupStore, 'readUsage'>;
  readonly periods: Pick<ClosingStore, 'readPeriod'>;
}

interface DraftAsk {
  readonly subject: string;
  readonly group: string;
  readonly month: Period;
  readonly zone: string;
  readonly limits: ReadonlySet<string>;
  /** The group's closed statements, by month: what came late about them is on this one. */
  readonly before: readonly ClosedStatement[];
}

/** What comes later about a month is looked for so many months: usage by day is kept for two years. */
const LOOKED_BACK_MONTHS = 12;
const TIMEOUT_MS = 15_000;

type MonthDraft = Omit<ClosedStatement, 'number' | 'previousSha256'>;

/** @throws {LedgerError} */
export async function monthDraft(ask: DraftAsk, terms: DraftTerms): Promise<MonthDraft> {
  const { subject, group, month, zone, before } = ask;
  const limits = [...ask.limits].sort();
  const sum = await monthSum({ subject, month, limits, usageZone: terms.usageZone }, terms);
  const adjustments: ClosedAdjustment[] = [];
  for (const closed of before.slice(-LOOKED_BACK_MONTHS)) {
    const adjustment = lateOf(closed, before, await monthSum(askedAgain(closed), terms));
    if (adjustment !== undefined) adjustments.push(adjustment);
  }
  const creditMicros = microsOf(sum.credits);
  const adjustmentMicros = adjustments.reduce((all, each) => all + each.micros + microsOf(each.credits), 0);
  return {
    ...{ subject, group, month: month.key, zone, startMs: month.startMs, endMs: month.endMs },
    closedAtMs: terms.nowMs,
    ...{ instance: terms.instance, currency: terms.currency, usageZone: terms.usageZone, limits },
    priceVersions: versionsIn(month, terms.prices),
    lines: sum.lines,
    credits: sum.credits,
    adjustments,
    totals: {
      ...{ jobs: sum.jobs, corrections: sum.corrections, seconds: sum.seconds, micros: sum.micros },
      ...{ creditMicros, adjustmentMicros, dueMicros: sum.micros + creditMicros + adjustmentMicros },
    },
  };
}

interface MonthAsk {
  readonly subject: string;
  readonly month: Pick<Period, 'key' | 'startMs' | 'endMs'>;
  readonly limits: readonly string[];
  readonly usageZone: string;
}

/** A month that was closed is added up by the zone and the limits of that day, whatever they are now. */
const askedAgain = ({ subject, month, startMs, endMs, limits, usageZone }: ClosedStatement): MonthAsk => ({
  ...{ subject, limits, usageZone },
  month: { key: month, startMs, endMs },
});

type MonthSum = Pick<ClosedStatement, 'lines' | 'credits'> &
  Pick<ClosedStatement['totals'], 'jobs' | 'corrections' | 'seconds' | 'micros'>;

async function monthSum(
  { subject, month, limits, usageZone }: MonthAsk,
  { usage, periods, directory, nowMs }: DraftTerms,
): Promise<MonthSum> {
  let corrections = 0;
  // Jobs that still run are on the statement of the month in which they have ended, as an adjustment.
  const ran = new Map<string, number>();
  const days: typeof usage = {
    readUsage: async (keys) => {
      const tallies = await usage.readUsage(keys);
      for (const [index, { day }] of keys.entries()) {
        corrections += tallies[index]?.get('corrections') ?? 0;
        ran.set(day, tallies[index]?.get('ran') ?? 0);
      }
      return tallies;
    },
  };
  const period = { ...month, label: month.key };
  const ask = { month: period, subject, limitIds: new Set(limits), usageZone, directory, nowMs };
  const { lines: kept, totals } = await keptMonth({ ...ask, isLongOver: false }, { usage: days, periods });
  // A line without jobs is the rest of the month that is no whole day of usage.
  const lines = kept.map(({ day, jobs, seconds, micros }) => ({
    ...{ day, seconds, micros },
    jobs: jobs === 0 ? 0 : (ran.get(day) ?? 0),
  }));
  const found = await Promise.all(
    limits.map((limit) =>
      periods.readPeriod({ subject, limit, period: month.key }, { timeoutMs: TIMEOUT_MS }),
    ),
  );
  // The same credit on several counters of the group is one.
  const credits = new Map<string, CreditNote>();
  for (const item of found.flat())
    if (item.kind === 'adjustment') {
      const { id, amount: micros, reason } = item.adjustment;
      credits.set(id, { id, micros, reason });
    }
  return {
    lines,
    credits: [...credits.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    jobs: lines.reduce((sum, { jobs }) => sum + jobs, 0),
    ...{ corrections, seconds: totals.seconds, micros: totals.micros },
  };
}

/** What a closed month comes to now, beyond what its statement and the adjustments since have said. */
function lateOf(
  closed: ClosedStatement,
  chain: readonly ClosedStatement[],
  now: MonthSum,
): ClosedAdjustment | undefined {
  const { month, number, totals } = closed;
  const told = chain.flatMap(({ adjustments }) => adjustments.filter((each) => each.month === month));
  const beyond = (part: 'jobs' | 'corrections' | 'seconds' | 'micros'): number =>
    told.reduce((rest, each) => rest - each[part], now[part] - totals[part]);
  const toldIds = new Set([closed, ...told].flatMap(({ credits }) => credits.map(({ id }) => id)));
  const credits = now.credits.filter(({ id }) => !toldIds.has(id));
  const late = {
    ...{ jobs: beyond('jobs'), corrections: beyond('corrections') },
    ...{ seconds: beyond('seconds'), micros: beyond('micros') },
  };
  const nothing = late.jobs === 0 && late.seconds === 0 && late.micros === 0 && credits.length === 0;
  return nothing ? undefined : { month, number, ...late, credits };
}

const microsOf = (credits: readonly CreditNote[]): number =>
  credits.reduce((sum, { micros }) => sum + micros, 0);

const versionsIn = ({ startMs, endMs }: Period, prices: PriceTable): readonly string[] => {
  const fromMs = new Map((prices.later ?? []).map((each) => [each.version, each.fromMs]));
  const all = priceVersions(prices).map(({ version }) => ({
    version,
    fromMs: fromMs.get(version) ?? Number.NEGATIVE_INFINITY,
  }));
  return all
    .filter((each, index) => each.fromMs < endMs && (all[index + 1]?.fromMs ?? Infinity) > startMs)
    .map(({ version }) => version);
};

/**
 * The months of a group that may close and have no statement yet, oldest first. A group's first is the last one that is over.
 *
 * @param settledMs - by then the ends of a month's last jobs have come.
 */
export function monthsToClose(
  { zone, fiscalStart }: MonthRule,
  last: Pick<ClosedStatement, 'endMs' | 'month'> | undefined,
  settledMs: number,
): readonly Period[] {
  const at = (ms: number): Period => periodAt('month', zone, ms, fiscalStart);
  const newest = at(at(settledMs).startMs - 1);
  if (last === undefined) return [newest];
  const due: Period[] = [];
  for (let next = at(last.endMs); next.endMs <= newest.endMs; next = at(next.endMs))
    if (next.key !== last.month) due.push(next);
  return due;
}
