/** Spend of a period by one key, next to the previous period. */
import { runnerClassNames } from '../../../policies/prices/price.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { UserNames } from '../../core/gitlab/index.ts';
import { USER_SHEET_DAYS } from '../../core/sheets/index.ts';
import type { SumSource } from '../reading/read-sums.ts';
import type { ReadContext } from '../reading/reading.ts';
import { NOWHERE, type Places, scopeOf, subjectLabelOf } from '../reading/scope.ts';
import { type DaySpan, dayText, today } from '../reading/usage-days.ts';
import { userLabels } from '../reading/user-labels.ts';
import type { Viewer } from '../reading/viewer.ts';
import { billedGroup } from '../statement/billed-group.ts';
import { type CandidateRows, candidateRows, keyBelow } from './candidate-rows.ts';
import { keptPeriodBefore, keyRefusal, spendKeysOf } from './key-refusal.ts';
import type { SpendAnswer, SpendQuery, SpendReport } from './model.ts';
import { readSpend, type SpendSums } from './read-spend.ts';
import { type ReportPeriod, reportPeriod } from './report-period.ts';
import { listedRows } from './spend-rows.ts';

const TOP_DEFAULT = 20;
export const TOP_MAX = 1_000;

/** A valid report: subject and period. */
export interface SpendSource {
  readonly subject: string;
  readonly period: ReportPeriod;
  readonly places: Places;
  readonly source: SumSource;
}

/** Cut to what the viewer may see. */
export async function askedSpend(
  asked: SpendQuery,
  viewer: Viewer,
  reading: Pick<ReadContext, 'places' | 'usage' | 'sheets' | 'zone' | 'clock'>,
): Promise<SpendSource | Exclude<SpendAnswer, { outcome: 'reported' }>> {
  const places = (await reading.places()) ?? NOWHERE;
  const { directory } = places;
  const scope = scopeOf(viewer.roles, directory);
  const own = scope.seesAll ? 'instance' : [...scope.groupIds][0]?.toString();
  const group = asked.group ?? own;
  const subject =
    asked.project !== undefined
      ? directory.projectById.has(asked.project) && `project/${asked.project}`
      : group !== undefined && knownGroup(billedGroup(group, directory));
  if (!subject || !scope.sees(subject)) return { outcome: 'unknown_group' };
  const now = today(reading.zone, reading.clock.nowMs());
  const period = reportPeriod(asked, now);
  if ('outcome' in period) return period;
  const { usage, sheets } = reading;
  return { subject, period, places, source: { usage, today: now, ...withoutAbsent({ sheets }) } };
}

const knownGroup = ({ subject, unknown }: ReturnType<typeof billedGroup>) => !unknown && subject;

/** @throws {LedgerError} */
export const spendReportOf =
  (reading: ReadContext) =>
  async (asked: SpendQuery, viewer: Viewer): Promise<SpendAnswer> => {
    const found = await askedSpend(asked, viewer, reading);
    if ('outcome' in found) return found;
    const { subject, period, places, source } = found;
    const by = asked.by ?? keyBelow(subject, places);
    const { seesAll } = scopeOf(viewer.roles, places.directory);
    const sentence = keyRefusal(by, { ...found, today: source.today, seesAll });
    if (sentence !== undefined) return { outcome: 'unreadable', asked: 'by', sentence };
    const rows = candidateRows(by, subject, places, runnerClassNames(reading.policy.prices));
    const before =
      asked.compare === false ? undefined : keptPeriodBefore(by, { period, today: source.today });
    const [now, then] = await Promise.all([
      readSpend({ by, subject, span: period, rows, trend: !rows.inOrder, later: true }, source),
      before && readSpend({ by, subject, span: before, rows, trend: false, later: false }, source),
    ]);
    const top = Math.min(TOP_MAX, Math.max(1, asked.top ?? TOP_DEFAULT));
    const unnamed = listedRows({ by, subject, rows, top }, now, then);
    const listed = by === 'user' ? await withUserNames(unnamed, reading.userNames) : unnamed;
    return {
      outcome: 'reported',
      report: {
        ...{ subject, path: subjectLabelOf(subject, places.directory), by },
        keys: spendKeysOf({ subject, places, seesAll }),
        ...{ fromDay: dayText(period.from), toDay: dayText(period.to) },
        ...(before !== undefined && { before: daysOf(before) }),
        ...{ currency: reading.policy.currency, zone: reading.zone },
        ...withoutAbsent({ trendDays: now.trendDays, packedAtMs: now.packedAtMs }),
        ...listed,
        notes: [
          ...notesOf(rows, now, then),
          ...(before === undefined && asked.compare !== false ? [NO_BEFORE] : []),
        ],
      },
    };
  };

async function withUserNames<Listed extends Pick<SpendReport, 'rows'>>(
  listed: Listed,
  userNames: UserNames | undefined,
): Promise<Listed> {
  const labelOf = await userLabels(
    listed.rows.map(({ name }) => name),
    userNames,
  );
  return { ...listed, rows: listed.rows.map((row) => ({ ...row, name: labelOf(row.name) })) };
}

const daysOf = ({ from, to }: DaySpan) => ({ fromDay: dayText(from), toDay: dayText(to) });

const NO_BEFORE = `The period before is not shown: users are kept for ${USER_SHEET_DAYS} days.`;

function notesOf(
  { kind, neverLive }: CandidateRows,
  now: SpendSums,
  then: SpendSums | undefined,
): readonly string[] {
  const read = [now, ...(then === undefined ? [] : [then])];
  // Days before the first that was packed are no news where nothing is read live.
  const lacking = neverLive ? [now] : read;
  const missing = kind === undefined ? 0 : Math.max(...lacking.map(({ rowsMissing }) => rowsMissing));
  const keptFrom = Math.max(...read.map((each) => each.keptFrom ?? 0));
  return [
    ...(missing === 0
      ? []
      : [
          `${missing === 1 ? 'One day is not packed yet: what it' : `${missing} days are not packed yet: what they`} cost is in the total, and in no row of its own.`,
        ]),
    ...(keptFrom === 0
      ? []
      : [`Days before ${dayText(keptFrom)} are not kept one by one: some are missing.`]),
  ];
}
