/** Whose conditions are to fall, and to which tests. */

export interface MutantTarget {
  readonly source: string;
  /** Without real parts, so that each takes a second or two. */
  readonly tests: readonly string[];
}

export const MUTANT_TARGETS: readonly MutantTarget[] = [
  { source: 'relay/commit/lanes.ts', tests: ['test/relay/commit/lanes.test.ts'] },
  {
    source: 'relay/room.ts',
    tests: ['test/relay/room.test.ts', 'test/relay/kept-rooms.test.ts', 'test/relay/fallback.test.ts'],
  },
  {
    source: 'relay/limit-room.ts',
    tests: ['test/relay/room.test.ts', 'test/relay/kept-rooms.test.ts', 'test/relay/fallback.test.ts'],
  },
  {
    source: 'relay/waiting/fair-order.ts',
    tests: ['test/relay/waiting/fair-order.test.ts', 'test/relay/waiting/waiting-queue'],
  },
  { source: 'relay/waiting/line-rounds.ts', tests: ['test/relay/waiting/waiting-queue'] },
  { source: 'relay/waiting/waiting-queue.ts', tests: ['test/relay/waiting/waiting-queue'] },
  {
    source: 'functions/core/ledger/reservation.ts',
    tests: ['test/functions/core/ledger/memory-store.test.ts', 'test/functions/core/ledger/ledger.property'],
  },
  {
    source: 'functions/core/ledger/reserve.ts',
    tests: ['test/functions/core/ledger/memory-store.test.ts', 'test/functions/core/ledger/ledger.property'],
  },
  {
    source: 'functions/core/ledger/borrow.ts',
    tests: ['test/functions/core/ledger/borrow', 'test/functions/core/ledger/memory-store.test.ts'],
  },
  {
    source: 'functions/core/ledger/waiting.ts',
    tests: ['test/functions/core/ledger/waiting.test.ts', 'test/functions/core/ledger/memory-store.test.ts'],
  },
  {
    source: 'functions/core/ledger/attempt.ts',
    tests: ['test/functions/core/ledger/attempt-budgets.test.ts', 'test/functions/core/ledger/hold.test.ts'],
  },
  { source: 'functions/core/books/keep-counter-sheet.ts', tests: ['test/functions/core/books'] },
  { source: 'functions/core/books/check-books.ts', tests: ['test/functions/core/books'] },
];

/** A change that changes nothing anybody could see, and why. */
interface HarmlessChange {
  readonly source: string;
  /** As the report prints it. */
  readonly change: string;
  readonly why: string;
}

export const HARMLESS_CHANGES: readonly HarmlessChange[] = [
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
];
