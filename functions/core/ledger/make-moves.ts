/** Carries out moves in packs: all of a job's writes or none, on the record as it really is. */
import { type AttemptDeps, attempt } from './attempt.ts';
import type { SeenCounters } from './last-seen.ts';
import type { JobRecord } from './ledger.ts';
import { packs } from './merge.ts';
import { type Move, mergeChanges } from './move.ts';
import { expiring } from './retention.ts';
import type { Refusal, Write } from './store.ts';

export interface MoveDeps extends AttemptDeps {
  readonly lastSeen: SeenCounters;
}

/** A wish for one job; `plan` is asked again whenever the record turns out to be another. */
export interface MoveWish<Outcome> {
  readonly jobId: number;
  plan(record: JobRecord | undefined): Move<Outcome>;
}

/** A conflict needs two callers that end the same job at the same time: one pass each, and some spare. */
const PASSES_MAX = 6;

/**
 * @param records - what is known of the jobs' records; updated to what was written.
 * @returns one outcome per wish, same order; `undecided` where the table gave no answer in time.
 */
export async function makeMoves<Outcome>(
  wishes: readonly MoveWish<Outcome>[],
  records: Map<number, JobRecord>,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<readonly (Outcome | 'undecided')[]> {
  const outcomes = new Map<MoveWish<Outcome>, Outcome | 'undecided'>();
  for (let left = wishes; left.length > 0; ) {
    // Two wishes for one job cannot share a transaction: the second sees what the first made of the record.
    const round = [...new Map([...left].reverse().map((wish) => [wish.jobId, wish])).values()].reverse();
    await makeRound(round, records, outcomes, deadlineMs, deps);
    left = left.filter((wish) => !outcomes.has(wish));
  }
  return wishes.map((wish) => outcomes.get(wish) ?? 'undecided');
}

interface Planned<Outcome> {
  readonly wish: MoveWish<Outcome>;
  readonly move: Move<Outcome>;
}

async function makeRound<Outcome>(
  wishes: readonly MoveWish<Outcome>[],
  records: Map<number, JobRecord>,
  outcomes: Map<MoveWish<Outcome>, Outcome | 'undecided'>,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<void> {
  let left = wishes;
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    const planned: Planned<Outcome>[] = [];
    for (const wish of left) {
      const move = wish.plan(records.get(wish.jobId));
      if (move.record === undefined) outcomes.set(wish, move.outcome);
      else planned.push({ wish, move });
    }
    for (const pack of packs(planned.toSorted(byCounter), needs))
      await makePack(pack, records, outcomes, deadlineMs, deps);
    left = left.filter((wish) => !outcomes.has(wish));
  }
  for (const wish of left) outcomes.set(wish, 'undecided');
}

/** Ends of one group go side by side: their pack takes few counters and meets few rivals there. No bound asks for another order. */
const byCounter = <Outcome>(one: Planned<Outcome>, other: Planned<Outcome>): number =>
  lastCounterOf(one).localeCompare(lastCounterOf(other));

const lastCounterOf = <Outcome>({ move }: Planned<Outcome>): string => move.changes.at(-1)?.name ?? '';

const needs = <Outcome>({ move }: Planned<Outcome>) => ({
  items: move.entry === undefined ? 1 : 2,
  names: move.changes.map(({ name }) => name),
});

async function makePack<Outcome>(
  pack: readonly Planned<Outcome>[],
  records: Map<number, JobRecord>,
  outcomes: Map<MoveWish<Outcome>, Outcome | 'undecided'>,
  deadlineMs: number,
  deps: MoveDeps,
): Promise<void> {
  const merged = mergeChanges(pack.flatMap(({ move }) => move.changes));
  const nowMs = deps.clock.nowMs();
  const counters = [...merged.values()].map((write) => expiring(write, nowMs));
  const result = await attempt(writesOf(pack, records, counters), deadlineMs, deps);
  switch (result.outcome) {
    case 'committed':
      for (const { wish, move } of pack) {
        outcomes.set(wish, move.outcome);
        if (move.record !== undefined) records.set(wish.jobId, move.record);
      }
      for (const [name, { committed, fitted }] of merged) deps.lastSeen.move(name, committed, fitted);
      return;
    case 'gave_up':
      for (const { wish } of pack) outcomes.set(wish, 'undecided');
      return;
    case 'refused':
      for (const [index, { wish }] of pack.entries())
        learnRecord(wish.jobId, result.refusals[index], records);
  }
}

/** Records first, so that the refusals of a pack are found by its index. */
function writesOf<Outcome>(
  pack: readonly Planned<Outcome>[],
  records: ReadonlyMap<number, JobRecord>,
  counters: readonly Write[],
): readonly Write[] {
  const writes = pack.flatMap(({ wish, move }): Write[] => {
    const replaces = records.get(wish.jobId);
    return move.record === undefined
      ? []
      : [{ kind: 'record', record: move.record, ...(replaces && { replaces }) }];
  });
  const entries = pack.flatMap(({ move }): Write[] =>
    move.entry ? [{ kind: 'entry', entry: move.entry }] : [],
  );
  return [...writes, ...entries, ...counters];
}

function learnRecord(jobId: number, refusal: Refusal | undefined, records: Map<number, JobRecord>): void {
  if (refusal?.kind !== 'record') return;
  if (refusal.record === undefined) records.delete(jobId);
  else records.set(jobId, refusal.record);
}
