/** Computes a group's charge for a month, from days of usage or from jobs. */

import type { Directory } from '../../../policies/directory.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { CALENDAR_YEAR } from '../../../policies/limits/period.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type Caller, type ReadContext, type StatementBooks, viewOf } from '../reading/context.ts';
import { today } from '../reading/usage-days.ts';
import { billedDays, billedGroup } from './billed.ts';
import type { Statement, StatementAnswer, StatementLine, StatementQuery } from './model.ts';
import { monthNamed, monthSpanMs, type StatementMonth } from './month.ts';
import { tallyJobs } from './statement-tally.ts';

/** The ledger keeps a month's records at least this long after the month. */
const KEPT_MS = 90 * DAY_MS;

/** @throws {LedgerError}; {Error} with the remedy if there are too many lines */
export const statementOf =
  (reading: ReadContext) =>
  async (asked: StatementQuery, caller: Caller): Promise<StatementAnswer> => {
    const { limits, directory, scope, nowMs } = await viewOf(reading, caller);
    const { books, policy, zone } = reading;
    const billed = billedGroup(asked.group, directory);
    const { subject, label } = billed;
    const isVisible = scope.seesAll || (subject !== undefined && scope.sees(subject));
    if (!isVisible || books === undefined) return { outcome: 'unknown_group' };
    const { instance, description, jobs, usage, chain } = books;
    const closed = subject === undefined ? [] : ((await chain?.of(subject)) ?? []);
    const month = monthNamed(
      asked.month,
      limits.fiscalStart ?? CALENDAR_YEAR,
      closed.map(({ statement }) => statement),
    );
    if (month === undefined) return unreadable('expected a month like 2026-10');
    if (month.from > today(zone, nowMs)) return unreadable('has not begun; expected a month up to now');
    const { by = 'day' } = asked;
    const span = monthSpanMs(month, zone);
    const head = {
      ...{ month: month.key, zone, ...span, group: label, currency: policy.currency },
      ...{ instance, ledger: description },
    };
    const isLongOver = nowMs > span.endMs + KEPT_MS;
    const unfinished = nowMs < span.endMs ? ['The month is not over: this is what is charged so far.'] : [];
    // Days and jobs have the same sum, so jobs are read only for the fields that days lack.
    const needsJobs = by === 'job' || asked.withPrices === true;
    if (!(needsJobs && jobs !== undefined && !isLongOver) && usage !== undefined) {
      // Only records could show which jobs were below an unknown path.
      if (subject === undefined) return { outcome: 'unknown_group' };
      if (needsJobs) return { outcome: 'only_days' };
      const days = await dayLines(subject, month, directory, zone, usage);
      if (days.lines.length === 0 && billed.unknown) return { outcome: 'unknown_group' };
      return {
        outcome: 'stated',
        statement: { ...head, by: 'day', ...days, notes: [DAYS_NOTE, ...unfinished] },
      };
    }
    if (jobs === undefined) return { outcome: 'unknown_group' };
    const { hasJobs, jobsInNoGroup, ...tally } = await tallyJobs(
      { ...span, zone, by, billed, directory },
      jobs,
    );
    if (billed.unknown && !hasJobs) return { outcome: 'unknown_group' };
    const notes = [
      billed.unknown && `The directory does not know ${label}: groups below it may be missing.`,
      jobsInNoGroup > 0 &&
        `Jobs of this month whose group nobody knew when they were decided: ${jobsInNoGroup}. No group is charged for them.`,
      ...unfinished,
      isLongOver &&
        'The month is over for more than 90 days: records of its jobs may be gone, and lines with them.',
    ].filter((note) => note !== false);
    return { outcome: 'stated', statement: { ...head, by, ...tally, notes } };
  };

const DAYS_NOTE =
  'Lines are days of the whole group, corrections are in them. Jobs whose end nobody knows are charged, and are no part of jobs and seconds.';

const unreadable = (sentence: string) => ({ outcome: 'unreadable', asked: 'month', sentence }) as const;

/** A month by its days. Days of usage are kept for two years. */
async function dayLines(
  subject: string,
  month: StatementMonth,
  { chainById, groupById }: Directory,
  zone: string,
  usage: NonNullable<StatementBooks['usage']>,
): Promise<Pick<Statement, 'lines' | 'totals'>> {
  const { charged, all, isCharged, heldMicros } = await billedDays(subject, month, usage);
  const { days, jobs, seconds, micros } = isCharged ? charged : all;
  const groupId = Number(subject.slice('group/'.length));
  const [root] = chainById.get(groupId) ?? [];
  const [rootId, rootPath, groupPath] = [root?.id, root?.path, groupById.get(groupId)?.path];
  const group = subject === 'instance' ? {} : withoutAbsent({ rootId, rootPath, groupId, groupPath });
  return {
    lines: days.map((each): StatementLine => {
      const number = Date.parse(`${each.day}T00:00:00Z`) / DAY_MS;
      const { startMs: dayStartMs, endMs: dayEndMs } = monthSpanMs({ from: number, to: number }, zone);
      return {
        ...{ ...each, dayStartMs, dayEndMs, ...group },
        ...{ runnerClass: '', microsPerMinute: 0, priceVersion: '', kind: 'usage', late: false },
      };
    }),
    totals: { jobs, seconds, micros, correctedMicros: 0, lateMicros: 0, openJobs: 0, heldMicros },
  };
}
