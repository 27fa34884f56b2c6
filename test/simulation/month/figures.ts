/** Figures of a month after its last sweep. Each is a whole number, and most must be 0. */
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { counterName } from '../../../policies/claim.ts';
import type { Audit } from '../audit.ts';
import type { Books } from '../books.ts';
import { usedBy } from '../rulebook/charges.ts';
import type { CountedUnit, RuleSet } from '../rulebook/rule-set.ts';

export const CAUSES = ['overrun', 'bypass', 'unmetered', 'exempt'] as const;
type Cause = (typeof CAUSES)[number];

export interface Figures
  extends Pick<Audit, 'wrongJobs' | 'wrongCounters' | 'heldLeft' | 'liveLeft' | 'drift'> {
  /** Over all money counters of settled jobs, micro-units; text, because sums may pass 2^53. */
  readonly chargedMicros: string;
  readonly trueMicros: string;
  readonly settledJobs: number;
  /** Counters above the highest amount that was ever enforced, and why. */
  readonly overLimit: {
    readonly counters: number;
    readonly excess: Readonly<Partial<Record<CountedUnit, number>>>;
    readonly causes: Readonly<Record<Cause, { readonly jobs: number; readonly micros: number }>>;
    /** Counters whose excess is more than their causes add up to. */
    readonly unexplained: number;
  };
  /** Charged ÷ held of the jobs that asked, in thousandths. */
  readonly actualPerHold: { readonly p50: number; readonly p90: number };
}

type Line = Record<Cause, { jobs: number; amount: number }>;

const perCause = <T>(make: () => T): Record<Cause, T> =>
  Object.fromEntries(CAUSES.map((cause) => [cause, make()])) as Record<Cause, T>;

export function figuresOf(audit: Audit, books: Books, ruleSets: readonly RuleSet[]): Figures {
  const { wrongJobs, wrongCounters, heldLeft, liveLeft, drift, records, counters } = audit;
  const lines = new Map<string, Line>();
  const units = new Map<string, CountedUnit>();
  const ratios: number[] = [];
  let [charged, real, settledJobs] = [0n, 0n, 0];
  for (const record of records) {
    const decided = books.decided(record);
    if (record.state === 'SETTLED') settledJobs += 1;
    for (const [index, claim] of record.claims.entries()) {
      const name = counterName(claim.counter);
      const line = lines.get(name) ?? perCause(() => ({ jobs: 0, amount: 0 }));
      lines.set(name, line);
      const unit = decided.ask.claims[index]?.unit ?? 'micros';
      units.set(name, unit);
      const counts = claim.counted + claim.corrected;
      const cause = causeOf(record, claim.checked);
      const beyond = cause === 'overrun' ? Math.max(0, counts - claim.held) : counts;
      if (beyond > 0) {
        line[cause].jobs += 1;
        line[cause].amount += beyond;
      }
      if (record.state !== 'SETTLED' || unit !== 'micros') continue;
      charged += BigInt(counts);
      real += BigInt(usedBy(unit, decided.ranSeconds, decided.ask));
      if (claim.held > 0) ratios.push(counts / claim.held);
    }
  }
  const bounds = highestBounds(ruleSets);
  const excess: Partial<Record<CountedUnit, number>> = {};
  const causes = perCause(() => ({ jobs: 0, micros: 0 }));
  let [over, unexplained] = [0, 0];
  for (const { key, committed } of counters) {
    const beyond = committed - (bounds.get(`${key.subject}|${key.limit}`) ?? Number.POSITIVE_INFINITY);
    if (beyond <= 0) continue;
    over += 1;
    const name = counterName(key);
    const unit = units.get(name) ?? 'micros';
    excess[unit] = (excess[unit] ?? 0) + beyond;
    let explained = 0;
    for (const cause of CAUSES) {
      const { jobs, amount } = lines.get(name)?.[cause] ?? { jobs: 0, amount: 0 };
      explained += amount;
      causes[cause].jobs += jobs;
      if (unit === 'micros') causes[cause].micros += amount;
    }
    if (explained < beyond) unexplained += 1;
  }
  ratios.sort((a, b) => a - b);
  const at = (share: number): number => Math.round((ratios[Math.floor(ratios.length * share)] ?? 0) * 1000);
  return {
    ...{ wrongJobs, wrongCounters, heldLeft, liveLeft, drift, settledJobs },
    ...{ chargedMicros: String(charged), trueMicros: String(real) },
    overLimit: { counters: over, excess, causes, unexplained },
    actualPerHold: { p50: at(0.5), p90: at(0.9) },
  };
}

const causeOf = ({ unchecked }: JobRecord, checked: boolean): Cause =>
  checked || unchecked === undefined ? 'overrun' : unchecked;

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
