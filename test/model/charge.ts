/** What a job must be charged by its state, GitLab's truth and the rulebook of its admission. */
import type { CorrectionEntry, JobRecord } from '../../functions/core/ledger/ledger.ts';
import type { Birth, BornClaim } from './birth.ts';
import { costOf, holdOf } from './rulebook.ts';
import { ranSeconds, type TrueJob } from './truth.ts';

export interface ChargedBy {
  readonly record: JobRecord;
  readonly birth: Birth;
  readonly job: TrueJob;
  readonly entries: readonly CorrectionEntry[];
  readonly chargeUnknown: 'hold' | 'nothing';
}

/** One amount per claim of the record, in their order. */
export const chargesOf = (by: ChargedBy): readonly number[] =>
  by.birth.claims.map((claim) => chargeOf(claim, by));

function chargeOf(claim: BornClaim, by: ChargedBy): number {
  const { record, birth, job } = by;
  switch (record.state) {
    case 'HELD':
    case 'RUNNING':
      return claim.hold;
    case 'SETTLED':
      return claim.unit === 'jobs' ? 0 : holdOf(claim.unit, secondsOf(job), costOfRun(birth, job));
    case 'EXPIRED':
      return claim.unit !== 'jobs' && isCharged(by) ? claim.hold : 0;
    case 'RELEASED':
    case 'REJECTED':
    case 'RESERVED':
      return 0;
  }
}

/** GitLab's count, begun seconds as whole ones. */
export const secondsOf = (job: TrueJob): number => Math.ceil(ranSeconds(job) ?? 0);

export const costOfRun = ({ runnerClass, price }: Birth, job: TrueJob): number =>
  costOf(secondsOf(job), runnerClass, price.rates);

/** Expired, with what it held; asked about again it gets that back first. */
export const isCharged = ({ record, entries, chargeUnknown }: ChargedBy): boolean =>
  record.state === 'EXPIRED' && chargeUnknown === 'hold' && entries.at(-1)?.cause !== 'reopened';
