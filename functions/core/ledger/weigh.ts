/** Weighs jobs in arrival order against the counters seen so far: who is kept, who is refused, and what that adds up to. */
import { type CounterKey, counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { LedgerClock } from '../environment/index.ts';
import { LedgerError } from '../store/index.ts';
import { TRANSACTION_RESERVE_MS, timeLeftMs } from './attempt.ts';
import { BorrowingCheck } from './borrow.ts';
import { type HoldJob, isBehind, type WeighedVerdict, type WeighingResult } from './job.ts';
import type { RecordClaim } from './ledger.ts';
import {
  type ClaimOutcome,
  CounterMerge,
  judgeClaim,
  type KnownCounter,
  type KnownCounters,
} from './merge.ts';
import { isReserved, reservedClaims } from './reservation.ts';
import type { LedgerStore } from './store.ts';
import { refusedForOthers } from './waiting.ts';

/** A verdict, and by claim what was found and the bound it must fit at commit. */
interface Weighed extends WeighedVerdict {
  readonly judged: readonly ClaimOutcome[];
  readonly bounds: readonly (number | undefined)[];
}

export function weigh(jobs: readonly HoldJob[], known: KnownCounters): WeighingResult {
  const merges = new Map<string, CounterMerge>();
  const verdicts = jobs.map((job) => {
    // Its hold replaces the reservation, and its rejection ends it: either way what is kept for it is nobody else's before it is.
    for (const claim of reservedClaims(job.prior))
      mergeOf(merges, counterName(claim.counter), claim).giveBack(claim.counted);
    const verdict = weighEither(job, known, merges);
    // A rejected job takes no room: the next one may fit where it did not.
    if (verdict.violations.length === 0) addTo(merges, verdict);
    else addReclaims(merges, verdict);
    return verdict;
  });
  return { verdicts, merges };
}

/** As it asks; if that rejects it, with the glass broken, as far as somebody broke it for jobs like this. */
function weighEither(job: HoldJob, known: KnownCounters, merges: ReadonlyMap<string, CounterMerge>): Weighed {
  const verdict = weighJob(job, known, merges);
  const { otherwise } = job;
  if (verdict.violations.length === 0 || otherwise === undefined || verdict.graceUnknown) return verdict;
  const broken = weighJob({ ...job, ...otherwise }, known, merges);
  return broken.violations.length === 0 ? { ...broken, job, ask: otherwise } : verdict;
}

function weighJob(job: HoldJob, known: KnownCounters, merges: ReadonlyMap<string, CounterMerge>): Weighed {
  const { ask, names } = job;
  const reserved = new Set(reservedClaims(job.prior).map(({ counter }) => counterName(counter)));
  const refusedOutright = ask.violations.some(({ mode }) => mode === 'enforce');
  let borrowing: BorrowingCheck | undefined;
  const judged = ask.claims.map((claim, index) => {
    const name = names[index] ?? '';
    const counter = known.get(name);
    let found: ClaimOutcome;
    if (claim.own === undefined && claim.part === undefined) {
      found = judgeClaim(claim, counter, merges.get(name), ownBefore(job, index));
    } else {
      borrowing ??= new BorrowingCheck(known, merges, reserved);
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
    // A job that is rejected anyhow does not answer for what its pipeline's grace might have let in.
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
    bounds: judged.map(({ refused, grace, bound }) => (refused === undefined ? bound : grace)),
  };
}

/** How long all that refuses it lets it wait, and for what; nothing if any of it rejects at once. */
function waitOf(
  { ask, names }: HoldJob,
  judged: readonly ClaimOutcome[],
): Pick<WeighedVerdict, 'waitMs' | 'awaited'> | undefined {
  let waitMs = Number.POSITIVE_INFINITY;
  const awaited: string[] = [];
  for (const [index, { refused }] of judged.entries()) {
    if (refused === undefined) continue;
    waitMs = Math.min(waitMs, ask.claims[index]?.waitMs ?? 0);
    awaited.push(judged[index]?.awaits ?? names[index] ?? '');
  }
  return waitMs > 0 ? { waitMs, awaited } : undefined;
}

/** Nothing for the part of a cohort that it takes nothing of. */
function recordClaim(
  { counter, unit, amount: asked, bound, part }: HoldJob['ask']['claims'][number],
  kept: boolean,
  { fitted, amount = asked }: Pick<ClaimOutcome, 'fitted' | 'amount'> = { fitted: true },
): readonly RecordClaim[] {
  const held = kept ? amount : 0;
  if (part !== undefined && held === 0) return [];
  return [
    {
      counter,
      unit,
      held,
      counted: held,
      corrected: 0,
      fitted: kept && fitted,
      checked: bound !== undefined,
    },
  ];
}

/** Two claims of one job may share a counter: the second finds the first already there. */
function ownBefore({ ask, names }: HoldJob, index: number): number {
  let own = 0;
  for (let before = 0; before < index; before += 1) {
    if (names[before] === names[index]) own += ask.claims[before]?.amount ?? 0;
  }
  return own;
}

function addTo(merges: Map<string, CounterMerge>, { ask: asked, judged, bounds }: Weighed): void {
  const { ask, names } = asked;
  ask.claims.forEach((claim, index) => {
    const { fitted = true, amount, borrows } = judged[index] ?? {};
    if (claim.part !== undefined && amount === 0) return;
    const merge = mergeOf(merges, names[index] ?? '', claim);
    merge.add(claim, fitted, ask.unchecked, bounds[index], amount);
    if (borrows) merge.borrow();
  });
}

/** Whatever else refuses the job: it could not run if it came back now. */
function addReclaims(merges: Map<string, CounterMerge>, { ask: asked, judged }: Weighed): void {
  if (judged.some(({ refused, reclaims }) => refused !== undefined && !reclaims)) return;
  asked.ask.claims.forEach((claim, index) => {
    if (judged[index]?.reclaims) mergeOf(merges, asked.names[index] ?? '', claim).reclaim();
  });
}

function mergeOf(
  merges: Map<string, CounterMerge>,
  name: string,
  { counter }: Pick<LimitClaim, 'counter'>,
): CounterMerge {
  let merge = merges.get(name);
  if (merge === undefined) {
    merge = new CounterMerge(counter);
    merges.set(name, merge);
  }
  return merge;
}

// Grace: a job that does not fit is let in a little further if its pipeline already has an admitted job.
/** A consistent read takes a few milliseconds; without it the job is undecided. */
const READ_TIMEOUT_MS = 300;

/** Weighs; where a job hangs on its pipeline, reads the pipelines of the pack in one batch and weighs again. */
export async function weighWithGrace(
  jobs: readonly HoldJob[],
  known: Map<string, KnownCounter>,
  deadlineMs: number,
  deps: { readonly store: LedgerStore; readonly clock: LedgerClock },
): Promise<WeighingResult> {
  const weighing = weigh(jobs, known);
  const hanging = weighing.verdicts.filter(({ graceUnknown }) => graceUnknown);
  if (hanging.length === 0) return weighing;
  const cause = await learnPipelines(jobs, known, deadlineMs, deps);
  // Found too large, but not for certain: that is our trouble, not the job's.
  if (cause !== undefined) for (const { job } of hanging) job.outcome = { outcome: 'undecided', cause };
  return weigh(
    jobs.filter(({ outcome }) => outcome === undefined),
    known,
  );
}

/** All pipelines of the pack: whom one job's grace leaves no room may need its own. */
async function learnPipelines(
  jobs: readonly HoldJob[],
  known: Map<string, KnownCounter>,
  deadlineMs: number,
  { store, clock }: { readonly store: LedgerStore; readonly clock: LedgerClock },
): Promise<'deadline' | 'unavailable' | undefined> {
  const leftMs = timeLeftMs(deadlineMs, clock);
  if (leftMs < TRANSACTION_RESERVE_MS) return 'deadline';
  const keys = new Map<string, CounterKey>();
  for (const job of jobs) {
    const key = pipelineOf(job);
    if (key !== undefined && !known.has(counterName(key))) keys.set(counterName(key), key);
  }
  try {
    const counters = await store.readCounters([...keys.values()], {
      timeoutMs: Math.min(READ_TIMEOUT_MS, leftMs),
    });
    for (const [index, name] of [...keys.keys()].entries()) {
      const { committed = 0, fitted = 0, settled = 0 } = counters[index] ?? {};
      known.set(name, { committed, fitted, settled });
    }
    return undefined;
  } catch (error) {
    if (error instanceof LedgerError) return 'unavailable';
    throw error;
  }
}

/**
 * Whether a job's pipeline has an admitted job, in the table or earlier in the same pack (the same transaction, so both
 * or none). Undefined: nobody looked.
 */
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
