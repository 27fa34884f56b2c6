/** Weighs jobs in arrival order against the counters seen so far, and sums the admitted claims per counter. */
import { type CounterKey, counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { LedgerClock } from '../environment/environment.ts';
import { undefinedIfSilent } from '../store/table-failure.ts';
import { readOptions } from './attempt.ts';
import {
  type ClaimOutcome,
  CounterMerge,
  fitsBound,
  judgeClaim,
  type KnownCounter,
  type KnownCounters,
  violationBy,
} from './counter.ts';
import { type HoldJob, isBehind, type WeighedJob, type WeighingResult } from './hold-job.ts';
import type { RecordClaim } from './ledger.ts';
import { isReserved, reservedClaims } from './reservation.ts';
import type { LedgerStore } from './store.ts';

interface Weighed extends WeighedJob {
  readonly judged: readonly ClaimOutcome[];
}

export function weigh(jobs: readonly HoldJob[], known: KnownCounters): WeighingResult {
  const merges = new Map<string, CounterMerge>();
  const weighedJobs = jobs.map((job) => {
    // Both its hold and its rejection end the reservation in the same transaction, so no other job can take it
    // before.
    for (const claim of reservedClaims(job.prior))
      mergeOf(merges, counterName(claim.counter), claim).giveBack(claim.counted);
    const weighed = weighEither(job, known, merges);
    // A rejected job takes no room: the next one may fit where it did not.
    if (weighed.violations.length === 0) addTo(merges, weighed);
    else addReclaims(merges, weighed);
    return weighed;
  });
  return { weighedJobs, merges };
}

function weighEither(job: HoldJob, known: KnownCounters, merges: ReadonlyMap<string, CounterMerge>): Weighed {
  const weighed = weighJob(job, known, merges);
  const { underBreakGlass } = job;
  if (weighed.violations.length === 0 || underBreakGlass === undefined || weighed.graceUnknown)
    return weighed;
  const broken = weighJob({ ...job, ...underBreakGlass }, known, merges);
  return broken.violations.length === 0 ? { ...broken, job, ask: underBreakGlass } : weighed;
}

function weighJob(job: HoldJob, known: KnownCounters, merges: ReadonlyMap<string, CounterMerge>): Weighed {
  const { ask, names } = job;
  const reserved = new Set(reservedClaims(job.prior).map(({ counter }) => counterName(counter)));
  const refusedOutright = ask.violations.some(({ mode }) => mode === 'enforce');
  let borrowing: ReturnType<typeof checkBorrowing> | undefined;
  const judged = ask.claims.map((claim, index) => {
    const name = names[index] ?? '';
    const counter = known.get(name);
    let found: ClaimOutcome;
    if (claim.own === undefined && claim.part === undefined) {
      found = judgeClaim(claim, counter, merges.get(name), ownBefore(job, index));
    } else {
      borrowing ??= checkBorrowing(known, merges, reserved);
      found = claim.part === undefined ? borrowing.whole(job, index) : borrowing.part(job, index);
    }
    return found.refused === undefined && found.amount !== 0 && isBehind(job, index) && !reserved.has(name)
      ? refusedForOthers(
          claim,
          found,
          claim.part === undefined ? counter : known.get(counterName(claim.part.of)),
        )
      : found;
  });
  const refusals = judged.filter(({ refused }) => refused !== undefined);
  const graceMayDo =
    !refusedOutright && refusals.length > 0 && refusals.every(({ grace }) => grace !== undefined);
  const runs = graceMayDo ? pipelineRuns(job, known, merges) : false;
  const kept = !refusedOutright && (refusals.length === 0 || runs === true);

  const violations = ask.violations.filter(({ mode }) => mode === 'enforce');
  const shadow = ask.violations.filter(({ mode }) => mode !== 'enforce');
  for (const { refused, noted, warned, grace } of judged) {
    if (noted !== undefined) shadow.push(noted);
    if (warned !== undefined && kept) shadow.push(warned);
    // Let in by grace: worth knowing, like a limit that only warns.
    if (refused !== undefined && kept) shadow.push({ ...refused, mode: 'warn' });
    // A job that a rule rejects does not report limits that its pipeline's grace might have let it pass.
    else if (refused !== undefined && !(refusedOutright && grace !== undefined)) violations.push(refused);
  }
  return {
    job,
    ask: job,
    violations,
    shadow,
    claims: ask.claims.flatMap((claim, index) => recordClaim(claim, kept, judged[index])),
    judged,
    reserved: isReserved(job.prior),
    graceUnknown: runs === undefined,
    ...(!kept && !refusedOutright && waitOf(job, judged)),
  };
}

/** Returns how long it may wait and for which counters; undefined if any refusal rejects immediately. */
function waitOf(
  { ask, names }: HoldJob,
  judged: readonly ClaimOutcome[],
): Pick<WeighedJob, 'waitMs' | 'awaited'> | undefined {
  let waitMs = Number.POSITIVE_INFINITY;
  const awaited: string[] = [];
  for (const [index, { refused }] of judged.entries()) {
    if (refused === undefined) continue;
    waitMs = Math.min(waitMs, ask.claims[index]?.waitMs ?? 0);
    awaited.push(judged[index]?.awaits ?? names[index] ?? '');
  }
  return waitMs > 0 ? { waitMs, awaited } : undefined;
}

/** Returns no claim for a cohort counter from which the job takes nothing. */
function recordClaim(
  { counter, unit, amount: asked, bound, part }: HoldJob['ask']['claims'][number],
  kept: boolean,
  { fitted, amount = asked }: Pick<ClaimOutcome, 'fitted' | 'amount'> = { fitted: true },
): readonly RecordClaim[] {
  const held = kept ? amount : 0;
  if (part !== undefined && held === 0) return [];
  const counted = { counter, unit, held, counted: held, corrected: 0 };
  return [{ ...counted, fitted: kept && fitted, checked: bound !== undefined }];
}

/** Two claims of one job may share a counter: the second finds the first already there. */
function ownBefore({ ask, names }: HoldJob, index: number): number {
  let own = 0;
  for (let before = 0; before < index; before += 1) {
    if (names[before] === names[index]) own += ask.claims[before]?.amount ?? 0;
  }
  return own;
}

function addTo(merges: Map<string, CounterMerge>, { ask: { ask, names }, judged }: Weighed): void {
  ask.claims.forEach((claim, index) => {
    const { fitted = true, amount, borrows, refused, grace, bound } = judged[index] ?? {};
    if (claim.part !== undefined && amount === 0) return;
    const merge = mergeOf(merges, names[index] ?? '', claim);
    merge.add(claim, fitted, ask.unchecked, refused === undefined ? bound : grace, amount);
    if (borrows) merge.borrows = true;
  });
}

function addReclaims(merges: Map<string, CounterMerge>, { ask: { ask, names }, judged }: Weighed): void {
  if (judged.some(({ refused, reclaims }) => refused !== undefined && !reclaims)) return;
  ask.claims.forEach((claim, index) => {
    if (judged[index]?.reclaims) mergeOf(merges, names[index] ?? '', claim).reclaims = true;
  });
}

function mergeOf(
  merges: Map<string, CounterMerge>,
  name: string,
  { counter }: Pick<LimitClaim, 'counter'>,
): CounterMerge {
  const merge = merges.get(name) ?? new CounterMerge(counter);
  merges.set(name, merge);
  return merge;
}

/**
 * Weighs. Grace admits a job that does not fit, up to a bound, if its pipeline already has an admitted job. If grace depends
 * on unread pipeline counters, reads those of the pack in one batch and weighs again.
 */
export async function weighWithGrace(
  jobs: readonly HoldJob[],
  known: Map<string, KnownCounter>,
  deadlineMs: number,
  deps: { readonly store: LedgerStore; readonly clock: LedgerClock },
): Promise<WeighingResult> {
  const weighing = weigh(jobs, known);
  const unknown = weighing.weighedJobs.filter(({ graceUnknown }) => graceUnknown);
  if (unknown.length === 0) return weighing;
  const cause = await learnPipelines(jobs, known, deadlineMs, deps);
  // It does not fit, but grace could not be read: undecided, not rejected.
  if (cause !== undefined) for (const { job } of unknown) job.outcome = { outcome: 'undecided', cause };
  return weigh(
    jobs.filter(({ outcome }) => outcome === undefined),
    known,
  );
}

async function learnPipelines(
  jobs: readonly HoldJob[],
  known: Map<string, KnownCounter>,
  deadlineMs: number,
  { store, clock }: { readonly store: LedgerStore; readonly clock: LedgerClock },
): Promise<'deadline' | 'unavailable' | undefined> {
  const options = readOptions(deadlineMs, clock);
  if (options === undefined) return 'deadline';
  const keys = new Map<string, CounterKey>();
  for (const job of jobs) {
    const key = pipelineOf(job);
    if (key !== undefined && !known.has(counterName(key))) keys.set(counterName(key), key);
  }
  const counters = await store.readCounters([...keys.values()], options).catch(undefinedIfSilent);
  if (counters === undefined) return 'unavailable';
  for (const [index, name] of [...keys.keys()].entries()) {
    const { committed = 0, fitted = 0, settled = 0 } = counters[index] ?? {};
    known.set(name, { committed, fitted, settled });
  }
  return undefined;
}

function pipelineRuns(
  job: HoldJob,
  known: KnownCounters,
  merges: ReadonlyMap<string, CounterMerge>,
): boolean | undefined {
  const key = pipelineOf(job);
  if (key === undefined) return false;
  const name = counterName(key);
  const taken = merges.get(name)?.committed ?? 0;
  const seen = known.get(name);
  return seen === undefined ? (taken > 0 ? true : undefined) : seen.committed + taken > 0;
}

const pipelineOf = ({ ask }: HoldJob): CounterKey | undefined =>
  ask.claims.find(({ grace }) => grace !== undefined)?.grace?.pipeline;

// Claims of a limit in a cohort. A job takes the part that its group keeps first, and the rest from the
// members' lent amounts. Each counter has its own bound, which DynamoDB checks with the write:
// - cohort: all jobs <= the sum of the members' own amounts
// - group: a group's jobs <= own + borrowed
// - kept: its kept part <= own - lent
// - lent: all other parts <= the sum of lent amounts
//
// A job beyond its group's own amount is a borrower. If a job within it is refused, it sets a mark on the
// counter, which then refuses borrowers until the mark expires. So that job waits only for running jobs.

interface Whole {
  readonly name: string;
  readonly borrows: boolean;
  left: number;
  refused: boolean;
}

type Bounded = LimitClaim & Required<Pick<LimitClaim, 'bound'>>;

const NOTHING: ClaimOutcome = { bound: undefined, fitted: true, amount: 0 };

/**
 * Judges the claims of one job that are in cohorts, in their order: the whole comes before its parts.
 *
 * @param reserved - counters, by name, in which room is kept for the job; it borrows nothing more from them.
 */
function checkBorrowing(
  known: KnownCounters,
  merges: ReadonlyMap<string, CounterMerge>,
  reserved: ReadonlySet<string>,
) {
  const wholes = new Map<string, Whole>();
  const taken = new Map<string, number>();
  const seen = (name: string): number =>
    (known.get(name)?.committed ?? 0) + (merges.get(name)?.committed ?? 0) + (taken.get(name) ?? 0);
  const take = (name: string, outcome: ClaimOutcome & { readonly amount: number }): ClaimOutcome => {
    taken.set(name, (taken.get(name) ?? 0) + outcome.amount);
    return outcome;
  };
  /** @param whole - name of the limit's own counter, which the reason shows. */
  const violation = (claim: LimitClaim, whole: string, lentOut?: true): Violation =>
    // Only units that a job gives back are lent, so nothing is ever settled.
    violationBy(claim, { committed: seen(whole), settled: 0, ...(lentOut && { lentOut }) });

  return {
    whole({ ask, names }: HoldJob, index: number): ClaimOutcome {
      const claim = ask.claims[index] as Bounded & Required<Pick<LimitClaim, 'own'>>;
      const name = names[index] ?? '';
      const { amount, bound, own } = claim;
      const committed = seen(name);
      const borrows = !fitsBound(committed, amount, own);
      const refused = !fitsBound(committed, amount, bound);
      wholes.set(name, { name, borrows, left: amount, refused });
      if (refused) return { ...NOTHING, refused: violation(claim, name) };
      return { bound: borrows ? bound : own, fitted: true };
    },

    /** Returns no second violation for one limit: after the first refusal the other parts take nothing. */
    part({ ask, names }: HoldJob, index: number): ClaimOutcome {
      const claim = ask.claims[index] as Bounded & Required<Pick<LimitClaim, 'part'>>;
      const name = names[index] ?? '';
      const { bound, part } = claim;
      const whole = wholes.get(counterName(part.of));
      if (whole === undefined) return { bound: undefined, fitted: claim.neverFits !== true };
      if (whole.refused) return NOTHING;
      if (part.from === 'kept') {
        const amount = Math.max(0, Math.min(whole.left, bound - seen(name)));
        whole.left -= amount;
        return take(name, { bound, fitted: true, amount });
      }
      const amount = part.from === 'lent' ? whole.left : claim.amount;
      if (amount === 0) return NOTHING;
      const { reclaim } = known.get(name) ?? {};
      const isReclaimed = reclaim !== undefined || merges.get(name)?.reclaims === true;
      const borrows = whole.borrows && !reserved.has(name);
      if (fitsBound(seen(name), amount, bound) && !(borrows && isReclaimed))
        return take(name, { bound, fitted: true, amount, ...(borrows && { borrows }) });
      whole.refused = true;
      const refused = violation(claim, whole.name, true);
      // A borrower waits for a job of its own group to end, behind all who want their own.
      return whole.borrows
        ? { ...NOTHING, refused, awaits: whole.name }
        : { ...NOTHING, refused, ...(reclaim !== 'fresh' && { reclaims: true }) };
    },
  };
}

/** Lists unread cohort counters of jobs for which another counter is known: a refusal shows only that one. */
export function unseenOfCohorts(jobs: readonly HoldJob[], known: KnownCounters): ReadonlySet<string> {
  const unseen = new Set<string>();
  for (const { ask, names } of jobs) {
    const inCohorts = names.filter((_, index) => {
      const { own, part } = ask.claims[index] ?? {};
      return own !== undefined || part !== undefined;
    });
    if (!inCohorts.some((name) => known.has(name))) continue;
    for (const name of inCohorts) if (!known.has(name)) unseen.add(name);
  }
  return unseen;
}

/** There may be headroom, but other jobs wait for it, so it counts as taken. */
function refusedForOthers(
  claim: LimitClaim,
  judged: ClaimOutcome,
  { committed, settled }: Pick<KnownCounter, 'committed' | 'settled'> = { committed: 0, settled: 0 },
): ClaimOutcome {
  const seen =
    claim.part === undefined
      ? { committed: Math.max(committed, claim.bound ?? 0), settled }
      : { committed, settled, lentOut: true as const };
  return { ...judged, refused: violationBy(claim, seen) };
}
