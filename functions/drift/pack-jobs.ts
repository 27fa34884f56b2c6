/** Packs costs of jobs by recorded keys, nightly, from records of the last days. Jobs that settle later are missing. */
import { calendarDay, DAY_MS, dayStartMs, hourOfWeek } from '../../policies/limits/calendar.ts';
import { type CountBounds, type RecordReader, readRecentRecords } from '../answers/backtest/id-walk.ts';
import { dayText, today } from '../answers/reading/usage-days.ts';
import type { LedgerClock } from '../core/environment/environment.ts';
import type { JobRecord } from '../core/ledger/ledger.ts';
import { addSumTo, type SheetSum, sumTally } from '../core/sheets/sheet-rows.ts';
import {
  classRowName,
  JOB_KEYS,
  JOB_SHEET_KINDS,
  type JobKey,
  type JobSheetKind,
  jobRowName,
  type PackedDay,
  type SheetStore,
  scheduleRowKey,
} from '../core/sheets/sheet-store.ts';
import { countContribution, placeRecords } from '../core/usage/contribution.ts';
import { namedSheet, sumsOfSheets } from './pack-sheets.ts';

interface PackJobsDeps extends RecordReader {
  readonly sheets: SheetStore;
  readonly zone: string;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
  readonly daysBack?: number;
  readonly bounds?: Pick<CountBounds, 'idsMax' | 'recordsMax'>;
}

/** Jobs that are decided by one day and settle by the third night are in it. */
const DAYS_BACK = 3;
const BOUNDS = { idsMax: 600_000, recordsMax: 100_000 };
/** The most expensive ones; what is beyond is in `other` of a report. */
const DAY_ROWS_MAX = 5_000;
const MONTH_ROWS_MAX = 20_000;
const MERGE_REQUEST = /^refs\/merge-requests\/(\d+)\//;

export async function packJobs(
  deadlineMs: number,
  { sheets, zone, clock, daysBack = DAYS_BACK, bounds = BOUNDS, readRecords, recentJobIds }: PackJobsDeps,
) {
  const nowMs = clock.nowMs();
  const now = today(zone, nowMs);
  const last = dayText(now - 1);
  const [head] = await sheets.read([{ kind: 'job', span: monthKey(last) }], 'first');
  const known = head?.days?.get(last);
  if (known !== undefined && nightNumber(known.atMs) >= nightNumber(nowMs)) return { days: 0, records: 0 };
  const startOf = (day: number): number => dayStartMs(zone, calendarDay(day));
  const { records, fromMs } = await readRecentRecords(
    { readRecords, recentJobIds },
    startOf(now - daysBack),
    { ...bounds, deadlineMs, monotonicMs: clock.monotonicMs },
  );
  if (records.length === 0) return { days: 0, records: 0 };
  const numbers = Array.from({ length: daysBack }, (_, index) => now - daysBack + index);
  // With too many records, a partial yesterday is better than none.
  const days = numbers.filter((day) => day === now - 1 || startOf(day) >= fromMs).map(dayText);
  const sums = sumJobs(records, new Set(days), zone);
  for (const day of days)
    for (const kind of JOB_SHEET_KINDS)
      await sheets.write({
        kind,
        span: day,
        ...namedSheet(sums.get(`${kind} ${day}`) ?? new Map(), DAY_ROWS_MAX),
      });
  for (const month of new Set(days.map(monthKey)))
    await packMonth(
      month,
      days.filter((day) => monthKey(day) === month),
      nowMs,
      sheets,
    );
  return { days: days.length, records: records.length };
}

/** 02:20 UTC: away from midnight, when periods end and most schedules start. */
const NIGHT_AT_MS = (2 * 60 + 20) * 60_000;

const nightNumber = (atMs: number): number => Math.floor((atMs - NIGHT_AT_MS) / DAY_MS);

const monthKey = (day: string): string => day.slice(0, '2026-11'.length);

async function packMonth(month: string, packed: readonly string[], nowMs: number, sheets: SheetStore) {
  // The sheet that marks a finished night comes last.
  for (const kind of JOB_SHEET_KINDS.toSorted((a, b) => Number(a === 'job') - Number(b === 'job'))) {
    const [head] = await sheets.read([{ kind, span: month }], 'first');
    const days = new Map<string, PackedDay>(head?.days);
    for (const day of packed) days.set(day, { digest: 'records', atMs: nowMs });
    // A month of users would outlive what may name them.
    const spans = kind === 'user' ? [] : [...days.keys()];
    const read = await sheets.read(spans.map((span) => ({ kind, span })));
    const whole = read.filter((sheet) => sheet !== undefined);
    await sheets.write({ kind, span: month, days, ...namedSheet(sumsOfSheets(whole), MONTH_ROWS_MAX) });
  }
}

function sumJobs(records: readonly JobRecord[], days: ReadonlySet<string>, zone: string) {
  const placeOf = placeRecords(undefined, zone);
  const sums = new Map<`${JobSheetKind} ${string}`, Map<string, SheetSum>>();
  for (const record of records) {
    const { day, tally, subjects } = countContribution(record, undefined, placeOf, () => '');
    if (!days.has(day)) continue;
    const sum = sumTally(tally);
    for (const [kind, name] of [...jobRows(record, zone), ...classRows(subjects, record)]) {
      const sheet = sums.get(`${kind} ${day}`) ?? new Map<string, SheetSum>();
      sums.set(`${kind} ${day}`, sheet);
      addSumTo(sheet, name, sum);
    }
  }
  return sums;
}

function jobRows({ facts, decidedAtMs }: JobRecord, zone: string) {
  const { asked = {}, jobName, projectId, groupIds, rootId, userId } = facts;
  const keys: Readonly<Record<Exclude<JobKey, 'hour'>, string | undefined>> = {
    branch: asked.ref,
    job: asked.jobName ?? jobName,
    source: asked.pipelineSource,
    outcome: facts.outcome,
    'merge-request': MERGE_REQUEST.exec(asked.ref ?? '')?.[1],
    user: userId === undefined ? undefined : String(userId),
    schedule: asked.pipelineSource === 'schedule' ? scheduleRowKey(asked) : undefined,
  };
  const ofProject = JOB_KEYS.flatMap((kind) => {
    const key = kind === 'hour' ? undefined : keys[kind];
    return key === undefined ? [] : [[kind, jobRowName(projectId, key)] as const];
  });
  const hour = String(hourOfWeek(zone, decidedAtMs));
  const places = new Set([undefined, groupIds?.[0] ?? rootId]);
  return [...ofProject, ...[...places].map((id) => ['hour', jobRowName(id, hour)] as const)];
}

const classRows = (subjects: readonly string[], { facts }: JobRecord) =>
  subjects
    .filter((subject) => /^(group|project)\//.test(subject))
    .map((subject) => ['subject-class', classRowName(subject, facts.runnerClass)] as const);
