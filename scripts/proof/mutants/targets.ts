/** Whose conditions are to fall, and to which tests. */

export interface MutantTarget {
  readonly source: string;
  /** Without real parts, so that they take a second or two together. */
  readonly tests: readonly string[];
  /** They take longer, and are asked about what those did not notice. */
  readonly slowTests?: readonly string[];
}

const COMMIT = 'test/relay/commit/';
const WAITING = {
  tests: ['fair-order', 'line-rounds', 'waiting-job', 'waiting-queue.test'].map(
    (name) => `test/relay/waiting/${name}`,
  ),
  slowTests: ['test/relay/waiting/waiting-queue.property'],
};
const ROOMS = {
  tests: ['test/relay/kept-rooms.test.ts', 'test/relay/limit-room.test.ts', 'test/relay/fallback.test.ts'],
  slowTests: ['test/relay/room.test.ts'],
} as const;
const UNTOLD = ['test/relay/unmetered', 'test/relay/journal.test.ts', 'test/relay/spool.test.ts'];
const CONTRACT = 'test/functions/core/ledger/memory-store.test.ts';
const LEDGER_PROPERTY = 'test/functions/core/ledger/ledger.property';
const ledgerTests = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `test/functions/core/ledger/${name}`);
const BOOKS = ['test/functions/core/books/'];

export const MUTANT_TARGETS: readonly MutantTarget[] = [
  { source: 'relay/commit/batch-job.ts', tests: [COMMIT] },
  { source: 'relay/commit/fair-queue.ts', tests: [COMMIT] },
  { source: 'relay/commit/group-commit.ts', tests: [COMMIT] },
  { source: 'relay/commit/lanes.ts', tests: [`${COMMIT}lanes.test.ts`] },
  { source: 'relay/waiting/fair-order.ts', ...WAITING },
  { source: 'relay/waiting/line-rounds.ts', ...WAITING },
  { source: 'relay/waiting/waiting-job.ts', ...WAITING },
  { source: 'relay/waiting/waiting-queue.ts', ...WAITING },
  { source: 'relay/room.ts', ...ROOMS },
  { source: 'relay/limit-room.ts', ...ROOMS },
  { source: 'relay/kept-rooms.ts', ...ROOMS },
  { source: 'relay/handed-rooms.ts', tests: ['test/relay/handed-rooms.test.ts'] },
  { source: 'relay/room-table.ts', tests: ['test/relay/room-table.test.ts'] },
  { source: 'relay/journal.ts', tests: UNTOLD },
  { source: 'relay/spool.ts', tests: UNTOLD },
  { source: 'relay/unmetered.ts', tests: UNTOLD },
  { source: 'relay/unmetered-posts.ts', tests: UNTOLD },
  { source: 'relay/unmetered-queue.ts', tests: UNTOLD },
  {
    source: 'functions/core/ledger/attempt.ts',
    tests: ledgerTests('attempt', 'hold.test.ts'),
    slowTests: [CONTRACT],
  },
  {
    source: 'functions/core/ledger/borrow.ts',
    tests: [...ledgerTests('borrow.test.ts'), CONTRACT],
    slowTests: ledgerTests('borrow.property'),
  },
  {
    source: 'functions/core/ledger/hold.ts',
    tests: [...ledgerTests('hold.test.ts', 'waiting.test.ts', 'borrow.test.ts'), CONTRACT],
    slowTests: [LEDGER_PROPERTY],
  },
  {
    source: 'functions/core/ledger/make-moves.ts',
    tests: [CONTRACT, ...ledgerTests('hold.test.ts', 'one-instant')],
    slowTests: [LEDGER_PROPERTY],
  },
  {
    source: 'functions/core/ledger/merge.ts',
    tests: [...ledgerTests('merge', 'hold.test.ts', 'borrow.test.ts'), CONTRACT],
    slowTests: [LEDGER_PROPERTY],
  },
  { source: 'functions/core/ledger/kept-pass.ts', tests: ledgerTests('kept-pass') },
  { source: 'functions/core/ledger/recount-outcome.ts', tests: ledgerTests('recount-outcome') },
  {
    source: 'functions/core/ledger/recount-pass.ts',
    tests: ledgerTests('recount-rounds'),
    slowTests: ledgerTests('recount-pass'),
  },
  {
    source: 'functions/core/ledger/recount.ts',
    tests: ledgerTests('recount.test', 'rebuild', 'recount-rounds'),
    slowTests: [CONTRACT],
  },
  {
    source: 'functions/core/ledger/reservation.ts',
    tests: [...ledgerTests('reserve.test.ts'), CONTRACT],
    slowTests: [LEDGER_PROPERTY],
  },
  {
    source: 'functions/core/ledger/reserve.ts',
    tests: [...ledgerTests('reserve.test.ts'), CONTRACT],
    slowTests: [LEDGER_PROPERTY],
  },
  {
    source: 'functions/core/ledger/slots.ts',
    tests: [...ledgerTests('slots'), ...BOOKS, CONTRACT],
  },
  {
    source: 'functions/core/ledger/waiting.ts',
    tests: [...ledgerTests('waiting.test.ts'), CONTRACT],
  },
  {
    source: 'functions/core/ledger/weigh.ts',
    tests: [CONTRACT, ...ledgerTests('borrow.test.ts', 'waiting.test.ts', 'hold.test.ts', 'break-glass')],
    slowTests: [...ledgerTests('borrow.property'), LEDGER_PROPERTY],
  },
  {
    source: 'functions/core/ledger/unmetered.ts',
    tests: [...ledgerTests('unmetered'), CONTRACT],
    slowTests: [LEDGER_PROPERTY],
  },
  {
    source: 'functions/core/admission/limit-rooms.ts',
    tests: ['test/functions/core/admission/limit-rooms'],
    slowTests: ['test/relay/room.test.ts'],
  },
  { source: 'functions/core/books/check-books.ts', tests: BOOKS },
  { source: 'functions/core/books/counter-memory.ts', tests: BOOKS },
  { source: 'functions/core/books/counter-sheet.ts', tests: BOOKS },
  { source: 'functions/core/books/keep-counter-sheet.ts', tests: BOOKS },
  { source: 'functions/core/books/sum-log.ts', tests: BOOKS },
  { source: 'functions/core/requeue/candidate.ts', tests: ['test/functions/core/requeue/'] },
  { source: 'functions/core/requeue/requeue-list.ts', tests: ['test/functions/core/requeue/'] },
  { source: 'functions/requeue/requeue.ts', tests: ['test/functions/requeue/'] },
  { source: 'functions/requeue/turns.ts', tests: ['test/functions/requeue/'] },
];
