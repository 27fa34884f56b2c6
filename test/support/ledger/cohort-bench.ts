import fc from 'fast-check';
import type { JobRecord, RecordClaim } from '../../../functions/core/ledger/ledger.ts';
import type { LimitClaim } from '../../../policies/claim.ts';
import { cohortClaims, cohortTermsOf } from '../../../policies/limits/cohort.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { claim, counter } from './asks.ts';

/** How a group stands in a cohort of slots. */
export interface CohortMember {
  readonly own: number;
  readonly borrow: number;
  readonly lend?: number;
}

export const someMember = (ownMax: number, borrowMax: number): fc.Arbitrary<CohortMember> =>
  fc
    .record(
      {
        own: fc.integer({ min: 0, max: ownMax }),
        borrow: fc.integer({ min: 0, max: borrowMax }),
        lend: fc.integer({ min: 0, max: ownMax }),
      },
      { requiredKeys: ['own', 'borrow'] },
    )
    .filter(({ own, borrow }) => own + borrow > 0);

const limitOf = ({ own, borrow, lend }: CohortMember, index: number): Limit => ({
  id: 'jobs-now',
  subject: `group/${index + 1}`,
  kind: 'jobs',
  unit: 'jobs',
  amount: own,
  zone: 'UTC',
  mode: 'enforce',
  cohort: 'ci',
  borrow,
  ...(lend !== undefined && { lend }),
});

export const cohortSet = (members: readonly CohortMember[]): LimitSet => ({
  version: 'v1',
  bySubject: new Map(members.map((member, index) => [`group/${index + 1}`, [limitOf(member, index)]])),
  rollouts: new Map(),
  personalDefault: [],
});

/** What a job of a member asks, as evaluation makes it. */
export function cohortClaimsOf(
  set: LimitSet,
  group: number,
  amount: number,
  over: Partial<LimitClaim> = {},
): readonly LimitClaim[] {
  const [limit] = set.bySubject.get(`group/${group}`) ?? [];
  const terms = limit && cohortTermsOf(limit, set, 0);
  if (terms === undefined) throw new Error(`group ${group} is in no cohort`);
  const key = counter(`group/${group}`, 'jobs-now', 'now');
  const whole = claim(`group/${group}`, amount, terms.most, {
    counter: key,
    unit: 'jobs',
    own: terms.own,
    ...over,
  });
  return [whole, ...cohortClaims(whole, terms)];
}

/** What the promises of a cohort have against the records that are live; undefined: nothing. */
export function brokenPromise(
  members: readonly CohortMember[],
  records: Iterable<JobRecord>,
): string | undefined {
  const used = members.map(() => 0);
  for (const { claims } of records) {
    for (const { counter: key, counted } of claims.filter(({ checked }: RecordClaim) => checked)) {
      const [kind, id] = key.subject.split('/');
      if (kind === 'group') used[Number(id) - 1] = (used[Number(id) - 1] ?? 0) + counted;
    }
  }
  const sum = (each: (member: CohortMember, used: number) => number): number =>
    members.reduce((total, member, index) => total + each(member, used[index] ?? 0), 0);
  const says = JSON.stringify(members.map((member, index) => ({ ...member, used: used[index] })));
  if (sum((_, use) => use) > sum(({ own }) => own)) return `more runs than all own: ${says}`;
  if (members.some(({ own, borrow }, index) => (used[index] ?? 0) > own + borrow))
    return `a group exceeds what it owns and may borrow: ${says}`;
  const borrowed = sum(({ own }, use) => Math.max(0, use - own));
  const lent = sum(({ own, lend = own }, use) => Math.min(lend, own, Math.max(0, own - use)));
  return borrowed > lent ? `more is borrowed than others lend and do not use: ${says}` : undefined;
}
