/**
 * Holds budget for a batch of jobs.
 *
 * 1. Weigh the jobs in arrival order against the counters seen so far.
 * 2. Write one transaction per pack of jobs; each counter update carries its limit as a condition.
 * 3. If a condition fails, DynamoDB returns the counter. Learn it and weigh again, at most six times.
 *
 * Retrying `hold` for the same job returns the first decision.
 */
import { counterName, hasManyRoots } from '../../../policies/claim.ts';
import { undefinedIfSilent } from '../store/table-failure.ts';
import { attempt, type GaveUpCause, readOptions, TRANSACTION_RESERVE_MS, timeLeftMs } from './attempt.ts';
import { type KnownCounter, knownCounter, type PackNeed, packs } from './counter.ts';
import {
  answerFromRecord,
  decided,
  draftRecord,
  type HoldJob,
  isOpen,
  newJob,
  type WeighedJob,
  type WeighingResult,
} from './hold-job.ts';
import type { HoldOptions, HoldOutcome, HoldRequest, JobRecord } from './ledger.ts';
import type { MoveDeps } from './move.ts';
import { isReserved, reservedClaims } from './reservation.ts';
import { findReserved } from './reserve.ts';
import { expiring } from './retention.ts';
import { giveBackCharges } from './settle.ts';
import type { Refusal, Write } from './store.ts';
import { unseenOfCohorts, weigh, weighWithGrace } from './weigh.ts';

/** Each failed pass shows every counter that refused. Six failures mean that others write faster than this batch can read. */
const PASSES_MAX = 6;

interface Holding extends MoveDeps {
  readonly deadlineMs: number;
  readonly known: Map<string, KnownCounter>;
  readonly limitsAreStale: () => Promise<boolean>;
}

export async function hold(
  asks: readonly HoldRequest[],
  deadlineMs: number,
  deps: MoveDeps,
  { limitsAreCurrent, onContended, onPacked }: HoldOptions = {},
): Promise<readonly HoldOutcome[]> {
  const jobs = new Map<number, HoldJob>();
  for (const ask of asks) if (!jobs.has(ask.jobId)) jobs.set(ask.jobId, newJob(ask));

  const contended = new Set<string>();
  const holding: Holding = {
    ...deps,
    ...{ deadlineMs, known: new Map<string, KnownCounter>(), isUrgent: true },
    limitsAreStale: staleCheck(limitsAreCurrent, () => timeLeftMs(deadlineMs, deps.clock)),
    onContended: (writes: readonly Write[]) => {
      for (const write of writes)
        if (write.kind === 'counter' && hasManyRoots(write.key)) contended.add(counterName(write.key));
    },
  };
  const packed = packs([...jobs.values()].filter(isOpen), countersOf);
  onPacked?.(packed.length);
  // One after the other: packs of one batch share counters, and the earlier job goes first.
  for (const pack of packed) await decidePack(pack, holding);
  for (const name of contended) {
    const claimants = [...jobs.values()].filter(({ names }) => names.includes(name));
    onContended?.(
      name,
      claimants.map(({ ask }) => ask.jobId),
    );
  }
  return asks.map((ask) => jobs.get(ask.jobId)?.outcome ?? { outcome: 'undecided', cause: 'error' });
}

const countersOf = ({ names, underBreakGlass }: HoldJob): PackNeed => ({
  items: 1,
  names: underBreakGlass === undefined ? names : [...names, ...underBreakGlass.names],
});

