import type { Directory } from '../../../policies/directory.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { CALENDAR_YEAR, periodAt } from '../../../policies/limits/period.ts';
import { compareTexts } from '../../../policies/text/plain-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { decisionIdOf } from '../../core/admission/decide.ts';
import { type ChargeLine, chargeLines, isInNoGroup, recordedRoot } from '../../core/job-ends/job-charge.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { isLive } from '../../core/ledger/settle.ts';
import type { LedgerStore } from '../../core/ledger/store.ts';
import type { RollupStore } from '../../core/usage/rollup-store.ts';
import { type Caller, type ReadContext, readCallerView } from '../reading/context.ts';
import { today } from '../reading/usage-days.ts';
import { type BilledGroup, billedDays, billedGroup } from './billed.ts';
import type { Statement, StatementAnswer, StatementLine, StatementQuery } from './model.ts';
import { daySpanMs, monthNamed, monthSpanMs, type StatementMonth } from './month.ts';

/** The ledger keeps a month's records at least this long after the month. */
const KEPT_MS = 90 * DAY_MS;

/**
 * Computes a group's charge for a month, from days of usage or from jobs.
 * @throws {LedgerError}; {Error} with the remedy if there are too many lines
 */
export const statementOf =
  (reading: ReadContext) =>
  async (query: StatementQuery, caller: Caller): Promise<StatementAnswer> => {
    const { limits, directory, scope, nowMs } = await readCallerView(reading, caller);
    const { books, policy, zone } = reading;
    const billed = billedGroup(query.group, directory);
    const { subject, label } = billed;
    const isVisible = scope.seesAll || (subject !== undefined && scope.sees(subject));
    if (!isVisible || books === undefined) return { outcome: 'unknown_group' };
    const { instance, description, jobs, usage, chain } = books;
    const closed = (subject && (await chain?.of(subject))) || [];
    const statements = closed.map(({ statement }) => statement);
    const month = monthNamed(query.month, limits.fiscalStart ?? CALENDAR_YEAR, statements);
    if (month === undefined) return unreadable('expected a month like 2026-10');
    if (month.from > today(zone, nowMs)) return unreadable('has not begun; expected a month up to now');
    const { by = 'day' } = query;
    const span = monthSpanMs(month, zone);
    const head = {
      ...{ month: month.key, zone, ...span, group: label, currency: policy.currency },
      ...{ instance, ledger: description },
    };
    const isLongOver = nowMs > span.endMs + KEPT_MS;
    const unfinished = nowMs < span.endMs ? ['The month is not over: this is what is charged so far.'] : [];
    // Days and jobs have the same sum, so jobs are read only for the fields that days lack.
    const needsJobs = by === 'job' || query.withPrices === true;
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
    const options = { ...span, zone, by, billed, directory };
    const { hasJobs, jobsInNoGroup, ...tally } = await tallyJobs(options, jobs);
    if (billed.unknown && !hasJobs) return { outcome: 'unknown_group' };
    const notes = [
      billed.unknown && `The directory does not know ${label}: groups below it may be missing.`,
      jobsInNoGroup > 0 &&
        `Jobs of this month whose group was unknown at their decision: ${jobsInNoGroup}. No group is charged for them.`,
      ...unfinished,
      isLongOver &&
        'The month is over for more than 90 days: records of its jobs may be gone, and lines with them.',
    ].filter((note) => note !== false);
    return { outcome: 'stated', statement: { ...head, by, ...tally, notes } };
  };

const DAYS_NOTE =
  'Lines are days of the whole group, corrections are in them. Jobs with an unknown end are charged, and do not count in jobs and seconds.';

const unreadable = (sentence: string) => ({ outcome: 'unreadable', asked: 'month', sentence }) as const;

/** A month by its days. Days of usage are kept for two years. */
async function dayLines(
  subject: string,
  month: StatementMonth,
  { chainById, groupById }: Directory,
  zone: string,
  usage: Pick<RollupStore, 'readUsage'>,
): Promise<Pick<Statement, 'lines' | 'totals'>> {
  const { charged, all, isCharged, heldMicros } = await billedDays(subject, month, usage);
  const { days, jobs, seconds, micros } = isCharged ? charged : all;
  const groupId = Number(subject.slice('group/'.length));
  const [root] = chainById.get(groupId) ?? [];
  const [rootId, rootPath, groupPath] = [root?.id, root?.path, groupById.get(groupId)?.path];
  const group = subject === 'instance' ? {} : withoutAbsent({ rootId, rootPath, groupId, groupPath });
  return {
    lines: days.map((each): StatementLine => {
      const { startMs: dayStartMs, endMs: dayEndMs } = daySpanMs(each.day, zone);
      return {
        ...{ ...each, dayStartMs, dayEndMs, ...group },
        ...{ runnerClass: '', microsPerMinute: 0, priceVersion: '', kind: 'usage', late: false },
      };
    }),
    totals: { jobs, seconds, micros, correctedMicros: 0, lateMicros: 0, openJobs: 0, heldMicros },
  };
}

interface TallyOptions extends Pick<Statement, 'startMs' | 'endMs' | 'zone' | 'by'> {
  readonly billed: Pick<BilledGroup, 'id' | 'counts'>;
  readonly directory: Directory;
}

