/** After the last sweep: the books against the truth. Every figure is a whole number, and most of them must be 0. */
import type { Counter, JobRecord, Ledger, RecordClaim } from '../../../functions/core/ledger/index.ts';
import { counterName } from '../../../policies/claim.ts';
import { type DatedEdition, highestBounds } from './draw-editions.ts';
import type { ExpectedBooks } from './expected/books.ts';
import type { CountedUnit } from './expected/edition.ts';
import type { SimulatedGitLab, SimulatedRun } from './simulated-gitlab.ts';
import { usedBy } from './true-cost.ts';
import type { WatchedStore } from './watched-store.ts';

export interface Audit {
  /** Over all money counters of settled jobs, micro-units; text, because sums may pass 2^53. */
  readonly chargedMicros: string;
  readonly trueMicros: string;
  readonly settledJobs: number;
  /** Jobs GitLab ran that are not SETTLED at their true cost, or ran not and are charged. */
  readonly wrongJobs: number;
  /** Counters whose total is not what the jobs that should count on them truly used. */
  readonly wrongCounters: number;
  /** committed − settled of all counters. */
  readonly heldLeft: number;
  readonly liveLeft: number;
  readonly overLimit: OverLimit;
  readonly drift: number;
  readonly records: number;
  readonly counters: number;
  /** Charged ÷ held of the jobs that asked, median and p90, in thousandths. */
  readonly actualPerHold: { readonly p50: number; readonly p90: number };
}

/** Counters above their limit at the end, and why. */
interface OverLimit {
  readonly counters: number;
  /** Keyed by the counter's unit. */
  readonly excess: Readonly<Partial<Record<CountedUnit, number>>>;
  readonly causes: Readonly<Record<Cause, { readonly jobs: number; readonly micros: number }>>;
  /** Counters whose excess is more than their causes add up to: must be 0. */
  readonly unexplained: number;
}

export const CAUSES = ['overrun', 'bypass', 'unmetered', 'exempt'] as const;

type Cause = (typeof CAUSES)[number];

type Line = Record<Cause, { jobs: number; amount: number }>;

const newLine = (): Line => ({ overrun: none(), bypass: none(), unmetered: none(), exempt: none() });
const none = () => ({ jobs: 0, amount: 0 });

interface AuditOf {
  readonly store: WatchedStore;
  readonly ledger: Ledger;
  readonly gitlab: SimulatedGitLab;
  readonly books: ExpectedBooks;
  readonly editions: readonly DatedEdition[];
}

export async function audit(of: AuditOf): Promise<Audit> {
  const { store, ledger, gitlab } = of;
  const lines = new Map<string, Line>();
  const counters: Counter[] = [];
  const units = new Map<string, CountedUnit>();
  const ratios: number[] = [];
  const seen = new Set<number>();
  let charged = 0n;
  let wanted = 0n;
  let settledJobs = 0;
  let wrongJobs = 0;

  for (const item of store.dump()) {
    if (item.kind === 'counter') counters.push(item.counter);
    if (item.kind !== 'record') continue;
    const { record } = item;
    const run = gitlab.runs.get(record.jobId);
    seen.add(record.jobId);
    let right = hasRightState(record, run);
    for (const claim of record.claims) {
      const unit = countedUnit(claim.unit);
      const name = counterName(claim.counter);
      const line = lines.get(name) ?? newLine();
      lines.set(name, line);
      units.set(name, unit);
      const counts = claim.counted + claim.corrected;
      const used = run === undefined ? 0 : usedBy(run.job, unit, record.decidedAtMs);
      if (counts !== used) right = false;
      const cause = causeOf(record, claim.checked);
      const beyond = cause === 'overrun' ? Math.max(0, counts - claim.held) : counts;
      if (beyond > 0) {
        line[cause].jobs += 1;
        line[cause].amount += beyond;
      }
      if (record.state !== 'SETTLED' || claim.unit !== 'micros') continue;
      charged += BigInt(counts);
      wanted += BigInt(used);
      if (claim.held > 0) ratios.push(counts / claim.held);
    }
    if (record.state === 'SETTLED') settledJobs += 1;
    if (!right) wrongJobs += 1;
  }
  for (const jobId of gitlab.runs.keys()) if (!seen.has(jobId)) wrongJobs += 1;
  const { drift } = await ledger.rebuild({ repair: false });
  ratios.sort((a, b) => a - b);
  const at = (share: number): number => Math.round((ratios[Math.floor(ratios.length * share)] ?? 0) * 1000);
  return {
    chargedMicros: String(charged),
    trueMicros: String(wanted),
    settledJobs,
    wrongJobs,
    wrongCounters: wrongCounters(counters, of),
    heldLeft: counters.reduce((sum, { committed, settled }) => sum + Math.abs(committed - settled), 0),
    liveLeft: store.liveLeft,
    overLimit: overLimits(counters, lines, units, highestBounds(of.editions)),
    drift: drift.length,
    records: seen.size,
    counters: counters.length,
    actualPerHold: { p50: at(0.5), p90: at(0.9) },
  };
}