async function decidePack(pack: readonly HoldJob[], holding: Holding): Promise<void> {
  const { known, deadlineMs, clock } = holding;
  const open = (): readonly HoldJob[] => pack.filter(isOpen);
  // If the batch would not fit by what was last seen, a read is cheaper than a refused transaction.
  const nearlyFull = holding.lastSeen.nearlyFull(pack);
  if (nearlyFull.size > 0) await readCounters(pack, nearlyFull, holding);
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    // Before anything is known there is nothing to find, to give back or to complete.
    if (known.size > 0 || pass > 1) {
      await findReserved(open(), known, deadlineMs, holding);
      for (const name of await giveBackCharges(open(), deadlineMs, holding)) known.delete(name);
      await readCounters(open(), unseenOfCohorts(open(), known), holding);
    }
    const jobs = open();
    if (jobs.length === 0) return;
    const weighed = await weighWithGrace(jobs, known, deadlineMs, holding);
    const weighing = await decideUnwritten(weighed, holding);
    if (mustWeighAgain(weighed)) continue;
    // Write the reclaim mark even without a decided job, or borrowers take the amount again.
    const reclaims = [...weighing.merges.values()].some((merge) => merge.reclaims);
    if (weighing.weighedJobs.length === 0 && !reclaims) return;
    const result = await attempt(writesOf(weighing, clock.nowMs()), deadlineMs, holding);
    switch (result.outcome) {
      case 'committed':
        return conclude(weighing, holding);
      case 'gave_up':
        return giveUp(weighing.weighedJobs, result.cause);
      case 'refused':
        // They waited for headroom that others were expected to take. If those do not fit, it is free.
        for (const job of jobs) if (job.outcome?.outcome === 'waiting') job.outcome = undefined;
        learn(result.refusals, weighing, holding);
    }
  }
  giveUp((await decideUnwritten(weigh(open(), known), holding)).weighedJobs, 'contended');
}

/** Returns true if a reservation was unknown when it was weighed, or if its job keeps waiting. */
const mustWeighAgain = ({ weighedJobs }: WeighingResult): boolean =>
  weighedJobs.some(
    ({ job, reserved }) => reserved !== isReserved(job.prior) || (reserved && job.outcome !== undefined),
  );

/** Records first, then counters: `learn` reads the refusals in this order. */
function writesOf({ weighedJobs, merges }: WeighingResult, nowMs: number): readonly Write[] {
  return [
    ...weighedJobs.map((weighed): Write => {
      const replaces = weighed.job.prior;
      return { kind: 'record', record: draftRecord(weighed, nowMs), ...(replaces && { replaces }) };
    }),
    ...[...merges.values()].map((merge) => expiring(merge.write(nowMs), nowMs)),
  ];
}

function conclude({ weighedJobs, merges }: WeighingResult, { known, lastSeen }: Holding): void {
  for (const weighed of weighedJobs) weighed.job.outcome = decided(weighed);
  for (const [name, { committed, fitted, reclaims }] of merges) {
    lastSeen.move(name, committed, fitted);
    const seen = known.get(name);
    if (seen === undefined) continue;
    const now = { committed: seen.committed + committed, fitted: seen.fitted + fitted };
    known.set(name, { ...seen, ...now, ...(reclaims && { reclaim: 'fresh' }) });
  }
}

function learn(
  refusals: readonly (Refusal | undefined)[],
  { weighedJobs, merges }: WeighingResult,
  holding: Holding,
): void {
  const nowMs = holding.clock.nowMs();
  for (const [index, { job }] of weighedJobs.entries()) {
    const refusal = refusals[index];
    if (refusal?.kind === 'record') {
      // The reservation changed, so the known amounts of its counters are stale.
      for (const { counter } of reservedClaims(job.prior)) holding.known.delete(counterName(counter));
      learnRecord(job, refusal.record, nowMs);
    }
    job.isRecordKnown = true;
  }
  for (const [index, name] of [...merges.keys()].entries()) {
    const refusal = refusals[weighedJobs.length + index];
    if (refusal?.kind === 'counter') learnCounter(name, knownCounter(refusal.counter, nowMs), holding);
  }
}

function learnRecord(job: HoldJob, record: JobRecord | undefined, nowMs: number): void {
  job.outcome = record && answerFromRecord(record, nowMs);
  job.prior = record;
  job.isRecordKnown = true;
}

function learnCounter(name: string, seen: KnownCounter, { known, lastSeen }: Holding): void {
  known.set(name, seen);
  lastSeen.see(name, seen);
}

async function readCounters(
  jobs: readonly HoldJob[],
  wanted: ReadonlySet<string>,
  holding: Holding,
): Promise<void> {
  const { store, clock, deadlineMs } = holding;
  const options = readOptions(deadlineMs, clock);
  if (wanted.size === 0 || options === undefined) return;
  const claimed = jobs.flatMap(({ ask, names }) =>
    ask.claims.map(({ counter }, index) => [names[index] ?? '', counter] as const),
  );
  const keys = new Map(claimed.filter(([name]) => wanted.has(name)));
  const jobIds = jobs.map(({ ask }) => ask.jobId);
  const read = await Promise.all([
    store.readCounters([...keys.values()], options),
    store.readRecords(jobIds, options),
  ]).catch(undefinedIfSilent);
  if (read === undefined) return;
  const [counters, records] = read;
  const nowMs = clock.nowMs();
  for (const [index, name] of [...keys.keys()].entries())
    learnCounter(name, knownCounter(counters[index], nowMs), holding);
  for (const [index, job] of jobs.entries()) learnRecord(job, records[index], nowMs);
}

