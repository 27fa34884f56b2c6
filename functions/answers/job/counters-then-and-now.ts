import { type CounterKey, counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { OutagePolicy } from '../../../policies/limits/limit.ts';
import { writtenLimit } from '../../../policies/limits/limit-fields.ts';
import { type LimitSet, limitAt, limitOfCounter } from '../../../policies/limits/limits.ts';
import type { Mode } from '../../../policies/mode.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { Unit } from '../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { Counter, JobRecord, RecordClaim } from '../../core/ledger/index.ts';
import { subjectLabelOf } from '../reading/scope.ts';

/** One counter a job claimed, or would claim if it were asked about now. Whole units. */
export interface CounterLine {
  readonly counter: CounterKey;
  /** The limit's subject for people: `acme/payments`. */
  readonly label: string;
  readonly unit: Unit;
  /** Absent: the job did not claim it then. */
  readonly atDecision?: CounterThen;
  readonly now: CounterNow;
}

interface CounterThen {
  /** Amount held by the job; 0 if rejected. */
  readonly jobHeld: number;
  /** Amount charged now, including corrections. */
  readonly jobCounts: number;
  /** False: it took its amount without asking. */
  readonly checked: boolean;
  /** The counter's state at the refusal; other states are not stored. */
  readonly seen?: {
    readonly committed: number;
    readonly bound: number;
    readonly left: number;
    readonly asked: number;
  };
}

interface CounterNow {
  readonly settled: number;
  readonly held: number;
  /** `unlimited` as finance wrote it; absent: there is no such limit any more. */
  readonly bound?: number | 'unlimited';
  /** Below 0 if the limit is exceeded. A limit that only watches shows what would count had it been enforced. */
  readonly left?: number;
  readonly mode?: Mode;
  /** Wait time, as `20s`; absent: jobs are rejected immediately. */
  readonly wait?: string;
  /** Terms while the counter is unreachable; absent: those of its rule or kind. */
  readonly whenUnreachable?: OutagePolicy;
}

/** Today's limits, and when that is: grants come and go. */
interface LimitsNow {
  readonly limits: LimitSet;
  /** Provides default limits of groups. */
  readonly directory?: Directory | undefined;
  /** Unix ms. */
  readonly nowMs: number;
}

/** The counters of a record, then those that only today's limits name. */
export function countersOf(record: JobRecord, claims: readonly LimitClaim[]): readonly CounterKey[] {
  const keys = [...record.claims.map(({ counter }) => counter), ...claims.map(({ counter }) => counter)];
  return [...new Map(keys.map((key) => [counterName(key), key])).values()];
}

/** @param counters - as read now, by `counterName`. */
export function counterLines(
  record: JobRecord,
  claims: readonly LimitClaim[],
  counters: ReadonlyMap<string, Counter>,
  by: LimitsNow,
): readonly CounterLine[] {
  const violations = [...record.violations, ...record.shadow];
  return countersOf(record, claims).flatMap((counter): CounterLine[] => {
    const name = counterName(counter);
    const claimed = record.claims.find((claim) => counterName(claim.counter) === name);
    const asked = claims.find((claim) => counterName(claim.counter) === name);
    const unit = claimed?.unit ?? asked?.unit;
    if (unit === undefined) return [];
    const now = counterNow(counter, asked, counters.get(name), by);
    const { subject } = counter;
    const label = by.directory === undefined ? subject : subjectLabelOf(subject, by.directory);
    const then = claimed !== undefined && { atDecision: counterThen(claimed, violations) };
    return [{ counter, label, unit, ...then, now }];
  });
}

function counterThen(claim: RecordClaim, violations: readonly Violation[]): CounterThen {
  const { held, counted, corrected, checked, counter } = claim;
  const told = { jobHeld: held, jobCounts: counted + corrected, checked };
  for (const { reason } of violations) {
    if (!('committed' in reason) || reason.code === 'SOFT_LIMIT') continue;
    if (reason.subject !== counter.subject || reason.limit !== counter.limit) continue;
    const { committed, limitAmount, asked } = reason;
    const left = limitAmount - committed;
    return { ...told, seen: { committed, bound: limitAmount, left, asked } };
  }
  return told;
}

function counterNow(
  key: CounterKey,
  asked: LimitClaim | undefined,
  counter: Counter | undefined,
  { limits, directory, nowMs }: LimitsNow,
): CounterNow {
  const { committed = 0, settled = 0, fitted = 0 } = counter ?? {};
  const written = limitOfCounter(key, limits, directory, nowMs);
  const limit = written && limitAt(written, nowMs);
  const bound = asked?.bound ?? limit?.amount;
  const mode = asked?.mode ?? limit?.mode;
  const { wait, whenUnreachable } = limit === undefined ? {} : writtenLimit(limit);
  const counts = mode === 'enforce' ? committed : fitted;
  return {
    settled,
    held: committed - settled,
    ...(bound !== undefined && { bound }),
    ...(typeof bound === 'number' && { left: bound - counts }),
    ...(mode !== undefined && { mode }),
    ...withoutAbsent({ wait, whenUnreachable }),
  };
}
