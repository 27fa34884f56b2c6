/** Figures of a month after its last sweep. Each is a whole number, and most must be 0. */
import { counterName } from '../../../policies/claim.ts';
import type { Audit } from '../audit.ts';
import type { Books } from '../books.ts';
import { usedBy } from '../rulebook/charges.ts';
import type { RuleSet } from '../rulebook/rule-set.ts';

export interface Figures
  extends Pick<Audit, 'wrongJobs' | 'wrongCounters' | 'heldLeft' | 'liveLeft' | 'drift'> {
  /** Over all money counters of settled jobs, micro-units; text, because sums may pass 2^53. */
  readonly chargedMicros: string;
  readonly trueMicros: string;
  readonly settledJobs: number;
  readonly overLimit: {
    /** Counters above the highest amount that was ever enforced. */
    readonly counters: number;
    /** Counters whose excess is more than overruns and what nobody checked add up to. */
    readonly unexplained: number;
  };
}

export function figuresOf(audit: Audit, books: Books, ruleSets: readonly RuleSet[]): Figures {
  const { wrongJobs, wrongCounters, heldLeft, liveLeft, drift, records, counters } = audit;
  /** What jobs used of a counter beyond what was checked. */
  const beyondOf = new Map<string, number>();
  let [charged, real, settledJobs] = [0n, 0n, 0];
  for (const record of records) {
    const decided = books.decided(record);
    if (record.state === 'SETTLED') settledJobs += 1;
    for (const [index, claim] of record.claims.entries()) {
      const name = counterName(claim.counter);
      const counts = claim.counted + claim.corrected;
      const isHeld = claim.checked || record.unchecked === undefined;
      const beyond = Math.max(0, isHeld ? counts - claim.held : counts);
      beyondOf.set(name, (beyondOf.get(name) ?? 0) + beyond);
      const unit = decided.ask.claims[index]?.unit ?? 'micros';
      if (record.state !== 'SETTLED' || unit !== 'micros') continue;
      charged += BigInt(counts);
      real += BigInt(usedBy(unit, decided.ranSeconds, decided.ask));
    }
  }
  const bounds = highestBounds(ruleSets);
  const overLimit = { counters: 0, unexplained: 0 };
  for (const { key, committed } of counters) {
    const beyond = committed - (bounds.get(`${key.subject}|${key.limit}`) ?? Number.POSITIVE_INFINITY);
    if (beyond <= 0) continue;
    overLimit.counters += 1;
    if ((beyondOf.get(counterName(key)) ?? 0) < beyond) overLimit.unexplained += 1;
  }
  return {
    ...{ wrongJobs, wrongCounters, heldLeft, liveLeft, drift, settledJobs, overLimit },
    ...{ chargedMicros: String(charged), trueMicros: String(real) },
  };
}

/** By `subject|limit`; infinite where the limit was not enforced all the time. */
function highestBounds(ruleSets: readonly RuleSet[]): ReadonlyMap<string, number> {
  const highest = new Map<string, number>();
  for (const { limits, grants } of ruleSets) {
    for (const { subject, id, amount, mode } of limits) {
      const granted = grants
        .filter((grant) => grant.subject === subject && grant.limit === id)
        .reduce((sum, grant) => sum + grant.amount, 0);
      const bound = amount === 'unlimited' || mode === 'shadow' ? Number.POSITIVE_INFINITY : amount + granted;
      highest.set(`${subject}|${id}`, Math.max(highest.get(`${subject}|${id}`) ?? 0, bound));
    }
  }
  return highest;
}
