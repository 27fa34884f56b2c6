/** Weighs jobs in arrival order against the counters seen so far: who is kept, who is refused, and what that adds up to. */
import type { CounterSeen, LimitClaim } from '../../policies/claim.ts';
import type { Violation } from '../../policies/reason.ts';
import type { Job } from './job.ts';
import type { RecordClaim } from './ledger.ts';
import { CounterMerge, fitsBound } from './merge.ts';

/** What this call has seen of a counter, by counter name. A counter not in it has refused nobody yet. */
export type KnownCounters = ReadonlyMap<string, KnownCounter>;

export interface KnownCounter {
  readonly committed: number;
  readonly fitted: number;
  readonly settled: number;
}

export interface Verdict {
  readonly job: Job;
  /** Empty: the job is kept. */
  readonly violations: readonly Violation[];
  /** What would have rejected it in mode `enforce`. */
  readonly shadow: readonly Violation[];
  /** What the job will hold; nothing for a rejected one, whose claims only name their counters. */
  readonly claims: readonly RecordClaim[];
}

export interface Weighing {
  readonly verdicts: readonly Verdict[];
  /** By counter name: one merged write per counter of the kept jobs. */
  readonly merges: ReadonlyMap<string, CounterMerge>;
}

export function weigh(jobs: readonly Job[], known: KnownCounters): Weighing {
  const merges = new Map<string, CounterMerge>();
  const verdicts = jobs.map((job) => {
    const verdict = weighJob(job, known, merges);
    // A rejected job takes no room: the next one may fit where it did not.
    if (verdict.violations.length === 0) addTo(merges, job, verdict.claims);
    return verdict;
  });
  return { verdicts, merges };
}

function weighJob(job: Job, known: KnownCounters, merges: ReadonlyMap<string, CounterMerge>): Verdict {
  const { ask, names } = job;
  const violations: Violation[] = [];
  const shadow: Violation[] = [];
  for (const violation of ask.violations)
    (violation.mode === 'enforce' ? violations : shadow).push(violation);
  const refusedOutright = violations.length > 0;

  const fitted = ask.claims.map((claim, index) => {
    const counter = known.get(names[index] ?? '');
    if (claim.bound === undefined || counter === undefined) return true;
    const own = ownBefore(job, index);
    const merge = merges.get(names[index] ?? '');
    if (claim.mode === 'enforce') {
      const committed = counter.committed + (merge?.committed ?? 0) + own;
      if (fitsBound(committed, claim.amount, claim.bound)) return true;
      if (!refusedOutright) violations.push(refusalOf(claim, { committed, settled: counter.settled }));
      return false;
    }
    const seen = counter.fitted + (merge?.fitted ?? 0) + own;
    if (fitsBound(seen, claim.amount, claim.bound)) return true;
    shadow.push(refusalOf(claim, { committed: seen, settled: counter.settled }));
    return false;
  });

  const kept = violations.length === 0;
  const claims = ask.claims.map((claim, index): RecordClaim => {
    const amount = kept ? claim.amount : 0;
    return {
      counter: claim.counter,
      unit: claim.unit,
      held: amount,
      counted: amount,
      corrected: 0,
      fitted: kept && (fitted[index] ?? true),
      checked: claim.bound !== undefined,
    };
  });
  return { job, violations, shadow, claims };
}

const refusalOf = (claim: LimitClaim, seen: CounterSeen): Violation => ({
  rule: claim.rule,
  class: claim.class,
  mode: claim.mode,
  reason: claim.refusal(seen),
});

/** Two claims of one job may share a counter: the second finds the first already there. */
function ownBefore({ ask, names }: Job, index: number): number {
  let own = 0;
  for (let before = 0; before < index; before += 1) {
    if (names[before] === names[index]) own += ask.claims[before]?.amount ?? 0;
  }
  return own;
}

function addTo(merges: Map<string, CounterMerge>, { ask, names }: Job, claims: readonly RecordClaim[]): void {
  ask.claims.forEach((claim, index) => {
    const name = names[index] ?? '';
    let merge = merges.get(name);
    if (merge === undefined) {
      merge = new CounterMerge(claim.counter);
      merges.set(name, merge);
    }
    merge.add(claim, claims[index]?.fitted ?? true, ask.unchecked);
  });
}
