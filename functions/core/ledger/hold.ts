/**
 * Decides a batch of jobs. The condition on the counter is the check; a refused condition returns the counter, so the
 * reason and its numbers cost no second read:
 *
 *   weigh in arrival order ─▶ one transaction per pack ─▶ committed: answer
 *        ▲                                            └─▶ refused: learn what the items showed
 *        └────────────── again, at most six times ◀───────────┘
 */
import { type CounterKey, counterName, spansRoots } from '../../../policies/claim.ts';
import { LedgerError } from '../store/index.ts';
import {
  type AttemptDeps,
  attempt,
  type GaveUpCause,
  TRANSACTION_RESERVE_MS,
  timeLeftMs,
} from './attempt.ts';
import { unseenOfCohorts } from './borrow.ts';
import {
  decided,
  draftRecord,
  type HoldJob,
  newJob,
  type WeighedVerdict,
  type WeighingResult,
} from './job.ts';
import { type SeenCounters, StaleLimits } from './last-seen.ts';
import type { Counter, HoldAsk, HoldOptions, HoldOutcome, JobRecord } from './ledger.ts';
import { type KnownCounter, knownCounter, type PackNeed, packs } from './merge.ts';
import { giveBackCharges } from './reopen.ts';
import { isReserved, reservedClaims } from './reservation.ts';
import { findReserved } from './reserve.ts';
import { expiring } from './retention.ts';
import { answerFromRecord } from './same-job.ts';
import type { Refusal, Write } from './store.ts';
import { siftWaiting } from './waiting.ts';
import { weigh, weighWithGrace } from './weigh.ts';

interface HoldDeps extends AttemptDeps {
  readonly lastSeen: SeenCounters;
}

/**
 * Each failed pass shows every counter and record that refused. Six failures mean that others write faster
 * than this call reads.
 */
const PASSES_MAX = 6;
/** A consistent read takes a few milliseconds; it only saves work, so it may not cost much either. */
const READ_TIMEOUT_MS = 300;

export async function hold(
  asks: readonly HoldAsk[],
  deadlineMs: number,
  deps: HoldDeps,
  { limitsAreCurrent, onContended }: HoldOptions = {},
): Promise<readonly HoldOutcome[]> {
  const stale = new StaleLimits(limitsAreCurrent, deadlineMs, deps.clock);
  const jobs = new Map<number, HoldJob>();
  for (const ask of asks) if (!jobs.has(ask.jobId)) jobs.set(ask.jobId, newJob(ask));

  const known = new Map<string, KnownCounter>();
  const contended = new Set<string>();
  const noting = {
    ...deps,
    isUrgent: true,
    onContended: (writes: readonly Write[]) => noteShared(writes, contended),
  };
  // One after the other: packs of one batch share counters, and the earlier job goes first.
  for (const pack of packs(open([...jobs.values()]), countersOf)) {
    await decidePack(pack, known, stale, deadlineMs, noting);
  }
  for (const name of contended) onContended?.(name, claimantsOf(name, jobs.values()));
  return asks.map((ask) => jobs.get(ask.jobId)?.outcome ?? { outcome: 'undecided', cause: 'error' });
}

async function decidePack(
  pack: readonly HoldJob[],
  known: Map<string, KnownCounter>,
  stale: StaleLimits,
  deadlineMs: number,
  deps: HoldDeps,
): Promise<void> {
  await readFirst(pack, known, deadlineMs, deps);
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    await findReserved(open(pack), known, deadlineMs, deps);
    for (const name of await giveBackCharges(open(pack), deadlineMs, deps)) known.delete(name);
    await readCounters(open(pack), unseenOfCohorts(open(pack), known), known, deadlineMs, deps);
    const jobs = open(pack);
    if (jobs.length === 0) return;
    const weighed = await weighWithGrace(jobs, known, deadlineMs, deps);
    const weighing = await stale.sifted(await sifted(weighed, deadlineMs, deps));
    if (isOtherwise(weighed)) continue;
    if (weighing.verdicts.length === 0 && !isReclaimed(weighing)) return;
    const result = await attempt(writesOf(weighing, deps.clock.nowMs()), deadlineMs, deps);
    switch (result.outcome) {
      case 'committed':
        return conclude(weighing, known, deps.lastSeen);
      case 'gave_up':
        return giveUp(weighing.verdicts, result.cause);
      case 'refused':
        // They were to wait for room that others were taken to have: if these do not fit, it is free.
        for (const job of jobs) if (job.outcome?.outcome === 'waiting') job.outcome = undefined;
        learn(result.refusals, weighing, known, deps);
    }
  }
  const last = await sifted(weigh(open(pack), known), deadlineMs, deps);
  giveUp((await stale.sifted(last)).verdicts, 'contended');
}

/** Without the jobs that go on waiting. */
async function sifted(
  weighing: WeighingResult,
  deadlineMs: number,
  { store, clock }: HoldDeps,
): Promise<WeighingResult> {
  if (weighing.verdicts.every(({ waitMs }) => waitMs === undefined)) return weighing;
  return siftWaiting(weighing, deadlineMs, {
    ...{ store, clock },
    learnRecord: (job, record) => learnRecord(job, record, clock.nowMs()),
  });
}

/** The reservation was unknown or its job keeps waiting; weigh again. */
const isOtherwise = ({ verdicts }: WeighingResult): boolean =>
  verdicts.some(
    ({ job, reserved }) => reserved !== isReserved(job.prior) || (reserved && job.outcome !== undefined),
  );

