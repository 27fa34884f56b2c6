/** What a group is charged for a month: first what is meant, then what the books say. */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { isZone } from '../../../policies/limits/zone.ts';
import type { StatementBooks } from '../reading/statement-books.ts';
import { type BilledGroup, billedGroup } from './billed-group.ts';
import { keptMonth } from './kept-month.ts';
import type { Statement, StatementAnswer, StatementQuery } from './model.ts';
import { monthLimitsOf, monthNamed, monthRuleOf, type PastLimits } from './month.ts';
import { StatementTally, type TallyOptions } from './statement-tally.ts';

const READ_TIMEOUT_MS = 15_000;
/** The ledger keeps a month's records at least this long after the month. */
const KEPT_MS = 90 * DAY_MS;

interface StatementTerms extends PastLimits {
  readonly currency: string;
}

/** One that can be stated: whose, of which month, and against which counters. */
interface StatementPlan {
  readonly outcome: 'planned';
  readonly billed: BilledGroup;
  readonly tally: TallyOptions;
  /** Days alone do not do. */
  readonly needsJobs: boolean;
  readonly terms: StatementTerms;
}

/** Pure. */
export function statementPlan(
  { month, group, by = 'day', withUsers = false, withPrices = false, zone }: StatementQuery,
  terms: StatementTerms,
): StatementPlan | Extract<StatementAnswer, { outcome: 'unreadable' }> {
  if (zone !== undefined && !isZone(zone))
    return unreadable('zone', 'expected a time zone like Europe/Berlin or UTC');
  const billed = billedGroup(group, terms.directory);
  const rule = zone === undefined ? monthRuleOf(billed.id, terms) : { zone };
  const period = monthNamed(month, rule);
  if (period === undefined) return unreadable('month', 'expected a month like 2026-10');
  if (period.startMs > terms.nowMs) return unreadable('month', 'has not begun; expected a month up to now');
  const tally = {
    month: period,
    zone: rule.zone,
    by,
    withUsers,
    counts: billed.counts,
    subject: billed.subject,
    limitIds: monthLimitsOf(billed.subject, rule, terms),
    directory: terms.directory,
  };
  return { outcome: 'planned', billed, tally, needsJobs: by === 'job' || withPrices, terms };
}

const unreadable = (asked: 'month' | 'zone', sentence: string) =>
  ({ outcome: 'unreadable', asked, sentence }) as const;

/** @throws {LedgerError}; {Error} with the remedy when the lines become too many. */
export async function statementOf(
  { billed, tally: options, needsJobs, terms }: StatementPlan,
  { instance, description, jobs, usage, periods }: StatementBooks,
): Promise<Exclude<StatementAnswer, { outcome: 'unreadable' }>> {
  const { month, zone, by, withUsers = false, limitIds, directory } = options;
  const { nowMs, currency } = terms;
  const head = {
    month: month.key,
    zone,
    startMs: month.startMs,
    endMs: month.endMs,
    group: billed.label,
    currency,
    instance,
    ledger: description,
    writtenAtMs: nowMs,
  };
  const stated = (statement: Statement) => ({ outcome: 'stated', statement }) as const;
  const isLongOver = nowMs > month.endMs + KEPT_MS;
  // Only what days do not have is worth reading every job: usage and counters come to the same sum, however many there are.
  if (!(needsJobs && jobs !== undefined && !isLongOver) && usage && periods) {
    // The directory knows no such path: only records could say whose jobs were below it.
    if (billed.subject === undefined) return { outcome: 'unknown_group' };
    if (needsJobs) return { outcome: 'only_days' };
    const ask = { month, subject: billed.subject, limitIds, usageZone: terms.zone, directory, nowMs };
    const kept = await keptMonth({ ...ask, isLongOver }, { usage, periods });
    // Nothing is kept of a group that nobody knows.
    if (kept.lines.length === 0 && billed.unknown) return { outcome: 'unknown_group' };
    return stated({ ...head, by: 'day', ...kept });
  }
  if (jobs === undefined) return { outcome: 'unknown_group' };
  const tally = new StatementTally(options);
  const found = await readInto(tally, jobs);
  if (billed.unknown && !found) return { outcome: 'unknown_group' };
  return stated({
    ...head,
    by,
    ...(withUsers && { withUsers }),
    lines: tally.lines(),
    totals: tally.totals(),
    controls: tally.controls(),
    notes: [
      ...(billed.unknown
        ? [`The directory does not know ${billed.label}: groups below it may be missing.`]
        : []),
      ...(tally.jobsInNoGroup === 0
        ? []
        : [
            `Jobs of this month whose group nobody knew when they were decided: ${tally.jobsInNoGroup}. No group is charged for them.`,
          ]),
      ...(nowMs < month.endMs ? ['The month is not over: this is what is charged so far.'] : []),
      ...(isLongOver
        ? ['The month is over for more than 90 days: records of its jobs may be gone, and lines with them.']
        : []),
    ],
  });
}

/** Whether any job was of the group. */
async function readInto(tally: StatementTally, jobs: NonNullable<StatementBooks['jobs']>): Promise<boolean> {
  let found = false;
  for await (const item of jobs.scan()) {
    if (item.kind === 'counter') tally.addCounter(item.counter);
    if (item.kind !== 'record' || !tally.has(item.record)) continue;
    found = true;
    const { jobId, entries } = item.record;
    // Few jobs have any, so they are read one by one rather than all kept.
    const corrections = entries === 0 ? [] : await jobs.readEntries(jobId, { timeoutMs: READ_TIMEOUT_MS });
    tally.add(item.record, corrections);
  }
  return found;
}