/** What ran is settled, what never ran is not, and what never was let go on is rejected. */
function hasRightState({ state }: JobRecord, run: SimulatedRun | undefined): boolean {
  if (run === undefined) return state === 'REJECTED';
  switch (run.job.fate) {
    case 'runs':
    case 'bypass':
      return state === 'SETTLED';
    case 'routerFailure':
    case 'canceledBeforeStart':
      return state === 'RELEASED';
    case 'vanished':
      return state === 'EXPIRED';
  }
}

/** Against the jobs that the expectation has on each counter, at what GitLab says they used. */
function wrongCounters(counters: readonly Counter[], { books, gitlab }: AuditOf): number {
  const used = new Map<string, number>();
  for (const { job, ask } of books.jobs.values()) {
    const run = gitlab.runs.get(job.jobId);
    if (run === undefined) continue;
    for (const { counter, unit } of ask.claims)
      used.set(counter, (used.get(counter) ?? 0) + usedBy(run.job, unit, ask.atMs));
  }
  let wrong = 0;
  for (const { key, committed } of counters) {
    const name = counterName(key);
    if (committed !== (used.get(name) ?? 0)) wrong += 1;
    used.delete(name);
  }
  // What is left is on no counter of the table.
  return wrong + [...used.values()].filter((amount) => amount !== 0).length;
}

/** Nobody counts anything else in this month. */
const COUNTED_UNITS: readonly CountedUnit[] = ['micros', 'seconds', 'starts', 'jobs'];

function countedUnit(unit: RecordClaim['unit']): CountedUnit {
  const counted = COUNTED_UNITS.find((each) => each === unit);
  if (counted === undefined) throw new RangeError(`nothing is limited in ${unit}`);
  return counted;
}

function causeOf({ unchecked }: JobRecord, checked: boolean): Cause {
  return checked || unchecked === undefined ? 'overrun' : unchecked;
}

function overLimits(
  counters: readonly Counter[],
  lines: ReadonlyMap<string, Line>,
  units: ReadonlyMap<string, CountedUnit>,
  bounds: ReadonlyMap<string, number>,
): OverLimit {
  const excess: Partial<Record<CountedUnit, number>> = {};
  const causes = {
    overrun: { jobs: 0, micros: 0 },
    bypass: { jobs: 0, micros: 0 },
    unmetered: { jobs: 0, micros: 0 },
    exempt: { jobs: 0, micros: 0 },
  };
  let over = 0;
  let unexplained = 0;
  for (const { key, committed } of counters) {
    const beyond = committed - (bounds.get(`${key.subject}|${key.limit}`) ?? Number.POSITIVE_INFINITY);
    if (beyond <= 0) continue;
    over += 1;
    const name = counterName(key);
    const unit = units.get(name) ?? 'micros';
    excess[unit] = (excess[unit] ?? 0) + beyond;
    const line = lines.get(name) ?? newLine();
    let explained = 0;
    for (const cause of CAUSES) {
      const { jobs, amount } = line[cause];
      explained += amount;
      causes[cause].jobs += jobs;
      if (unit === 'micros') causes[cause].micros += amount;
    }
    if (explained < beyond) unexplained += 1;
  }
  return { counters: over, excess, causes, unexplained };
}
