import { counterName } from '../../../policies/claim.ts';
import { COUNTERS_PER_JOB_MAX } from '../../../policies/limits/counters-per-job.ts';
import { TRANSACTION_ITEMS_MAX } from '../store/index.ts';
import type { HoldAsk, HoldOutcome, JobRecord } from './ledger.ts';

/** One job on its way through a hold. */
export interface HoldJob {
  readonly ask: HoldAsk;
  /** `counterName` of each claim, same order. */
  readonly names: readonly string[];
  /** The same job with what it asks where glass is broken for it. */
  readonly otherwise?: Pick<HoldJob, 'ask' | 'names'>;
  /** The record the decision will replace; absent: none is known. */
  prior: JobRecord | undefined;
  /** The table has been asked for this job's record and no standing answer came back. */
  asked: boolean;
  outcome: HoldOutcome | undefined;
}

export const newJob = (ask: HoldAsk): HoldJob => ({
  ask,
  names: namesOf(ask),
  ...(ask.breakGlass !== undefined && { otherwise: otherwiseOf(ask, ask.breakGlass) }),
  prior: undefined,
  asked: false,
  outcome:
    isLawful(ask.claims, ask) && isLawful(ask.breakGlass?.claims ?? [], ask)
      ? undefined
      : { outcome: 'undecided', cause: 'error' },
});

const namesOf = ({ claims }: Pick<HoldAsk, 'claims'>): readonly string[] =>
  claims.map((claim) => counterName(claim.counter));

function otherwiseOf(
  { jobId, facts }: HoldAsk,
  breakGlass: NonNullable<HoldAsk['breakGlass']>,
): Pick<HoldJob, 'ask' | 'names'> {
  return { ask: { jobId, facts, ...breakGlass, unchecked: 'exempt' }, names: namesOf(breakGlass) };
}

/** The sums of a whole pack must stay safe integers. */
export const AMOUNT_MAX = Math.floor(Number.MAX_SAFE_INTEGER / TRANSACTION_ITEMS_MAX);

const isLawful = (claims: HoldAsk['claims'], { jobId }: HoldAsk): boolean =>
  isAmount(jobId) &&
  claims.length <= COUNTERS_PER_JOB_MAX &&
  claims.every(
    ({ amount, bound, soft, grace }) =>
      isAmount(amount) &&
      amount <= AMOUNT_MAX &&
      [bound, soft?.bound, grace?.bound].every((each) => each === undefined || Number.isSafeInteger(each)),
  );

const isAmount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
