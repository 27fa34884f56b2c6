/** Limits of one cohort use each other's idle amounts: what each keeps for itself, and the pool that all of them share. */
import type { CounterKey } from '../claim.ts';
import type { LimitKind } from '../units/unit.ts';
import type { Limit } from './limit.ts';
import { type LimitSet, limitAt } from './limits.ts';
import { isValidAt } from './period.ts';
import { shareOf } from './share.ts';

/** Begins the subject of every counter of a cohort. */
const COHORT = 'cohort/';

/** What a limit in a cohort asks beside its own counter. All amounts in whole units. */
export interface CohortTerms {
  /** Up to here a job uses what is its group's own; what goes further is borrowed. */
  readonly own: number;
  /** Own and borrowed, at most. */
  readonly most: number;
  /** What nobody else may use. Absent: it lends everything. */
  readonly kept?: CohortCounter;
  /** What all members lend, used by whomever. */
  readonly pool: CohortCounter;
}

interface CohortCounter {
  readonly counter: CounterKey;
  readonly bound: number;
}

const indexes = new WeakMap<LimitSet, ReadonlyMap<string, readonly Limit[]>>();

const nameOf = (cohort: string, kind: LimitKind): string => `${kind} ${cohort}`;

function indexOf(set: LimitSet): ReadonlyMap<string, readonly Limit[]> {
  const known = indexes.get(set);
  if (known !== undefined) return known;
  const index = new Map<string, Limit[]>();
  for (const limits of set.bySubject.values()) {
    for (const limit of limits) {
      if (limit.cohort === undefined) continue;
      const name = nameOf(limit.cohort, limit.kind);
      const members = index.get(name);
      if (members === undefined) index.set(name, [limit]);
      else members.push(limit);
    }
  }
  indexes.set(set, index);
  return index;
}

/** The members of a limit's cohort as they are at an instant, itself included. A limit that only watches is none. */
const cohortAt = ({ cohort, kind }: Limit, set: LimitSet, nowMs: number): readonly Limit[] =>
  cohort === undefined
    ? []
    : (indexOf(set).get(nameOf(cohort, kind)) ?? []).flatMap((member) =>
        member.mode === 'enforce' && isValidAt(member, nowMs) ? [limitAt(member, nowMs)] : [],
      );

const ownOf = ({ amount }: Limit): number => (amount === 'unlimited' ? 0 : amount);

/** How far a limit in force may go above its own amount. */
export const borrowOf = (limit: Limit): number =>
  limit.borrowShare === undefined ? (limit.borrow ?? 0) : shareOf(ownOf(limit), limit.borrowShare);

/** How much others may use of the own amount of a limit in force while it is idle. */
const lendOf = (limit: Limit): number => {
  const own = ownOf(limit);
  const lend = limit.lendShare === undefined ? (limit.lend ?? own) : shareOf(own, limit.lendShare);
  return Math.min(own, lend);
};

/** The counter of what the members of a cohort lend. */
const poolCounter = ({ cohort = '', kind }: Limit): CounterKey => ({
  subject: `${COHORT}${cohort}`,
  limit: kind,
  period: 'now',
});

/** @param limit - in force; undefined: it is in no cohort. */
export function cohortTermsOf(limit: Limit, set: LimitSet, nowMs: number): CohortTerms | undefined {
  if (limit.cohort === undefined || limit.mode !== 'enforce') return undefined;
  const own = ownOf(limit);
  const counter = poolCounter(limit);
  const kept = own - lendOf(limit);
  return {
    own,
    most: own + borrowOf(limit),
    ...(kept > 0 && {
      kept: { counter: { ...counter, limit: `${limit.kind}:${limit.subject}:${limit.id}` }, bound: kept },
    }),
    pool: { counter, bound: cohortAt(limit, set, nowMs).reduce((sum, member) => sum + lendOf(member), 0) },
  };
}
