/** After the last sweep: the books against the truth. Every figure is a whole number, and most of them must be 0. */
import type { Counter, JobRecord, Ledger } from '../../functions/ledger/ledger.ts';
import { counterName } from '../../policies/claim.ts';
import type { Unit } from '../../policies/unit.ts';
import type { Places } from './draw-groups.ts';
import type { Run, SimulatedGitLab } from './simulated-gitlab.ts';
import { usedBy } from './true-cost.ts';
import type { WatchedStore } from './watched-store.ts';

export interface Audit {
  /** Over all money counters of settled jobs, micro-units; text, because sums may pass 2^53. */
  readonly chargedMicros: string;
  readonly trueMicros: string;
  readonly settledJobs: number;
  /** Jobs GitLab ran that are not SETTLED at their true cost, or ran not and are charged. */
  readonly wrongJobs: number;
  /** Counters whose total is not the sum of what was truly used. */
  readonly wrongCounters: number;
  /** committed − settled of all counters. */
  readonly heldLeft: number;
  readonly liveLeft: number;
  /** Checked claims that left a counter above its limit at their commit. */
  readonly heldPastLimit: number;
  readonly overLimit: OverLimit;
  readonly drift: number;
  readonly records: number;
  readonly counters: number;
  /** Charged ÷ held of the jobs that asked, median and p90, in thousandths. */
  readonly actualPerHold: { readonly p50: number; readonly p90: number };
}

/** Counters above their limit at the end, and why. */
export interface OverLimit {
  readonly counters: number;
  /** By unit of the counter. */
  readonly excess: Readonly<Partial<Record<Unit, number>>>;
  readonly causes: Readonly<Record<Cause, { readonly jobs: number; readonly micros: number }>>;
  /** Counters whose excess is more than their causes add up to: must be 0. */
  readonly unexplained: number;
}

export type Cause = 'overrun' | 'bypass' | 'unmetered';

interface Line {
  /** What its jobs truly used. */
  used: number;
  readonly causes: Record<Cause, { jobs: number; amount: number }>;
}

const newLine = (): Line => ({
  used: 0,
  causes: { overrun: none(), bypass: none(), unmetered: none() },
});
const none = () => ({ jobs: 0, amount: 0 });

export interface AuditOf {
  readonly store: WatchedStore;
  readonly ledger: Ledger;
  readonly gitlab: SimulatedGitLab;
  readonly places: Places;
}

export async function audit(of: AuditOf): Promise<Audit> {
  const { store, ledger, gitlab } = of;
  const lines = new Map<string, Line>();
  const counters: Counter[] = [];
  const units = new Map<string, Unit>();
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
    let right = hasRightState(record, run) && countsOnEveryLevel(record, run, of);
    for (const claim of record.claims) {
      const name = counterName(claim.counter);
      const line = lines.get(name) ?? newLine();
      lines.set(name, line);
      units.set(name, claim.unit);
      const counts = claim.counted + claim.corrected;
      const used = run === undefined ? 0 : usedBy(run.job, claim.unit);
      line.used += used;
      if (counts !== used) right = false;
      const cause = causeOf(record, claim.checked);
      const beyond = cause === 'overrun' ? Math.max(0, counts - claim.held) : counts;
      if (beyond > 0) {
        line.causes[cause].jobs += 1;
        line.causes[cause].amount += beyond;
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
    wrongCounters: counters.filter(
      ({ key, committed }) => committed !== (lines.get(counterName(key))?.used ?? 0),
    ).length,
    heldLeft: counters.reduce((sum, { committed, settled }) => sum + Math.abs(committed - settled), 0),
    liveLeft: store.liveLeft,
    heldPastLimit: store.heldPastLimit.length,
    overLimit: overLimits(counters, lines, units, store),
    drift: drift.length,
    records: seen.size,
    counters: counters.length,
    actualPerHold: { p50: at(0.5), p90: at(0.9) },
  };
}

/** What ran is settled, what never ran is not, and what never was let go on is rejected. */
function hasRightState({ state }: JobRecord, run: Run | undefined): boolean {
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

/**
 * Every group has a budget of money, so whatever was let go on counts on all three of its groups, also where it is larger
 * than a limit alone, and also if it never asked.
 */
function countsOnEveryLevel({ claims }: JobRecord, run: Run | undefined, of: AuditOf): boolean {
  if (run === undefined) return true;
  const money = claims.filter(({ unit }) => unit === 'micros').map(({ counter }) => counter.subject);
  const groupIds = of.places.projects[run.job.project]?.groupIds ?? [];
  return groupIds.every((id) => {
    const subject = `group/${id}`;
    return money.includes(subject);
  });
}

function causeOf({ unchecked }: JobRecord, checked: boolean): Cause {
  if (checked || unchecked === undefined || unchecked === 'exempt') return 'overrun';
  return unchecked;
}

function overLimits(
  counters: readonly Counter[],
  lines: ReadonlyMap<string, Line>,
  units: ReadonlyMap<string, Unit>,
  store: WatchedStore,
): OverLimit {
  const excess: Partial<Record<Unit, number>> = {};
  const causes = {
    overrun: { jobs: 0, micros: 0 },
    bypass: { jobs: 0, micros: 0 },
    unmetered: { jobs: 0, micros: 0 },
  };
  let over = 0;
  let unexplained = 0;
  for (const { key, committed } of counters) {
    const beyond = committed - (store.limitOf(key) ?? Number.POSITIVE_INFINITY);
    if (beyond <= 0) continue;
    over += 1;
    const name = counterName(key);
    const unit = units.get(name) ?? 'micros';
    excess[unit] = (excess[unit] ?? 0) + beyond;
    const line = lines.get(name) ?? newLine();
    let explained = 0;
    for (const cause of ['overrun', 'bypass', 'unmetered'] as const) {
      const { jobs, amount } = line.causes[cause];
      explained += amount;
      causes[cause].jobs += jobs;
      if (unit === 'micros') causes[cause].micros += amount;
    }
    if (explained < beyond) unexplained += 1;
  }
  return { counters: over, excess, causes, unexplained };
}
