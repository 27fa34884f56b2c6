/** Figures of a month after its last sweep. Each is a whole number, and most must be 0. */
import { counterName } from '../../../policies/claim.ts';
import type { Audit } from '../audit.ts';
import type { Books } from '../books.ts';
import { usedBy } from '../rulebook/charges.ts';
import type { RuleSet } from '../rulebook/rule-set.ts';

const CAUSES = ['overrun', 'bypass', 'unmetered', 'exempt'] as const;
type Cause = (typeof CAUSES)[number];

export interface Figures
  extends Pick<Audit, 'wrongJobs' | 'wrongCounters' | 'heldLeft' | 'liveLeft' | 'drift'> {
  /** Over all money counters of settled jobs, micro-units; text, because sums may pass 2^53. */
  readonly chargedMicros: string;
  readonly trueMicros: string;
  readonly settledJobs: number;
  readonly overLimit: {
    /** Counters above the highest amount that was ever enforced. */
    readonly counters: number;
    /** Jobs on them that used more than they held. */
    readonly overrunJobs: number;
    /** Counters whose excess is more than its causes add up to. */
    readonly unexplained: number;
  };
  /** Charged ÷ held of the jobs that asked, 90th percentile, in thousandths. */
  readonly actualPerHoldP90: number;
}

export function figuresOf(audit: Audit, books: Books, ruleSets: readonly RuleSet[]): Figures {
  const { wrongJobs, wrongCounters, heldLeft, liveLeft, drift, records, counters } = audit;
  /** What jobs used of a counter beyond what was checked, and by how many jobs. */
  const beyondOf = new Map<string, Record<Cause, { jobs: number; amount: number }>>();
  const ratios: number[] = [];
  let [charged, real, settledJobs] = [0n, 0n, 0];
  for (const record of records) {
    const decided = books.decided(record);
    if (record.state === 'SETTLED') settledJobs += 1;
    for (const [index, claim] of record.claims.entries()) {
      const name = counterName(claim.counter);
      const line = beyondOf.get(name) ?? nothing();
      beyondOf.set(name, line);
      const counts = claim.counted + claim.corrected;
      const cause = claim.checked || record.unchecked === undefined ? 'overrun' : record.unchecked;
      const beyond = cause === 'overrun' ? Math.max(0, counts - claim.held) : counts;
      if (beyond > 0) {
        line[cause].jobs += 1;
        line[cause].amount += beyond;
      }
      const unit = decided.ask.claims[index]?.unit ?? 'micros';
      if (record.state !== 'SETTLED' || unit !== 'micros') continue;
      charged += BigInt(counts);
      real += BigInt(usedBy(unit, decided.ranSeconds, decided.ask));
      if (claim.held > 0) ratios.push(counts / claim.held);
    }
  }
  const bounds = highestBounds(ruleSets);
  const overLimit = { counters: 0, overrunJobs: 0, unexplained: 0 };
  for (const { key, committed } of counters) {
    const beyond = committed - (bounds.get(`${key.subject}|${key.limit}`) ?? Number.POSITIVE_INFINITY);
    if (beyond <= 0) continue;
    const line = beyondOf.get(counterName(key)) ?? nothing();
    overLimit.counters += 1;
    overLimit.overrunJobs += line.overrun.jobs;
    if (CAUSES.reduce((sum, cause) => sum + line[cause].amount, 0) < beyond) overLimit.unexplained += 1;
  }
  ratios.sort((a, b) => a - b);
  return {
    ...{ wrongJobs, wrongCounters, heldLeft, liveLeft, drift, settledJobs, overLimit },
    ...{ chargedMicros: String(charged), trueMicros: String(real) },
    actualPerHoldP90: Math.round((ratios[Math.floor(ratios.length * 0.9)] ?? 0) * 1000),
  };
}

const nothing = () =>
  Object.fromEntries(CAUSES.map((cause) => [cause, { jobs: 0, amount: 0 }])) as Record<
    Cause,
    { jobs: number; amount: number }
  >;

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
