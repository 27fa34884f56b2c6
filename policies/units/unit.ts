/** The units limits are counted in: what a row decides, the table of them, and what follows from it. */
import type { CountedKind } from '../kinds/counted-kinds.ts';
import { costMicros } from '../prices/price.ts';

/** One unit: all that the rest of Tollgate decides by it. */
interface UnitRow {
  /** What documents, CSV and forms call a limit of it. */
  readonly kind: string;
  /** Stands for it in the ledger's lines. Never reused; `f` and `u` are flags there. */
  readonly letter: string;
  /** The kind of rule that switches its limits on. What a budget asks can be overdrawn and carried over. */
  readonly askedBy: CountedKind;
  /** A job takes it while it runs and gives it back at its end; the other units add up over a period. */
  readonly atOnce?: true;
  /** Some of it is free again within seconds, so a job may be kept waiting for it. */
  readonly waits?: true;
  /** Amounts stand with the deployment's currency. */
  readonly inCurrency?: true;
  /** What a job asks for is guessed before it runs. */
  readonly guessed?: true;
  /** What one job asks for; undefined: its terms do not say. Absent terms: nothing is known of the job. */
  readonly asked?: (terms: AskedTerms | undefined) => number | undefined;
  /** Instead: the resource that the job requests from the cluster, written as a Kubernetes quantity. */
  readonly requested?: 'cpu' | 'memory';
  /** What stays counted of a job that ran so long. Absent: nothing. */
  readonly settled?: (durationSeconds: number, price: SettledPrice) => number;
  /** What one day of usage has of it. Absent: usage does not tell, and nothing is forecast. */
  readonly usedOn?: (day: UsageCounts) => number;
  /** A day of usage includes what is only held. */
  readonly usageHasHeld?: true;
  /** How many of it make one of what documents count in. @default 1 */
  readonly perWhole?: number;
}

interface AskedTerms {
  readonly estimateSeconds: number;
  readonly costMicros: number;
}

interface SettledPrice {
  readonly microsPerMinute: number;
  readonly round?: 'minute';
}

export interface UsageCounts {
  readonly settledMicros: number;
  readonly heldMicros: number;
  readonly seconds: number;
  readonly admitted: number;
  readonly ranRejected: number;
  readonly released: number;
}

/** Every unit limits are counted in, in the order people are told them. To add one, add a row. */
export const UNITS = {
  /** Millionths of the deployment's one currency. */
  micros: {
    kind: 'money',
    letter: 'm',
    askedBy: 'budget',
    inCurrency: true,
    guessed: true,
    asked: (terms) => terms?.costMicros,
    settled: (seconds, { microsPerMinute, round }) => costMicros(microsPerMinute, seconds, round),
    usedOn: ({ settledMicros, heldMicros }) => settledMicros + heldMicros,
    usageHasHeld: true,
    perWhole: 1_000_000,
  },
  /** Seconds that jobs run. */
  seconds: {
    kind: 'minutes',
    letter: 's',
    askedBy: 'budget',
    guessed: true,
    asked: (terms) => terms?.estimateSeconds,
    settled: (seconds) => seconds,
    usedOn: ({ seconds }) => seconds,
    perWhole: 60,
  },
  jobs: {
    kind: 'jobs',
    letter: 'j',
    askedBy: 'concurrency',
    atOnce: true,
    waits: true,
    asked: () => 1,
  },
  millicpu: {
    kind: 'cpu',
    letter: 'c',
    askedBy: 'capacity',
    atOnce: true,
    waits: true,
    requested: 'cpu',
  },
  /** Bytes of memory. */
  bytes: {
    kind: 'memory',
    letter: 'b',
    askedBy: 'capacity',
    atOnce: true,
    waits: true,
    requested: 'memory',
  },
  /** Jobs that were started: a job that ran was started, whether or not it held one. */
  starts: {
    kind: 'starts',
    letter: 'n',
    askedBy: 'window',
    waits: true,
    asked: () => 1,
    settled: () => 1,
    usedOn: ({ admitted, ranRejected, released }) => admitted + ranRejected - released,
  },
} as const satisfies Readonly<Record<string, UnitRow>>;

// What follows from the table. Marked as pure where a bundle may do without.

/** What amounts are whole numbers of. */
export type Unit = keyof typeof UNITS;

/** What a limit counts: money, minutes and starts per period; jobs, their CPU and their memory at once. */
export type LimitKind = (typeof UNITS)[Unit]['kind'];

const ROWS: Readonly<Record<Unit, UnitRow & { readonly kind: LimitKind }>> = UNITS;
export const ALL_UNITS = /* @__PURE__ */ Object.keys(UNITS) as readonly Unit[];

export const unitRow = (unit: Unit): (typeof ROWS)[Unit] => ROWS[unit];

export const LIMIT_KINDS: readonly LimitKind[] = /* @__PURE__ */ ALL_UNITS.map((unit) => ROWS[unit].kind);

const byKind = <Value>(of: (unit: Unit) => Value): Readonly<Record<LimitKind, Value>> =>
  Object.fromEntries(ALL_UNITS.map((unit) => [ROWS[unit].kind, of(unit)])) as Record<LimitKind, Value>;

export const UNIT_OF = /* @__PURE__ */ byKind((unit) => unit);

/** The kind of rule that switches a limit on. */
export const ASKED_BY = /* @__PURE__ */ byKind((unit) => ROWS[unit].askedBy);

/** A letter of a later version counts nothing that adds up. */
export const unitOfLetter = (letter: string): Unit =>
  ALL_UNITS.find((unit) => ROWS[unit].letter === letter) ?? 'jobs';

export const kindRow = (kind: LimitKind): (typeof ROWS)[Unit] => ROWS[UNIT_OF[kind]];

/** What a job takes while it runs and gives back at its end; the other units add up over a period. */
export const isInFlight = (unit: Unit): boolean => ROWS[unit].atOnce === true;

/** Counted while the job runs, not per period. */
export const isAtOnce = (kind: LimitKind): boolean => isInFlight(UNIT_OF[kind]);

/** Jobs may be kept waiting for it: for a slot, CPU, memory, or the next start. */
export const isAwaitable = (kind: LimitKind): boolean => kindRow(kind).waits === true;

/** Money and minutes: what a budget counts can be overdrawn and carried over, and its owner is warned. */
export const isSpent = (kind: LimitKind): boolean => ASKED_BY[kind] === 'budget';

/** What becomes of a job while a limit of this kind cannot be asked, where neither the limit nor its rule says. */
export const outageOfKind = (kind: LimitKind): 'room' | 'admit' => (isSpent(kind) ? 'room' : 'admit');

/** Spent, and days of usage tell how much: it has a forecast, a chart and a look back. */
export const isForecastable = (kind: LimitKind): boolean =>
  isSpent(kind) && kindRow(kind).usedOn !== undefined;

export const SPENT_KINDS: readonly LimitKind[] = /* @__PURE__ */ LIMIT_KINDS.filter(isSpent);

/** Its amounts are money of the deployment's one currency. */
export const isMoney = (kind: LimitKind): boolean => kindRow(kind).inCurrency === true;
