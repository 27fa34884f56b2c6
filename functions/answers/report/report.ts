import { ancestorsOf } from '../../../policies/directory.ts';
/** Spend of a period by one key, next to the previous period; and of every group, for files. */
import { runnerClassNames } from '../../../policies/price.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { addSumTo, emptySum, type SheetSum, sumWithout, WHOLE } from '../../core/sheets/sheet-rows.ts';
import { USER_SHEET_DAYS } from '../../core/sheets/sheet-store.ts';
import { type Caller, type ReadContext, readPlaces } from '../reading/context.ts';
import { readSums, type SumSource, sheetRowId } from '../reading/read-sums.ts';
import { formatSubjectLabel, isWithin, type Places, userLabels } from '../reading/scope.ts';
import { type DaySpan, dayText, dayTexts, today } from '../reading/usage-days.ts';
import { billedGroup } from '../statement/billed.ts';
import { type CandidateRows, candidateRows, keyBelow } from './candidate-rows.ts';
import { SPEND_KEYS, type SpendAnswer, type SpendKey, type SpendQuery } from './model.ts';
import { figuresOf, listedRows, readSpend, type SpendSums } from './read-spend.ts';
import { periodBefore, reportPeriod, unreadable } from './report-period.ts';

const TOP_DEFAULT = 20;
export const TOP_MAX = 1_000;
const DAYS_BY_DAY_MAX = 92;

type SpendSource = Extract<Awaited<ReturnType<typeof spendSource>>, { outcome: 'found' }>;

async function spendSource(query: SpendQuery, caller: Caller, reading: ReadContext) {
  const { places, directory, scope } = await readPlaces(reading, caller);
  const { seesAll } = scope;
  const group = query.group ?? (seesAll ? 'instance' : [...scope.groupIds][0]?.toString());
  const billed = group === undefined ? undefined : billedGroup(group, directory);
  const ofGroup = billed?.unknown ? undefined : billed?.subject;
  const ofProject = directory.projectById.has(query.project ?? 0) ? `project/${query.project}` : undefined;
  const subject = query.project === undefined ? ofGroup : ofProject;
  if (subject === undefined || !scope.sees(subject)) return { outcome: 'unknown_group' as const };
  const now = today(reading.zone, reading.clock.nowMs());
  const period = reportPeriod(query, now);
  if ('outcome' in period) return period;
  const { usage, sheets } = reading;
  const source: SumSource = { usage, sheets, today: now };
  return { outcome: 'found' as const, subject, period, places, seesAll, source };
}

export const spendReportOf =
  (reading: ReadContext) =>
  async (query: SpendQuery, caller: Caller): Promise<SpendAnswer> => {
    const found = await spendSource(query, caller, reading);
    if (found.outcome !== 'found') return found;
    const { subject, period, places, source } = found;
    const by = query.by ?? keyBelow(subject, places);
    const sentence = periodRefusal(by, found) ?? keyRefusal(by, found);
    if (sentence !== undefined) return unreadable('by', sentence);
    const rows = candidateRows(by, subject, places, runnerClassNames(reading.policy.prices));
    const previous = periodBefore(period);
    const isKept = by !== 'user' || previous.from >= firstDayOfUsers(source);
    const before = query.compare !== false && isKept ? previous : undefined;
    const [now, then] = await Promise.all([
      readSpend({ by, subject, span: period, rows, later: true }, source),
      before && readSpend({ by, subject, span: before, rows, later: false }, source),
    ]);
    const top = Math.min(TOP_MAX, Math.max(1, query.top ?? TOP_DEFAULT));
    const listed = listedRows({ by, subject, rows, top }, now, then);
    const names = by === 'user' ? listed.rows.map(({ name }) => name) : [];
    const labelOf = await userLabels(names, reading.userNames);
    return {
      outcome: 'reported',
      report: {
        ...{ subject, path: formatSubjectLabel(subject, places.directory), by, ...dayTexts(period) },
        keys: SPEND_KEYS.filter((key) => keyRefusal(key, found) === undefined),
        ...{ currency: reading.policy.currency, zone: reading.zone },
        ...withoutAbsent({ before: before && dayTexts(before), packedAtMs: now.packedAtMs }),
        ...listed,
        rows: listed.rows.map((row) => ({ ...row, name: labelOf(row.name) })),
        notes: [...notesOf(rows, now, then), ...(query.compare !== false && !isKept ? [NO_BEFORE] : [])],
      },
    };
  };

const NO_BEFORE = `The period before is not shown: users are kept for ${USER_SHEET_DAYS} days.`;

function notesOf(
  { kind, neverLive }: CandidateRows,
  now: SpendSums,
  then: SpendSums | undefined,
): readonly string[] {
  const read = [now, then ?? now];
  // Rows that are never live lack all days before the first packed one.
  const lacking = neverLive ? [now] : read;
  const missing = kind === undefined ? 0 : Math.max(...lacking.map(({ rowsMissing }) => rowsMissing));
  const keptFrom = Math.max(...read.map((each) => each.keptFrom ?? 0));
  const days =
    missing === 1 ? 'One day is not packed yet: what it' : `${missing} days are not packed yet: what they`;
  return [
    missing > 0 && `${days} cost is in the total, and in no row of its own.`,
    keptFrom > 0 && `Days before ${dayText(keptFrom)} are not kept one by one: some are missing.`,
  ].filter((note) => note !== false);
}

