/**
 * A recount of any size, in runs of bounded time. The table is read in segments, several at once; what was added up so far and where
 * each segment goes on are put down together after each round. So whoever is killed, at whatever call, repeats one round,
 * and ends where somebody undisturbed ends.
 *
 * What it calls drift is what `rebuild.ts` does. Between its two passes lie hours, so a counter that somebody wrote meanwhile is no
 * suspect any more, and where no suspect is left there is no second pass. It keeps a sum per counter. When they become
 * too many for the memory, it goes on with half of the counters, and the other half waits for a pass of its own.
 */

import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { sameAmounts } from './amounts.ts';
import type { AttemptDeps } from './attempt.ts';
import type { Counter, CounterAmounts, Drift, JobRecord, RebuildReport } from './ledger.ts';
import { driftOf, findSuspects, markDrift, READ_TIMEOUT_MS, revOf } from './rebuild.ts';
import { type KeptSums, type Recount, RecountSums } from './recount.ts';
import type { LedgerStore, SegmentAsk, SegmentStore } from './store.ts';

/** Where a recount stands. Over: `found` is what it found. */
export interface RecountPass {
  /** Unix ms. */
  readonly startedAtMs: number;
  readonly phase: 'first' | 'second' | 'over';
  readonly share: CounterShare;
  readonly waiting: readonly CounterShare[];
  readonly segments: readonly SegmentStep[];
  readonly sums: KeptSums;
  /** What the first pass suspects; the second one counts only these. */
  readonly suspects: readonly SuspectCounter[];
  readonly found: Found;
  /** What was found of the jobs that were looked at on the way; absent: nobody looked. */
  readonly usage?: UsageLook;
}

/** What a recount found of usage: it is added up from the same records by another way. */
export interface UsageLook {
  /** Jobs that were decided or ended lately. */
  readonly jobs: number;
  /** Part of `jobs`: usage lacked them, or had them otherwise, and has them now. */
  readonly mended: number;
  /** Part of `jobs`: they could not be looked at in time. */
  readonly failed: number;
}

/** The counters whose hash leaves this remainder. */
interface CounterShare {
  readonly index: number;
  /** A power of two. */
  readonly of: number;
}

/** A segment that was read to its end, or where it goes on. */
interface SegmentStep {
  readonly done: boolean;
  readonly from?: SegmentAsk['from'];
}

/** It did not show what its records make. */
interface SuspectCounter {
  readonly key: CounterKey;
  readonly rev: number;
  readonly expected: CounterAmounts;
}

type Found = Omit<RebuildReport, 'repaired'>;

/** What there is to know of a recount that is over. */
export type LastRecount = Pick<RecountPass, 'startedAtMs' | 'found'>;

export interface RecountPassStore {
  /** Undefined: nobody has recounted yet. @throws {LedgerError} `ledger_unavailable` */
  read(): Promise<RecountPass | undefined>;
  /** In place of what was read or written last. @throws {LedgerError} `ledger_unavailable`; also where somebody else wrote meanwhile. */
  write(pass: RecountPass): Promise<void>;
}

/** What else is done with records, since they are read anyhow: each of them is shown in the first pass. */
export interface RecordVisit {
  see(record: JobRecord): void;
  /** Counters come, too. @default nobody looks at them */
  seeCounter?(counter: Counter): void;
  /** Whether it has enough for one round. */
  isFull(): boolean;
  /** At the end of each round; after a run that was killed the same records may come again. */
  work(): Promise<UsageLook | undefined>;
}

interface RecountOnDeps extends AttemptDeps {
  readonly store: LedgerStore & SegmentStore;
  readonly passes: RecountPassStore;
  /** Whether another recount is to begin after the last one; undefined: there was none. */
  readonly isDue: (last: LastRecount | undefined) => boolean;
  readonly visit?: RecordVisit;
  /** Told what was found, before that is put down as the end. */
  readonly onOver: (found: Found, pass: RecountPass) => Promise<void>;
  /** @default {@link SEGMENTS} */
  readonly segments?: number;
  /** @default {@link ROUND_MS} */
  readonly roundMs?: number;
  /** @default {@link COUNTERS_MAX} */
  readonly countersMax?: number;
}

/** Pages under way at once. */
const SEGMENTS = 8;
/** What is repeated at most after a run that was killed. */
const ROUND_MS = 180_000;
/** Some 700 bytes each. */
const COUNTERS_MAX = 400_000;
/** More suspects are one fault, not as many. */
const SUSPECTS_MAX = 20_000;
const COUNTERS_AT_ONCE = 1_000;

