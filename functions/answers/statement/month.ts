import type { FiscalStart } from '../../../policies/limits/fiscal.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { type LimitSet, limitsOfGroup, limitsOn } from '../../../policies/limits/limits.ts';
import { type Period, periodAt } from '../../../policies/limits/period.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { isMoney } from '../../../policies/units/unit.ts';

/** How a group's months begin and end. */
export interface MonthRule {
  readonly zone: string;
  readonly fiscalStart?: FiscalStart;
}

/** Within every month of that name: fiscal months begin on the 28th at the latest. */
const DAY_INSIDE = 28;

/** Whose limits, and by when: defaults come and go with the dates on them. */
export interface PastLimits {
  readonly limits: LimitSet;
  readonly directory: Directory;
  /** Unix ms. */
  readonly nowMs: number;
  /** IANA zone of the deployment, for where no limit says one. */
  readonly zone: string;
}

/**
 * The months of a group's books: of its limit of money per month, its own or the one it has by default, or of the nearest
 * group above that has one, so that a statement adds up to what that limit's counter shows. The deployment's without any.
 */
export function monthRuleOf(groupId: number | undefined, then: PastLimits): MonthRule {
  const chain = groupId === undefined ? [] : (then.directory.chainById.get(groupId) ?? []);
  const levels = [...chain.map(({ id }) => limitsOf(id, then)).reverse(), limitsOn(then.limits, 'instance')];
  for (const ofLevel of levels) {
    const limit = ofLevel.find(({ kind, per }) => isMoney(kind) && per === 'month');
    if (limit === undefined) continue;
    const { zone, fiscalStart } = limit;
    return { zone, ...(fiscalStart !== undefined && { fiscalStart }) };
  }
  return { zone: then.zone };
}

/** Its own, with those that are over, and the ones it has by default. */
function limitsOf(groupId: number, { limits, directory, nowMs }: PastLimits): readonly Limit[] {
  const own = limitsOn(limits, `group/${groupId}`);
  const group = directory.groupById.get(groupId);
  return group === undefined ? own : [...own, ...limitsOfGroup(limits, group, nowMs)];
}

/** The limits of money of a group, or of the instance, that count in just these months, its own and those it has by default. */
export function monthLimitsOf(
  subject: string | undefined,
  rule: MonthRule,
  then: PastLimits,
): ReadonlySet<string> {
  const own =
    subject === undefined
      ? []
      : subject === 'instance'
        ? limitsOn(then.limits, subject)
        : limitsOf(Number(subject.slice('group/'.length)), then);
  const inMonth = own.filter(
    ({ kind, per, zone, fiscalStart }) =>
      isMoney(kind) && per === 'month' && zone === rule.zone && fiscalStart === rule.fiscalStart,
  );
  return new Set(inMonth.map(({ id }) => id));
}

/** Undefined: it names no month. One that has not begun has its start in the future. */
export function monthNamed(text: string, { zone, fiscalStart }: MonthRule): Period | undefined {
  const [, year, month] = /^(20\d{2})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  return periodAt('month', zone, Date.UTC(Number(year), Number(month) - 1, DAY_INSIDE, 12), fiscalStart);
}
