import { type CounterKey, counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { EvaluationContext } from '../../../policies/evaluate.ts';
import { writtenLimit } from '../../../policies/limits/limit-fields.ts';
import { limitAt, limitOfCounter } from '../../../policies/limits/limits.ts';
import type { Violation } from '../../../policies/reason.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { countersAsked } from '../../core/admission/judge.ts';
import type { Counter, JobRecord, RecordClaim } from '../../core/ledger/ledger.ts';
import type { CountersByName } from '../reading/counters-now.ts';
import { NOWHERE, subjectLabelOf } from '../reading/scope.ts';
import type { ExplainedCounter } from './model.ts';
import type { ReevaluatedJob } from './rule-results.ts';

export const countersFor = (record: JobRecord, again: ReevaluatedJob | undefined): readonly CounterKey[] => [
  ...countersOf(record, again?.evaluation.claims ?? []),
  ...(again ? countersAsked(again.evaluation) : []),
];

function countersOf(record: JobRecord, claims: readonly LimitClaim[]): readonly CounterKey[] {
  const keys = [...record.claims, ...claims].map(({ counter }) => counter);
  return [...new Map(keys.map((key) => [counterName(key), key])).values()];
}

/** Lists the counters that a job claimed, or would claim now. Whole units. */
export function counterLines(
  record: JobRecord,
  claims: readonly LimitClaim[],
  counters: CountersByName,
  rules: Pick<EvaluationContext, 'limits' | 'directory' | 'nowMs'>,
): readonly ExplainedCounter[] {
  const violations = [...record.violations, ...record.shadow];
  return countersOf(record, claims).flatMap((counter): ExplainedCounter[] => {
    const name = counterName(counter);
    const claimed = record.claims.find((claim) => counterName(claim.counter) === name);
    const claim = claims.find((each) => counterName(each.counter) === name);
    const unit = claimed?.unit ?? claim?.unit;
    if (unit === undefined) return [];
    const { subject, limit, period } = counter;
    return [
      {
        ...{ subject, label: subjectLabelOf(subject, rules.directory ?? NOWHERE.directory) },
        ...{ limit, period, unit },
        ...withoutAbsent({ atDecision: claimed && counterThen(claimed, violations) }),
        now: counterNow(counter, claim, counters.get(name), rules),
      },
    ];
  });
}

function counterThen(claim: RecordClaim, violations: readonly Violation[]): ExplainedCounter['atDecision'] {
  const { held, counted, corrected, checked, counter } = claim;
  const then = { jobHeld: held, jobCounts: counted + corrected, checked };
  for (const { reason } of violations) {
    if (!('committed' in reason) || reason.code === 'SOFT_LIMIT') continue;
    if (reason.subject !== counter.subject || reason.limit !== counter.limit) continue;
    const { committed, limitAmount, asked } = reason;
    return { ...then, seen: { committed, bound: limitAmount, left: limitAmount - committed, asked } };
  }
  return then;
}

function counterNow(
  key: CounterKey,
  claim: LimitClaim | undefined,
  { committed = 0, settled = 0, fitted = 0 }: Partial<Counter> = {},
  { limits, directory, nowMs }: Pick<EvaluationContext, 'limits' | 'directory' | 'nowMs'>,
): ExplainedCounter['now'] {
  const written = limitOfCounter(key, limits, directory, nowMs);
  const limit = written && limitAt(written, nowMs);
  const bound = claim?.bound ?? limit?.amount;
  const mode = claim?.mode ?? limit?.mode;
  const { wait, whenUnreachable } = limit === undefined ? {} : writtenLimit(limit);
  return {
    settled,
    held: committed - settled,
    ...(typeof bound === 'number' && { left: bound - (mode === 'enforce' ? committed : fitted) }),
    ...withoutAbsent({ bound, mode, wait, whenUnreachable }),
  };
}