const NOTHING: KeptSums = { records: 0, passedOver: 0, lines: [] };
const FOUND_NOTHING: Found = { records: 0, counters: 0, drift: [], unproven: [], passedOver: 0, unclosed: 0 };
const ALL: CounterShare = { index: 0, of: 1 };

/**
 * Goes on with the recount under way, or begins the one that is due.
 *
 * @param deadlineMs - on the monotonic clock; a round that has begun by then is ended there.
 * @throws {LedgerError} `ledger_unavailable`: the next call goes on.
 */
export async function recountOn(
  deadlineMs: number,
  deps: RecountOnDeps,
): Promise<'idle' | 'under way' | 'over'> {
  const { passes, clock, isDue } = deps;
  let pass = await passes.read();
  if (pass === undefined || pass.phase === 'over') {
    if (!isDue(pass)) return 'idle';
    pass = begun(ALL, [], clock.nowMs(), FOUND_NOTHING, deps);
  }
  while (clock.monotonicMs() < deadlineMs) {
    pass = await nextRound(pass, deadlineMs, deps);
    if (pass.phase === 'over') await deps.onOver(pass.found, pass);
    await passes.write(pass);
    if (pass.phase === 'over') return 'over';
  }
  return 'under way';
}

const begun = (
  share: CounterShare,
  waiting: readonly CounterShare[],
  startedAtMs: number,
  found: Found,
  { segments = SEGMENTS }: RecountOnDeps,
): RecountPass => ({
  ...{ startedAtMs, phase: 'first', share, waiting, found, sums: NOTHING, suspects: [] },
  segments: Array.from({ length: segments }, () => ({ done: false })),
});

async function nextRound(pass: RecountPass, deadlineMs: number, deps: RecountOnDeps): Promise<RecountPass> {
  const round = new Round(pass, deps);
  await round.read(Math.min(deadlineMs, deps.clock.monotonicMs() + (deps.roundMs ?? ROUND_MS)));
  const usage = sumOfLooks(pass.usage, await deps.visit?.work());
  const read = { ...round.standing(), ...(usage !== undefined && { usage }) };
  if (read.segments.some(({ done }) => !done)) return read;
  return read.phase === 'first'
    ? afterFirst(read, round.sums.result(), deps)
    : afterSecond(read, round.sums.result(), deps);
}

function sumOfLooks(before: UsageLook | undefined, now: UsageLook | undefined): UsageLook | undefined {
  if (before === undefined || now === undefined) return before ?? now;
  return {
    jobs: before.jobs + now.jobs,
    mended: before.mended + now.mended,
    failed: before.failed + now.failed,
  };
}

/** Reads every segment on, page by page, until its time is over or there is nothing left. */
class Round {
  readonly sums: RecountSums;
  readonly #pass: RecountPass;
  readonly #deps: RecountOnDeps;
  readonly #segments: SegmentStep[];
  #share: CounterShare;
  #waiting: readonly CounterShare[];

  constructor(pass: RecountPass, deps: RecountOnDeps) {
    this.#pass = pass;
    this.#deps = deps;
    this.#segments = [...pass.segments];
    this.#share = pass.share;
    this.#waiting = pass.waiting;
    const suspects = new Set(pass.suspects.map(({ key }) => counterName(key)));
    const counts = pass.phase === 'second' ? (name: string) => suspects.has(name) : inShare(pass.share);
    this.sums = RecountSums.restored(pass.sums, { counts });
  }

