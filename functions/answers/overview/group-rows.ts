/** The rows of one page, with numbers as they stand now. */

import { counterName } from '../../../policies/claim.ts';
import { counterOf, type LimitSet } from '../../../policies/limits/limits.ts';
import { isMoney } from '../../../policies/units/unit.ts';
import { firstOfMonth, usedTogether } from '../../core/usage/index.ts';
import { readManyDays } from '../reading/many-days.ts';
import { poolKey } from '../reading/pools.ts';
import type { ReadContext } from '../reading/reading.ts';
import { type Places, type Scope, subjectLabelOf } from '../reading/scope.ts';
import { placedChainOf } from '../reading/subjects-above.ts';
import { type DayUsage, dayText, today } from '../reading/usage-days.ts';
import { askedMode } from '../standing/asked-mode.ts';
import { freezeRows, frozenNow } from '../standing/freeze-rows.ts';
import { isBudget, type SubjectLimit } from '../standing/group-limits.ts';
import { leading } from '../standing/leading.ts';
import { limitRow } from '../standing/limit-row.ts';
import type { LimitRow } from '../standing/model.ts';
import { historySpan } from '../standing/outlook.ts';
import { refusalsNow } from '../standing/refusals.ts';
import { compareRisks, riskOf } from '../standing/risk.ts';
import type { GroupRow, MeteredUsage } from './model.ts';
import { isGroup, placeSubject, type RowPlace, subjectLimitsOfPlace } from './row-places.ts';

export interface GroupRowsContext {
  readonly limits: LimitSet;
  readonly places: Places;
  readonly scope: Scope;
  readonly nowMs: number;
}

/** A place's own row, or the instance's. */
type RowOf = RowPlace | 'instance';

/**
 * Builds rows of at most 101 groups. Reads counters and eight weeks of usage per row, in batches of a
 * hundred, and the latest rejections.
 *
 * @throws {LedgerError}
 */
export async function groupRows(
  of: readonly RowOf[],
  from: GroupRowsContext,
  reading: ReadContext,
): Promise<readonly GroupRow[]> {
  const { limits, nowMs } = from;
  const havings = of.map((each) => havingsOfRow(each, limits, nowMs));
  const monthFrom = firstOfMonth(reading.zone, nowMs);
  const history = historySpan(today(reading.zone, nowMs));
  const [counters, usage] = await Promise.all([
    reading.counters.fresh(
      havings.flat().flatMap(({ limit }) => (isBudget(limit) ? [counterOf(limit, nowMs)] : [])),
    ),
    readManyDays(
      of.map(groupRowSubject),
      { from: Math.min(monthFrom, history.from), to: history.to },
      reading,
    ),
  ]);
  const refusals = await refusalsNow(usage, nowMs, reading);
  return of.map((each, index) => {
    const days = usage.get(groupRowSubject(each)) ?? [];
    const ancestors = placedChainOf(groupRowSubject(each), from.places.directory);
    const rows = (havings[index] ?? [])
      .filter(({ limit }) => isBudget(limit))
      .map(({ limit, byDefault }) => {
        const counter = counters.get(counterName(counterOf(limit, nowMs)));
        const asked = askedMode(limit, ancestors, reading.policy, limits);
        return limitRow(limit, { nowMs, counter, asked, usage: days, refusals, byDefault });
      });
    return groupRow(each, havings[index] ?? [], rows, meteredOf(days, monthFrom), from, reading);
  });
}

function groupRow(
  of: RowOf,
  havings: readonly SubjectLimit[],
  rows: readonly LimitRow[],
  metered: MeteredUsage,
  { limits, places, scope, nowMs }: GroupRowsContext,
  reading: ReadContext,
): GroupRow {
  const subject = groupRowSubject(of);
  const budget = firstToRunOut(rows);
  const frozen = frozenNow(freezeRows(subject, limits, places.directory, nowMs), nowMs);
  const pool = budget && reading.pools(limits, places.directory).get(poolKey(subject, budget.id));
  const grants = havings.flatMap(({ limit }) => limit.grants ?? []).filter(({ untilMs }) => nowMs < untilMs);
  return {
    subject,
    ...whereOf(of, places, scope),
    ...(budget !== undefined && { budget }),
    others: havings.length - (budget === undefined ? 0 : 1),
    metered,
    ...(frozen !== undefined && { frozen }),
    grants: grants.length,
    ...(pool !== undefined && { pool }),
  };
}

function whereOf(of: RowOf, { directory, childrenOf }: Places, scope: Scope) {
  if (of === 'instance')
    return { path: subjectLabelOf('instance', directory), depth: 0, children: 0, personal: false };
  if (!isGroup(of)) return { path: of.path, depth: 0, children: 0, personal: false };
  const { id, parentId, path, personal } = of;
  const chain = directory.chainById.get(id) ?? [of];
  const depth = chain.filter((group) => group.id !== id && scope.seesGroup(group.id)).length;
  return {
    groupId: id,
    ...(parentId !== undefined && scope.seesGroup(parentId) && { parentId }),
    path,
    depth,
    children: childrenOf.get(id)?.length ?? 0,
    personal,
  };
}

/**
 * Finds the limit that leads a group's row: the one with the highest risk among those that reject jobs. Limits that only watch lead
 * if there is no other. Limits that last are ordered with money before minutes, then by share.
 */
export function firstToRunOut(rows: readonly LimitRow[]): LimitRow | undefined {
  const [first, ...others] = leading(rows, ({ rolledOutAs, mode }) => rolledOutAs ?? mode);
  if (first === undefined) return undefined;
  return others.reduce((best, row) => (isAbove(row, best) ? row : best), first);
}

function isAbove(one: LimitRow, other: LimitRow): boolean {
  const [a, b] = [riskOf(one), riskOf(other)];
  return a.atMs === b.atMs && one.kind !== other.kind ? isMoney(one.kind) : compareRisks(a, b) < 0;
}

export const groupRowSubject = (of: RowOf): string => (of === 'instance' ? of : placeSubject(of));

const havingsOfRow = (of: RowOf, limits: LimitSet, nowMs: number): readonly SubjectLimit[] =>
  of === 'instance'
    ? (limits.bySubject.get(of) ?? []).map((limit) => ({ limit, byDefault: false }))
    : subjectLimitsOfPlace(of, limits, nowMs);

export const meteredOf = (days: readonly DayUsage[], fromDay: number): MeteredUsage => ({
  ...usedTogether(days.filter(({ number }) => number >= fromDay)),
  sinceDay: dayText(fromDay),
});
