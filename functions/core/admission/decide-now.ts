/** The decision on a job as of now, without a trace in the ledger: by the evaluation and the weighing of an admission. */
import { type CounterKey, counterName } from '../../../policies/claim.ts';
import type { Evaluation } from '../../../policies/evaluate.ts';
import type { Violation } from '../../../policies/reason.ts';
import {
  type Counter,
  type KnownCounter,
  knownCounter,
  newJob,
  type RecordClaim,
  weigh,
} from '../ledger/index.ts';
import { type Evaluated, toHoldAsk } from './judge.ts';

export interface CurrentDecision {
  readonly outcome: 'admitted' | 'rejected';
  /** In mode `enforce`. Empty: it is admitted. */
  readonly violations: readonly Violation[];
  /** Violations that would reject it if they were enforced, and soft limits that it passes. */
  readonly shadow: readonly Violation[];
  /** How long the relay may keep it waiting before it is rejected, ms. Absent: something rejects it immediately. */
  readonly waitMs?: number;
}

/** Counters as they were read, by `counterName`. A counter that is not there was never written. */
export type CountersNow = Pick<ReadonlyMap<string, Counter>, 'get'>;

/** Every counter that the decision depends on, those of a pipeline's grace and of a break-glass included. */
export const countersAsked = ({ claims, breakGlass }: Evaluation): readonly CounterKey[] =>
  [...claims, ...(breakGlass?.claims ?? [])].flatMap(({ counter, grace }) =>
    grace === undefined ? [counter] : [counter, grace.pipeline],
  );

/**
 * Decides as the ledger's `hold` does when it has seen every counter.
 *
 * @param own - claims of an earlier record whose amounts do not count against the job.
 */
export function decideNow(
  job: Evaluated,
  counters: CountersNow,
  nowMs: number,
  own: readonly RecordClaim[] = [],
): CurrentDecision {
  const known = new Map(
    countersAsked(job.evaluation).map((key) => {
      const name = counterName(key);
      const mine = own.filter((claim) => counterName(claim.counter) === name);
      return [name, without(mine, knownCounter(counters.get(name), nowMs))];
    }),
  );
  const [verdict] = weigh([newJob(toHoldAsk(job))], known).verdicts;
  const { violations = [], shadow = [], waitMs } = verdict ?? {};
  return {
    outcome: violations.length > 0 ? 'rejected' : 'admitted',
    violations,
    shadow,
    ...(waitMs !== undefined && { waitMs }),
  };
}

function without(mine: readonly RecordClaim[], seen: KnownCounter): KnownCounter {
  let { committed, fitted, settled } = seen;
  for (const claim of mine) {
    const charged = claim.counted + claim.corrected;
    committed -= charged;
    if (claim.fitted) fitted -= charged;
  }
  settled = Math.min(settled, committed);
  return { ...seen, committed, fitted, settled };
}