/**
 * A job that a counter refused is rejected even if its record could not be written. The fallback is only for
 * jobs that were never compared. A job whose record was not read may already hold, so it stays undecided.
 */
function giveUp(weighedJobs: readonly WeighedJob[], cause: GaveUpCause): void {
  for (const weighed of weighedJobs) {
    const { job } = weighed;
    const rejectedWithoutCounters = job.ask.violations.some(({ mode }) => mode === 'enforce');
    const mayReject = !weighed.graceUnknown && (job.isRecordKnown || rejectedWithoutCounters);
    const outcome = decided(weighed);
    job.outcome =
      mayReject && outcome.outcome === 'rejected'
        ? { ...outcome, unwritten: true }
        : { outcome: 'undecided', cause };
  }
}

/**
 * Decides jobs that may go on waiting, or whose limits have changed, without a write. Returns the weighing of the others:
 * a rejected job takes no headroom, so their results stay valid.
 */
async function decideUnwritten(weighing: WeighingResult, holding: Holding): Promise<WeighingResult> {
  const waiting = weighing.weighedJobs.filter((weighed) => leftMsOf(weighed) > 0);
  // A waiting job may hold already.
  const unread = waiting.flatMap(({ job }) => (job.isRecordKnown ? [] : [job]));
  if (unread.length > 0) await readRecords(unread, holding);
  for (const weighed of waiting) weighed.job.outcome ??= waitingOutcome(weighed);
  const limited = weighing.weighedJobs.filter((weighed) => isOpen(weighed.job) && hangsOnLimits(weighed));
  if (limited.length > 0 && (await holding.limitsAreStale()))
    for (const { job } of limited) job.outcome = { outcome: 'undecided', cause: 'stale_limits' };
  return { ...weighing, weighedJobs: weighing.weighedJobs.filter(({ job }) => isOpen(job)) };
}

async function readRecords(jobs: readonly HoldJob[], { store, clock, deadlineMs }: Holding): Promise<void> {
  const undecide = (cause: 'deadline' | 'unavailable'): void => {
    for (const job of jobs) job.outcome = { outcome: 'undecided', cause };
  };
  const options = readOptions(deadlineMs, clock);
  if (options === undefined) return undecide('deadline');
  const ids = jobs.map(({ ask }) => ask.jobId);
  const records = await store.readRecords(ids, options).catch(undefinedIfSilent);
  if (records === undefined) return undecide('unavailable');
  for (const [index, job] of jobs.entries()) learnRecord(job, records[index], clock.nowMs());
}

const leftMsOf = ({ waitMs = 0, job: { ask } }: WeighedJob): number =>
  ask.wait === undefined || ask.wait.last ? 0 : waitMs - ask.wait.waitedMs;

function waitingOutcome(weighed: WeighedJob): HoldJob['outcome'] {
  const [first, ...rest] = weighed.violations;
  if (first === undefined) return undefined;
  const { awaited: counters = [] } = weighed;
  return { outcome: 'waiting', leftMs: leftMsOf(weighed), counters, violations: [first, ...rest] };
}

const ASK_MS_MAX = 300;
/** An answer with less time left would come too late to be of use. */
const ASK_MS_MIN = 20;

/** Asks once per call of hold, before the first rejection. */
function staleCheck(
  limitsAreCurrent: HoldOptions['limitsAreCurrent'],
  leftMs: () => number,
): Holding['limitsAreStale'] {
  let current: boolean | undefined;
  return async () => {
    if (limitsAreCurrent === undefined) return false;
    const timeoutMs = Math.min(ASK_MS_MAX, leftMs() - TRANSACTION_RESERVE_MS);
    current ??= timeoutMs < ASK_MS_MIN || (await limitsAreCurrent(timeoutMs));
    return !current;
  };
}

/** An edit of limits could change this rejection. It cannot change the modes of security rules. */
const hangsOnLimits = ({ violations }: WeighedJob): boolean =>
  violations.length > 0 && !violations.some((each) => each.class === 'security');
