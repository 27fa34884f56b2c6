/** Changes that change nothing anybody could see, and why. */
import { changeText, type MutantChange } from './try-changes.ts';

interface HarmlessChange {
  readonly source: string;
  /** As the report prints it. */
  readonly change: string;
  readonly why: string;
}

const HARMLESS_CHANGES: readonly HarmlessChange[] = [
  {
    source: 'relay/commit/lanes.ts',
    change: 'lanes.size < JOINED_LANES_MAX → lanes.size <= JOINED_LANES_MAX',
    why: 'a bound of memory: one lane more does no harm',
  },
  {
    source: 'relay/commit/lanes.ts',
    change: 'index < text.length → index <= text.length',
    why: 'another hash, and as good a one',
  },
  {
    source: 'relay/commit/fair-queue.ts',
    change: 'line === undefined || job === undefined → line === undefined && job === undefined',
    why: 'a line is there for as long as a job stands in it',
  },
  {
    source: 'relay/unmetered-queue.ts',
    change: 'longest === undefined || oldest === undefined → longest === undefined && oldest === undefined',
    why: 'a line is there for as long as an answer stands in it',
  },
  {
    source: 'relay/waiting/waiting-queue.ts',
    change: 'job.untilMs - nowMs < SEND_MS_MIN → job.untilMs - nowMs <= SEND_MS_MIN',
    why: 'the round comes a millisecond later, and then it is too late as well',
  },
  {
    source: 'relay/room.ts',
    change: 'this.#admitted.length > 2 * ADMITTED_MAX → this.#admitted.length >= 2 * ADMITTED_MAX',
    why: 'a bound of memory: one of thousands less does no harm',
  },
  {
    source: 'relay/kept-rooms.ts',
    change:
      'statSync(this.#file).size > KEPT_ROOMS_BYTES_MAX → statSync(this.#file).size >= KEPT_ROOMS_BYTES_MAX',
    why: 'a bound of memory: one byte of millions less does no harm',
  },
  {
    source: 'relay/kept-rooms.ts',
    change:
      'Buffer.byteLength(text) > KEPT_ROOMS_BYTES_MAX → Buffer.byteLength(text) >= KEPT_ROOMS_BYTES_MAX',
    why: 'a bound of the disk: one byte of millions less does no harm',
  },
  {
    source: 'relay/kept-rooms.ts',
    change: 'this.#planned.atMs <= atMs → this.#planned.atMs < atMs',
    why: 'a timer is set anew for the same moment',
  },
  {
    source: 'relay/handed-rooms.ts',
    change: 'other.spent > one.spent → other.spent >= one.spent',
    why: 'of two that gave as much either will do',
  },
  {
    source: 'relay/room-table.ts',
    change: 'bytes.length <= ITEM_BYTES_MAX → bytes.length < ITEM_BYTES_MAX',
    why: 'well below the bound of the table: one byte of many does no harm',
  },
  {
    source: 'functions/core/ledger/borrow.ts',
    change: 'bound === undefined || whole === undefined → bound === undefined && whole === undefined',
    why: 'a part has a bound exactly where its whole asks',
  },
  {
    source: 'functions/core/ledger/hold.ts',
    change:
      'timeLeftMs(deadlineMs, clock) < TRANSACTION_RESERVE_MS → timeLeftMs(deadlineMs, clock) <= TRANSACTION_RESERVE_MS',
    why: 'a read that only saves work is made, or not, in the last instant in which a transaction may start',
  },
  {
    source: 'functions/core/admission/limit-rooms.ts',
    change:
      "outage === undefined || outage.policy === 'admit' → outage === undefined && outage.policy === 'admit'",
    why: 'limits that admit are not read in the first place',
  },
  {
    source: 'functions/core/ledger/hold.ts',
    change: "reclaims && { reclaim: 'fresh' } → reclaims || { reclaim: 'fresh' }",
    why: 'who borrows in a later pack of the batch, or finds the pool full, has read the pool anew',
  },
  {
    source: 'functions/core/ledger/weigh.ts',
    change: 'leftMs < TRANSACTION_RESERVE_MS → leftMs <= TRANSACTION_RESERVE_MS',
    why: 'in the last instant in which a transaction may start a read leaves no time for it',
  },
  {
    source: 'functions/core/ledger/weigh.ts',
    change: 'waitMs > 0 → waitMs >= 0',
    why: 'who may wait for no time at all is not let wait',
  },
  {
    source: 'functions/core/ledger/recount-pass.ts',
    change: 'from < suspects.length → from <= suspects.length',
    why: 'of no counters nothing is read',
  },
  {
    source: 'functions/core/books/check-books.ts',
    change: 'nowMs % EPOCH_MS < SETTLED_MS → nowMs % EPOCH_MS <= SETTLED_MS',
    why: 'it comes every quarter of an hour at a set minute; an epoch that it leaves out has a second look',
  },
  {
    source: 'functions/core/books/check-books.ts',
    change: 'from < subjects.length → from <= subjects.length',
    why: 'of no subjects nothing is read',
  },
  {
    source: 'functions/core/books/counter-memory.ts',
    change: 'Math.max(...epochs) > newest - KEPT_EPOCHS → Math.max(...epochs) >= newest - KEPT_EPOCHS',
    why: 'a quarter of an hour more or less of forty days',
  },
  {
    source: 'functions/core/books/counter-sheet.ts',
    change: '(all.get(name)?.rev ?? -1) <= counter.rev → (all.get(name)?.rev ?? -1) < counter.rev',
    why: 'copies of one rev are alike',
  },
  {
    source: 'functions/core/books/counter-sheet.ts',
    change: 'a.key.period < b.key.period → a.key.period <= b.key.period',
    why: 'no two counters of one limit have the same period',
  },
];

export const isHarmless = (mutant: MutantChange): boolean =>
  HARMLESS_CHANGES.some((each) => isOf(each, mutant));

/** What is listed and no change of these files any more, or two of them: nobody can tell which was meant. */
export function misnamedHarmless(all: readonly MutantChange[]): readonly string[] {
  return HARMLESS_CHANGES.flatMap((each) => {
    const times = all.filter((mutant) => isOf(each, mutant)).length;
    return times === 1 ? [] : [`${each.source} ${each.change} is there ${times} times`];
  });
}

const isOf = ({ source, change }: HarmlessChange, mutant: MutantChange): boolean =>
  source === mutant.source && change === changeText(mutant);