/** A member's own amount is lent out. The mark needs a write, because borrowers would take it again. */
const isReclaimed = ({ merges }: WeighingResult): boolean =>
  [...merges.values()].some(({ reclaims }) => reclaims);

function noteShared(writes: readonly Write[], contended: Set<string>): void {
  for (const write of writes) {
    if (write.kind === 'counter' && spansRoots(write.key)) contended.add(counterName(write.key));
  }
}

const claimantsOf = (name: string, jobs: Iterable<HoldJob>): readonly number[] =>
  [...jobs].flatMap(({ ask, names }) => (names.includes(name) ? [ask.jobId] : []));

const open = (jobs: readonly HoldJob[]): readonly HoldJob[] =>
  jobs.filter((job) => job.outcome === undefined);

/** Includes counters of a break-glass, so that the pack has space for them. */
const countersOf = ({ names, otherwise }: HoldJob): PackNeed => ({
  items: 1,
  names: otherwise === undefined ? names : [...names, ...otherwise.names],
});

/** Records first, then counters: `learn` reads the refusals in this order. */
function writesOf({ verdicts, merges }: WeighingResult, nowMs: number): readonly Write[] {
  return [
    ...verdicts.map((verdict): Write => {
      const replaces = verdict.job.prior;
      return { kind: 'record', record: draftRecord(verdict, nowMs), ...(replaces && { replaces }) };
    }),
    ...[...merges.values()].map((merge) => expiring(merge.write(nowMs), nowMs)),
  ];
}

function conclude(
  { verdicts, merges }: WeighingResult,
  known: Map<string, KnownCounter>,
  lastSeen: SeenCounters,
): void {
  for (const verdict of verdicts) verdict.job.outcome = decided(verdict);
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
  { verdicts, merges }: WeighingResult,
  known: Map<string, KnownCounter>,
  { clock, lastSeen }: HoldDeps,
): void {
  const nowMs = clock.nowMs();
  verdicts.forEach(({ job }, index) => {
    const refusal = refusals[index];
    if (refusal?.kind === 'record') {
      // The reservation changed, so the known amounts of its counters are stale.
      for (const { counter } of reservedClaims(job.prior)) known.delete(counterName(counter));
      learnRecord(job, refusal.record, nowMs);
    }
    job.asked = true;
  });
  [...merges.keys()].forEach((name, index) => {
    const refusal = refusals[verdicts.length + index];
    if (refusal?.kind === 'counter') learnCounter(name, refusal.counter, known, lastSeen, nowMs);
  });
}

function learnRecord(job: HoldJob, record: JobRecord | undefined, nowMs: number): void {
  job.outcome = record && answerFromRecord(record, nowMs);
  job.prior = record;
  job.asked = true;
}

function learnCounter(
  name: string,
  counter: Counter | undefined,
  known: Map<string, KnownCounter>,
  lastSeen: SeenCounters,
  nowMs: number,
): void {
  const seen = knownCounter(counter, nowMs);
  known.set(name, seen);
  lastSeen.see(name, seen);
}

/** When the batch would not fit by what was last seen, looks at those counters and at the jobs' records before writing. */
function readFirst(
  pack: readonly HoldJob[],
  known: Map<string, KnownCounter>,
  deadlineMs: number,
  deps: HoldDeps,
): Promise<void> {
  return readCounters(pack, deps.lastSeen.nearlyFull(pack), known, deadlineMs, deps);
}

async function readCounters(
  pack: readonly HoldJob[],
  full: ReadonlySet<string>,
  known: Map<string, KnownCounter>,
  deadlineMs: number,
  { store, clock, lastSeen }: HoldDeps,
): Promise<void> {
  if (full.size === 0 || timeLeftMs(deadlineMs, clock) < TRANSACTION_RESERVE_MS) return;
  const counters = keysByName(pack, full);
  try {
    const [seen, records] = await Promise.all([
      store.readCounters([...counters.values()], { timeoutMs: READ_TIMEOUT_MS }),
      store.readRecords(
        pack.map((job) => job.ask.jobId),
        { timeoutMs: READ_TIMEOUT_MS },
      ),
    ]);
    for (const [index, name] of [...counters.keys()].entries())
      learnCounter(name, seen[index], known, lastSeen, clock.nowMs());
    for (const [index, job] of pack.entries()) learnRecord(job, records[index], clock.nowMs());
  } catch (error) {
    // The read only saves a refused transaction; the write will show the same.
    if (!(error instanceof LedgerError)) throw error;
  }
}

function keysByName(jobs: readonly HoldJob[], wanted: ReadonlySet<string>): ReadonlyMap<string, CounterKey> {
  const keys = new Map<string, CounterKey>();
  for (const { ask, names } of jobs) {
    names.forEach((name, index) => {
      const claim = ask.claims[index];
      if (claim !== undefined && wanted.has(name)) keys.set(name, claim.counter);
    });
  }
  return keys;
}

/**
 * A job that a counter refused is rejected even if its record could not be written. The fallback is only for
 * jobs that were never compared. A job whose record was not read may already hold, so it stays undecided.
 */
function giveUp(verdicts: readonly WeighedVerdict[], cause: GaveUpCause): void {
  for (const verdict of verdicts) {
    const { job } = verdict;
    const rejectedWithoutCounters = job.ask.violations.some(({ mode }) => mode === 'enforce');
    const mayReject = !verdict.graceUnknown && (job.asked || rejectedWithoutCounters);
    const outcome = decided(verdict);
    job.outcome =
      mayReject && outcome.outcome === 'rejected'
        ? { ...outcome, unwritten: true }
        : { outcome: 'undecided', cause };
  }
}