const firstDayOfUsers = ({ today }: SumSource): number => today - USER_SHEET_DAYS + 1;

function periodRefusal(by: SpendKey, { period, source, seesAll }: SpendSource): string | undefined {
  const first = firstDayOfUsers(source);
  if (by === 'day' && period.to - period.from >= DAYS_BY_DAY_MAX)
    return `expected at most ${DAYS_BY_DAY_MAX} days; by month there may be more`;
  return by === 'user' && seesAll && period.from < first
    ? `users are kept for ${USER_SHEET_DAYS} days; expected a period from ${dayText(first)} on`
    : undefined;
}

function keyRefusal(by: SpendKey, { subject, places, seesAll }: SpendSource): string | undefined {
  if ((by === 'group' || by === 'project') && subject.startsWith('project/'))
    return 'a project has no groups and projects below it; ask by day or month';
  if (by === 'hour' && subject !== 'instance') {
    const [root] = ancestorsOf(subject, places.directory);
    if (subject !== `group/${root?.id}`)
      return `hours are kept of the whole GitLab and of top-level groups: ask for ${root?.path ?? 'one'}, or by another key`;
  }
  return by === 'user' && !seesAll ? 'only finance and administrators see users; use another key' : undefined;
}

export type SpendList = Extract<
  Awaited<ReturnType<ReturnType<typeof spendListOf>>>,
  { outcome: 'listed' }
>['list'];

/** Lists every group of a subject with the cost of its own projects. Subgroups have their own lines. @throws {LedgerError} */
export const spendListOf =
  (reading: ReadContext) => async (query: Omit<SpendQuery, 'by' | 'top' | 'project'>, caller: Caller) => {
    const found = await spendSource(query, caller, reading);
    if (found.outcome !== 'found') return found;
    const { subject, period } = found;
    const [now, then] = await Promise.all([
      sumsOf(found, period, true),
      query.compare === false ? new Map<number, SheetSum>() : sumsOf(found, periodBefore(period), false),
    ]);
    const { currency } = reading.policy;
    const total = figuresOf(now.get(sheetRowId(subject)) ?? emptySum());
    const list = { ...dayTexts(period), currency, lines: linesOf(found, now, then), total };
    return { outcome: 'listed' as const, list };
  };

async function sumsOf({ subject, places, source }: SpendSource, span: DaySpan, later: boolean) {
  const sums = new Map<number, SheetSum>();
  const rows = new Map(groupsIn(subject, places).map(({ id }) => [id, `group/${id}`]));
  const own = sheetRowId(subject);
  await readSums({ ...span, kind: 'group', byDay: false, later, of: subject, rows }, source, (id, sum) => {
    if (id === own || rows.has(id)) addSumTo(sums, id, sum);
  });
  return sums;
}

const groupsIn = (subject: string, { groups, directory }: Places): Places['groups'] =>
  subject === 'instance' ? groups : groups.filter(({ id }) => isWithin(`group/${id}`, subject, directory));

type Sums = ReadonlyMap<number, SheetSum>;

type LinePlace = { readonly path: string; readonly groupId?: number; readonly rootPath?: string };

/** The lines add up to the total. */
function linesOf({ subject, places }: SpendSource, now: Sums, then: Sums) {
  const { childrenOf, directory, roots } = places;
  const sumOf = (sums: Sums, id: number): SheetSum => sums.get(id) ?? emptySum();
  const ownOf = (sums: Sums, id: number, below: Places['groups']): SheetSum =>
    // Groups below have lines of their own.
    sumWithout(
      sumOf(sums, id),
      below.map((each) => sumOf(sums, each.id)),
    );
  const lineOf = (place: LinePlace, own: SheetSum, before: SheetSum, withBelow: SheetSum) => ({
    ...{ ...place, ...figuresOf(own) },
    withBelowMicros: figuresOf(withBelow).micros,
    beforeMicros: figuresOf(before).micros,
  });
  const lines = groupsIn(subject, places)
    .filter(({ id }) => now.has(id) || then.has(id))
    .map(({ id, path }) => {
      const below = childrenOf.get(id) ?? [];
      const [root] = directory.chainById.get(id) ?? [];
      const place = { groupId: id, path, ...withoutAbsent({ rootPath: root?.path }) };
      return lineOf(place, ownOf(now, id, below), ownOf(then, id, below), sumOf(now, id));
    });
  if (subject !== 'instance') return lines;
  const [rest, before] = [ownOf(now, WHOLE, roots), ownOf(then, WHOLE, roots)];
  const isRest = [...rest, ...before].some((value) => value !== 0);
  return isRest ? [...lines, lineOf({ path: '' }, rest, before, rest)] : lines;
}