/** Some 400 bytes each. A statement by day of a large group has a few ten thousand. */
const LINES_MAX = 500_000;
const READ_TIMEOUT_MS = 15_000;

const emptyTally = () => ({
  jobs: 0,
  lines: new Map<string, StatementLine>(),
  totals: { jobs: 0, seconds: 0, micros: 0, correctedMicros: 0, lateMicros: 0, openJobs: 0, heldMicros: 0 },
});
type Tally = ReturnType<typeof emptyTally>;

/**
 * Adds up the jobs that were admitted in the month. A group that was moved is charged for jobs that name it as their
 * top-level group; others are charged to the group above it then, and count only if there are no jobs of its own.
 *
 * @throws {Error} with the remedy, when the lines become too many.
 */
async function tallyJobs(options: TallyOptions, jobs: Pick<LedgerStore, 'scan' | 'readEntries'>) {
  const { startMs, endMs, billed } = options;
  const [own, below] = [emptyTally(), emptyTally()];
  let jobsInNoGroup = 0;
  for await (const item of jobs.scan()) {
    if (item.kind !== 'record') continue;
    const { record } = item;
    if (record.decidedAtMs < startMs || record.decidedAtMs >= endMs) continue;
    if (!billed.counts(record)) {
      if (record.state === 'SETTLED' && isInNoGroup(record)) jobsInNoGroup += 1;
      continue;
    }
    const tally = billed.id === undefined || recordedRoot(record) === billed.id ? own : below;
    tally.jobs += 1;
    if (isLive(record)) {
      tally.totals.openJobs += 1;
      tally.totals.heldMicros += record.facts.costMicros;
      continue;
    }
    // Few jobs have entries, so they are read one by one.
    const entries =
      record.entries === 0 ? [] : await jobs.readEntries(record.jobId, { timeoutMs: READ_TIMEOUT_MS });
    const charges = chargeLines(record, entries);
    if (charges.length > 0) tally.totals.jobs += 1;
    for (const charge of charges) addCharge(tally, record, charge, options);
  }
  const { lines, totals, jobs: count } = own.jobs > 0 ? own : below;
  return { lines: [...lines.values()].sort(byPlace), totals, hasJobs: count > 0, jobsInNoGroup };
}

function addCharge(
  { lines, totals }: Tally,
  record: JobRecord,
  charge: ChargeLine,
  options: TallyOptions,
): void {
  const { kind, cause, seconds, micros } = charge;
  const late = charge.atMs !== undefined && charge.atMs >= options.endMs;
  totals.seconds += seconds;
  totals.micros += micros;
  if (kind === 'correction') totals.correctedMicros += micros;
  if (late) totals.lateMicros += micros;
  const { facts, jobId, unchecked } = record;
  const { runnerClass, microsPerMinute, priceVersion, jobName: name, pipelineId } = facts;
  const day = periodAt('day', options.zone, record.decidedAtMs);
  const place = placeOf(record, options.directory);
  const terms = { runnerClass, microsPerMinute, priceVersion, kind, ...withoutAbsent({ cause }), late };
  const job = options.by === 'job' ? jobId : undefined;
  const key = JSON.stringify([
    ...[day.key, place.groupId ?? place.groupPath, place.projectId ?? place.projectPath],
    ...[terms, job],
  ]);
  const known = lines.get(key);
  if (known === undefined && lines.size >= LINES_MAX)
    throw new Error(`the statement has more than ${LINES_MAX} lines: use --by day, or a smaller group`);
  lines.set(key, {
    ...{ day: day.key, dayStartMs: day.startMs, dayEndMs: day.endMs, ...place, ...terms },
    ...{ jobs: (known?.jobs ?? 0) + 1, seconds: (known?.seconds ?? 0) + seconds },
    micros: (known?.micros ?? 0) + micros,
    ...(job !== undefined && {
      job: {
        ...{ id: jobId, decisionId: decisionIdOf(record) },
        ...withoutAbsent({ name, pipelineId, unchecked }),
      },
    }),
  });
}

/** Ids decide; paths are those of the directory, else of the record. */
function placeOf({ facts }: JobRecord, { groupById, projectById }: Directory) {
  const { rootId, groupId, projectId, projectPath } = facts;
  const above = projectPath?.slice(0, Math.max(0, projectPath.lastIndexOf('/')));
  return withoutAbsent({
    ...{ rootId, groupId, projectId },
    rootPath: groupById.get(rootId ?? 0)?.path ?? above?.split('/')[0],
    groupPath: groupById.get(groupId ?? 0)?.path ?? above,
    projectPath: projectById.get(projectId ?? 0)?.path ?? projectPath,
  });
}

const byPlace = (a: StatementLine, b: StatementLine): number =>
  a.dayStartMs - b.dayStartMs ||
  compareTexts(a.groupPath, b.groupPath) ||
  compareTexts(a.projectPath, b.projectPath) ||
  compareTexts(a.runnerClass, b.runnerClass) ||
  (a.job?.id ?? 0) - (b.job?.id ?? 0) ||
  compareTexts(a.priceVersion, b.priceVersion) ||
  compareTexts(b.kind, a.kind) ||
  compareTexts(a.cause, b.cause) ||
  Number(a.late) - Number(b.late);
