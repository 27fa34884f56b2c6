/**
 * The documents in force: limits, grants, prices, exemptions and the groups. Every edit makes a new set of rules. The product
 * reads a set of rules through its parsers; the simulation judges it by the rules of this folder. They follow the comments of
 * policy.yaml and limits.yaml and share no code with the product.
 */

/** `micros` and `seconds` per period, `starts` per window, `jobs` at the same time. */
export type CountedUnit = 'micros' | 'seconds' | 'starts' | 'jobs';

export interface WrittenLimit {
  readonly subject: string;
  readonly id: string;
  readonly unit: CountedUnit;
  readonly per?: 'hour' | 'day' | 'week' | 'month' | 'year' | 'once';
  readonly zone: string;
  readonly fiscalStart?: string;
  readonly mode: 'enforce' | 'shadow';
  readonly amount: number | 'unlimited';
  /** Whole seconds that a job may wait. Absent: it is rejected immediately. */
  readonly waitSeconds?: number;
}

export interface WrittenGrant {
  readonly subject: string;
  readonly limit: string;
  readonly amount: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface PriceVersion {
  readonly version: string;
  readonly fromMs: number;
  readonly rates: Readonly<Record<string, number>>;
}

export interface RuleSet {
  readonly fromMs: number;
  readonly limits: readonly WrittenLimit[];
  readonly grants: readonly WrittenGrant[];
  readonly prices: readonly PriceVersion[];
  /** Runner classes that are paid by the begun minute; others by the begun second. */
  readonly byMinute: readonly string[];
  /** Budgets do not ask jobs of a group and below with this name, until a time. */
  readonly exemptions: readonly {
    readonly groupId: number;
    readonly jobName: string;
    readonly untilMs: number;
  }[];
  readonly parentOf: ReadonlyMap<number, number>;
  readonly groupOf: ReadonlyMap<number, number>;
}

export function groupChainOf(groupId: number, parentOf: RuleSet['parentOf']): readonly number[] {
  const chain = [groupId];
  for (let id = parentOf.get(groupId); id !== undefined; id = parentOf.get(id)) chain.unshift(id);
  return chain;
}

export function priceAt(prices: readonly PriceVersion[], atMs: number): PriceVersion {
  const price = prices.findLast(({ fromMs }) => fromMs <= atMs) ?? prices[0];
  if (price === undefined) throw new RangeError('a set of rules has a version of the prices');
  return price;
}

/** A begun second or minute counts as a whole one, and so does a begun micro-unit. */
export const costOf = (seconds: number, microsPerMinute: number, paidBySeconds: number): number =>
  Math.ceil((Math.ceil(seconds / paidBySeconds) * paidBySeconds * microsPerMinute) / 60);

export function boundAt(limit: WrittenLimit, { grants }: RuleSet, atMs: number): number | undefined {
  if (limit.amount === 'unlimited') return undefined;
  return grants.reduce(
    (sum, { subject, limit: id, fromMs, untilMs, amount }) =>
      subject === limit.subject && id === limit.id && fromMs <= atMs && atMs < untilMs ? sum + amount : sum,
    limit.amount,
  );
}

const DAY_MS = 86_400_000;
/** Clocks of all zones change, and days begin, at quarters of an hour. */
export const QUARTER_MS = 900_000;

/** `now`, `once`, `2026-11-21T14Z` (hours are UTC's), `2026-11-21`, `2026-W47`, `2026-11`, `2026`, `2026@11-17`. */
export function periodName({ per, zone, fiscalStart }: WrittenLimit, atMs: number): string {
  if (per === undefined) return 'now';
  switch (per) {
    case 'once':
      return 'once';
    case 'hour':
      return `${new Date(atMs).toISOString().slice(0, 13)}Z`;
    case 'day':
      return dayIn(zone, atMs);
    case 'week':
      return weekOf(dayIn(zone, atMs));
    case 'month':
      return dayIn(zone, atMs).slice(0, 7);
    case 'year':
      return yearOf(dayIn(zone, atMs), fiscalStart);
  }
}

function yearOf(day: string, fiscalStart: string | undefined): string {
  const year = Number(day.slice(0, 4));
  if (fiscalStart === undefined) return String(year);
  return `${day.slice(5) >= fiscalStart ? year : year - 1}@${fiscalStart}`;
}

/** ISO 8601: a week begins on Monday and belongs to the year of its Thursday. */
function weekOf(day: string): string {
  const atMs = Date.parse(`${day}T00:00:00Z`);
  const afterMonday = (new Date(atMs).getUTCDay() + 6) % 7;
  const thursday = new Date(atMs + (3 - afterMonday) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS));
  return `${year}-W${String(week).padStart(2, '0')}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();
/** By zone and quarter of an hour: formatting is slow, and a month has some thousands of quarters. */
const days = new Map<string, string>();

export function dayIn(zone: string, atMs: number): string {
  const quarter = Math.floor(atMs / QUARTER_MS);
  const key = `${zone} ${quarter}`;
  const known = days.get(key);
  if (known !== undefined) return known;
  // Canada writes days as ISO 8601 does.
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  formats.set(zone, format);
  const day = format.format(quarter * QUARTER_MS);
  days.set(key, day);
  return day;
}
