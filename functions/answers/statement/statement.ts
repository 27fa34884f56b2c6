/** Computes a group's charge for a month: first the scope, then usage days or jobs. */

import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { FiscalStart } from '../../../policies/limits/period.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { StatementBooks } from '../reading/statement-books.ts';
import { today } from '../reading/usage-days.ts';
import { billedDays } from './billed-days.ts';
import type { BilledGroup } from './billed-group.ts';
import type { Statement, StatementAnswer, StatementLine, StatementQuery } from './model.ts';
import { monthNamed, monthSpanMs, type StatementMonth } from './month.ts';
import { StatementTally, type TallyOptions } from './statement-tally.ts';

const READ_TIMEOUT_MS = 15_000;
/** The ledger keeps a month's records at least this long after the month. */
const KEPT_MS = 90 * DAY_MS;

interface StatementTerms {
  readonly billed: BilledGroup;
  readonly directory: Directory;
  readonly currency: string;
  readonly fiscalStart: FiscalStart;
  /** IANA zone of the deployment's accounting: its days are those of usage. */
  readonly zone: string;
  /** Unix ms. */
  readonly nowMs: number;
}

/** @throws {LedgerError}; {Error} with the remedy when the lines become too many. */
export async function statementOf(
  { month: asked, by = 'day', withUsers = false, withPrices = false }: Omit<StatementQuery, 'group'>,
  terms: StatementTerms,
  { instance, description, jobs, usage, chain }: StatementBooks,
): Promise<StatementAnswer> {
  const { billed, directory, nowMs, currency, zone, fiscalStart } = terms;
  const { subject } = billed;
  const closed = subject === undefined ? [] : ((await chain?.of(subject)) ?? []);
  const month = monthNamed(
    asked,
    fiscalStart,
    closed.map(({ statement }) => statement),
  );
  if (month === undefined) return unreadable('expected a month like 2026-10');
  if (month.from > today(zone, nowMs)) return unreadable('has not begun; expected a month up to now');
  const span = monthSpanMs(month, zone);
  const head = {
    ...{ month: month.key, zone, ...span, group: billed.label, currency },
    ...{ instance, ledger: description, writtenAtMs: nowMs },
  };
  const isLongOver = nowMs > span.endMs + KEPT_MS;
  const stated = (statement: Statement) => ({ outcome: 'stated', statement }) as const;
  const unfinished = nowMs < span.endMs ? ['The month is not over: this is what is charged so far.'] : [];
  // Only what days do not have is worth reading every job: usage comes to the same sum, however many there are.
  const needsJobs = by === 'job' || withPrices;
  if (!(needsJobs && jobs !== undefined && !isLongOver) && usage !== undefined) {
    // The directory knows no such path: only records could say whose jobs were below it.
    if (subject === undefined) return { outcome: 'unknown_group' };
    if (needsJobs) return { outcome: 'only_days' };
    const days = await dayLines(subject, month, directory, zone, usage);
    if (days.lines.length === 0 && billed.unknown) return { outcome: 'unknown_group' };
    return stated({ ...head, by: 'day', ...days, notes: [...days.notes, ...unfinished] });
  }
  if (jobs === undefined) return { outcome: 'unknown_group' };
  const tally = await tallyOf({ ...span, zone, by, withUsers, billed, directory }, jobs);
  if (billed.unknown && !tally.hasJobs) return { outcome: 'unknown_group' };
  return stated({
    ...head,
    by,
    ...(withUsers && { withUsers }),
    lines: tally.lines(),
    totals: tally.totals(),
    notes: [
      ...(billed.unknown
        ? [`The directory does not know ${billed.label}: groups below it may be missing.`]
        : []),
      ...(tally.jobsInNoGroup === 0
        ? []
        : [
            `Jobs of this month whose group nobody knew when they were decided: ${tally.jobsInNoGroup}. No group is charged for them.`,
          ]),
      ...unfinished,
      ...(isLongOver
        ? ['The month is over for more than 90 days: records of its jobs may be gone, and lines with them.']
        : []),
    ],
  });
}

const unreadable = (sentence: string) => ({ outcome: 'unreadable', asked: 'month', sentence }) as const;

/** A month by its days: exact, and as cheap as the month is long. Days of usage are kept for two years. */
async function dayLines(
  subject: string,
  month: StatementMonth,
  directory: Directory,
  zone: string,
  usage: NonNullable<StatementBooks['usage']>,
): Promise<Pick<Statement, 'lines' | 'totals' | 'notes'>> {
  const { charged, all, isCharged, heldMicros } = await billedDays(subject, month, usage);
  const { days, jobs, seconds, micros } = isCharged ? charged : all;
  const group = subject === 'instance' ? {} : groupFields(Number(subject.slice('group/'.length)), directory);
  return {
    lines: days.map((each) => {
      const { startMs: dayStartMs, endMs: dayEndMs } = dayMs(each.day, zone);
      return {
        ...each,
        ...{ dayStartMs, dayEndMs, ...group },
        ...{ runnerClass: '', microsPerMinute: 0, priceVersion: '', kind: 'usage' as const, late: false },
      };
    }),
    totals: { jobs, seconds, micros, correctedMicros: 0, lateMicros: 0, openJobs: 0, heldMicros },
    notes: [
      'Lines are days of the whole group, corrections are in them. Jobs whose end nobody knows are charged, and are no part of jobs and seconds.',
    ],
  };
}

function dayMs(day: string, zone: string) {
  const number = Date.parse(`${day}T00:00:00Z`) / DAY_MS;
  return monthSpanMs({ from: number, to: number }, zone);
}

function groupFields(
  groupId: number,
  { chainById, groupById }: Directory,
): Pick<StatementLine, 'rootId' | 'rootPath' | 'groupId' | 'groupPath'> {
  const [root] = chainById.get(groupId) ?? [];
  const groupPath = groupById.get(groupId)?.path;
  return {
    ...(root !== undefined && { rootId: root.id, rootPath: root.path }),
    groupId,
    ...(groupPath !== undefined && { groupPath }),
  };
}

/** A group that moved has jobs of its own and jobs that are charged to the group above: it is charged for its own. */
async function tallyOf(
  options: TallyOptions,
  jobs: NonNullable<StatementBooks['jobs']>,
): Promise<StatementTally> {
  const tally = await readInto(new StatementTally(options), jobs);
  return tally.isMixed ? readInto(new StatementTally({ ...options, chargedOnly: true }), jobs) : tally;
}

async function readInto(
  tally: StatementTally,
  jobs: NonNullable<StatementBooks['jobs']>,
): Promise<StatementTally> {
  for await (const item of jobs.scan()) {
    if (item.kind !== 'record' || !tally.has(item.record)) continue;
    const { jobId, entries } = item.record;
    // Few jobs have any, so they are read one by one rather than all kept.
    const corrections = entries === 0 ? [] : await jobs.readEntries(jobId, { timeoutMs: READ_TIMEOUT_MS });
    tally.add(item.record, corrections);
  }
  return tally;
}