  async read(untilMs: number): Promise<void> {
    const { store, clock, visit } = this.#deps;
    const { phase, share } = this.#pass;
    const consistency = phase === 'first' ? 'eventual' : 'consistent';
    const sees = phase === 'first' && share.index === 0 ? visit : undefined;
    const readSegment = async (index: number): Promise<void> => {
      let step = this.#segments[index];
      // At least one page each, or a run whose time is too short would never end.
      do {
        if (step === undefined || step.done) return;
        const { items, next } = await store.scanSegment({
          ...{ segment: { index, of: this.#segments.length }, consistency },
          ...(step.from && { from: step.from }),
        });
        for (const item of items) {
          this.sums.add(item);
          if (item.kind === 'record') sees?.see(item.record);
          if (item.kind === 'counter') sees?.seeCounter?.(item.counter);
        }
        step = next === undefined ? { done: true } : { done: false, from: next };
        this.#segments[index] = step;
        this.#narrow();
      } while (clock.monotonicMs() < untilMs && sees?.isFull() !== true);
    };
    await Promise.all(this.#segments.map((_, index) => readSegment(index)));
  }

  standing(): RecountPass {
    return {
      ...this.#pass,
      ...{ share: this.#share, waiting: this.#waiting, segments: this.#segments, sums: this.sums.kept() },
    };
  }

  #narrow(): void {
    if (this.#pass.phase !== 'first' || this.sums.size <= (this.#deps.countersMax ?? COUNTERS_MAX)) return;
    const { index, of } = this.#share;
    this.#share = { index, of: of * 2 };
    this.#waiting = [...this.#waiting, { index: index + of, of: of * 2 }];
    this.sums.narrow(inShare(this.#share));
  }
}

const inShare =
  ({ index, of }: CounterShare) =>
  (name: string): boolean =>
    of === 1 || hashOf(name) % of === index;

/** Names of one group's counters begin and end alike. */
function hashOf(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
  return Math.imul(hash, 0x9e37_79b1) >>> 8;
}

/** Nobody can tell any more what a counter ought to have shown that was written since. */
async function afterFirst(pass: RecountPass, first: Recount, deps: RecountOnDeps): Promise<RecountPass> {
  const { found } = pass;
  const nowMs = deps.clock.nowMs();
  const { suspects, unproven, unclosed } = findSuspects(first, nowMs);
  const differ = new Set(suspects);
  const inLine = unclosed.filter((name) => !differ.has(name));
  if (first.passedOver === 0) await markDrift(first, { drifted: [], unclosed: inLine }, deps);
  const still = await unwritten(
    suspects.slice(0, SUSPECTS_MAX).map((name) => ({
      key: first.key(name),
      rev: revOf(first.counters.get(name)),
      expected: first.expected(name),
    })),
    deps,
  );
  const counted = {
    ...found,
    // Each pass meets all of them.
    records: first.records,
    counters: found.counters + first.counters.size,
    unproven: [...found.unproven, ...unproven],
    passedOver: Math.max(found.passedOver, first.passedOver),
    unclosed: found.unclosed + unclosed.length,
  };
  if (still.length === 0) return nextShare(pass, counted, deps);
  const segments = pass.segments.map(() => ({ done: false }));
  return { ...pass, phase: 'second', segments, sums: NOTHING, suspects: still, found: counted };
}

async function afterSecond(pass: RecountPass, second: Recount, deps: RecountOnDeps): Promise<RecountPass> {
  const { found } = pass;
  if (second.passedOver > 0) {
    return nextShare(pass, { ...found, passedOver: Math.max(found.passedOver, second.passedOver) }, deps);
  }
  const same = pass.suspects.filter(
    ({ key, rev, expected }) =>
      revOf(second.counters.get(counterName(key))) === rev &&
      sameAmounts(expected, second.expected(counterName(key))),
  );
  // A write between the reads of the second pass would fake a difference; it shows in the rev now.
  const drifted = (await unwritten(same, deps)).map(({ key }) => counterName(key));
  const { unclosed } = findSuspects(second, deps.clock.nowMs());
  await markDrift(second, { drifted, unclosed }, deps);
  const drift: readonly Drift[] = drifted.map((name) => driftOf(name, second));
  return nextShare(pass, { ...found, drift: [...found.drift, ...drift] }, deps);
}

function nextShare(pass: RecountPass, found: Found, deps: RecountOnDeps): RecountPass {
  const [share, ...waiting] = pass.waiting;
  if (share !== undefined)
    return {
      ...begun(share, waiting, pass.startedAtMs, found, deps),
      ...(pass.usage !== undefined && { usage: pass.usage }),
    };
  return { ...pass, phase: 'over', segments: [], sums: NOTHING, suspects: [], found };
}

/** Those whose counter has still the rev it was seen with. */
async function unwritten(
  suspects: readonly SuspectCounter[],
  { store }: RecountOnDeps,
): Promise<readonly SuspectCounter[]> {
  const still: SuspectCounter[] = [];
  for (let from = 0; from < suspects.length; from += COUNTERS_AT_ONCE) {
    const part = suspects.slice(from, from + COUNTERS_AT_ONCE);
    const now = await store.readCounters(
      part.map(({ key }) => key),
      { timeoutMs: READ_TIMEOUT_MS },
    );
    still.push(...part.filter(({ rev }, index) => revOf(now[index]) === rev));
  }
  return still;
}
