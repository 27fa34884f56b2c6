/** Lets limits of one cohort use each other's idle amounts, up to the cohort's sum. */
import type { CohortPart, CounterKey, LimitClaim } from '../claim.ts';
import { perObject } from '../match/remember.ts';
import type { LimitKind } from '../unit.ts';
import { type Limit, shareOf } from './limit.ts';
import { type LimitSet, limitAt } from './limits.ts';
import { isValidAt } from './period.ts';

export interface CohortTerms {
  readonly own: number;
  readonly most: number;
  readonly counters: readonly { from: CohortPart['from']; counter: CounterKey; bound: number }[];
}

const cohortKey = (cohort: string, kind: LimitKind): string => `${kind} ${cohort}`;

const membersByCohort = perObject((set: LimitSet) =>
  Map.groupBy(
    [...set.bySubject.values()].flat().filter(({ cohort }) => cohort !== undefined),
    ({ cohort = '', kind }) => cohortKey(cohort, kind),
  ),
);

const ownAmount = ({ amount }: Limit): number => (amount === 'unlimited' ? 0 : amount);

export const borrowOf = (limit: Limit): number =>
  limit.borrowShare === undefined ? (limit.borrow ?? 0) : shareOf(ownAmount(limit), limit.borrowShare);

const lentAmount = (limit: Limit): number => {
  const own = ownAmount(limit);
  const lend = limit.lendShare === undefined ? (limit.lend ?? own) : shareOf(own, limit.lendShare);
  return Math.min(own, lend);
};

/**
 * Returns undefined if the limit is in no cohort.
 *
 * Every job of a cohort counts in one counter, and its name depends on no amount: so no edit can hide a running job from
 * the cohort's sum. The other two are asked only while a member keeps a part of its own for itself.
 *
 * @param limit - in force
 */
export function cohortTermsOf(limit: Limit, set: LimitSet, nowMs: number): CohortTerms | undefined {
  const { cohort, kind, subject, id } = limit;
  if (cohort === undefined || limit.mode !== 'enforce') return undefined;
  // A limit that only watches is not a member.
  const members = (membersByCohort(set).get(cohortKey(cohort, kind)) ?? []).flatMap((member) =>
    member.mode === 'enforce' && isValidAt(member, nowMs) ? [limitAt(member, nowMs)] : [],
  );
  const total = (part: (member: Limit) => number): number =>
    members.reduce((sum, member) => sum + part(member), 0);
  const counter = (from: CohortPart['from'], name: string, bound: number) => ({
    ...{ from, bound, counter: { subject: `cohort/${cohort}`, limit: name, period: 'now' } },
  });
  const own = ownAmount(limit);
  const reserved = own - lentAmount(limit);
  const [all, lent] = [total(ownAmount), total(lentAmount)];
  return {
    own,
    most: own + borrowOf(limit),
    counters: [
      ...(reserved > 0 ? [counter('kept', `${kind}:${subject}:${id}`, reserved)] : []),
      ...(lent < all ? [counter('lent', `${kind}:lent`, lent)] : []),
      counter('cohort', kind, all),
    ],
  };
}

export function mostCohortCounters({ cohort, kind, ...limit }: Limit, set: LimitSet): number {
  if (cohort === undefined) return 0;
  const members = membersByCohort(set).get(cohortKey(cohort, kind)) ?? [];
  return 1 + (members.some(mayKeep) ? 1 : 0) + (mayKeep(limit) ? 1 : 0);
}

const mayKeep = ({ lend, lendShare }: Pick<Limit, 'lend' | 'lendShare'>): boolean =>
  lend !== undefined || lendShare !== undefined;

export const cohortClaims = (whole: LimitClaim, { counters }: CohortTerms): readonly LimitClaim[] =>
  counters
    .filter(({ from }) => whole.own !== undefined || from !== 'kept')
    .map(({ from, counter, bound }) => ({
      ...{ counter, unit: whole.unit, amount: whole.amount, mode: 'enforce', rule: whole.rule },
      class: whole.class,
      part: { of: whole.counter, from },
      ...(whole.own !== undefined && { bound }),
      ...(whole.neverFits && { neverFits: true }),
      ...(whole.waitMs !== undefined && { waitMs: whole.waitMs }),
      refusal: (seen) => whole.refusal(seen),
    }));
