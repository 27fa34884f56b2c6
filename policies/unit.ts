import type { Job } from './checked-job.ts';
import { type Decimal, QUANTITIES_EXPECTED, readDecimal, readQuantityUnits } from './document/values.ts';
import type { CountedKind } from './kinds/counted-kinds.ts';
import { binaryText } from './kubernetes/quantity.ts';
import { costMicros, type JobPrice } from './price.ts';

interface UnitRow {
  readonly kind: string;
  /** Stands for it in the ledger's lines. Never reused; `f` and `u` are flags there. */
  readonly letter: string;
  /** The kind of rule that switches its limits on. What a budget asks can be overdrawn and carried over. */
  readonly askedBy: CountedKind;
  readonly atOnce?: true;
  /** Some of it is free again within seconds, so a job may be kept waiting for it. */
  readonly waits?: true;
  readonly inCurrency?: true;
  readonly guessed?: true;
  /** Amount that one job claims. Undefined: its terms do not have it. Absent terms: the job is unknown. */
  readonly asked?: (terms: Pick<Job, 'estimateSeconds' | 'costMicros'> | undefined) => number | undefined;
  /** Instead: the resource that the job requests from the cluster, written as a Kubernetes quantity. */
  readonly requested?: 'cpu' | 'memory';
  readonly settled?: (durationSeconds: number, price: Pick<JobPrice, 'microsPerMinute' | 'round'>) => number;
  /** Amount in one day of usage. Absent: usage does not have it, and there is no forecast. */
  readonly usedOn?: (day: UsageCounts) => number;
  readonly usageHasHeld?: true;
  readonly perWhole?: number;
}

export interface UsageCounts {
  readonly settledMicros: number;
  readonly heldMicros: number;
  readonly seconds: number;
  readonly admitted: number;
  readonly ranRejected: number;
  readonly released: number;
}

/** All units, in the order of texts. A new one is a row here and in unit-texts.ts, if its amounts follow from the inputs above. */
const UNITS = {
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
  bytes: {
    kind: 'memory',
    letter: 'b',
    askedBy: 'capacity',
    atOnce: true,
    waits: true,
    requested: 'memory',
  },
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

export type Unit = keyof typeof UNITS;

export type LimitKind = (typeof UNITS)[Unit]['kind'];

const ROWS: Readonly<Record<Unit, UnitRow & { readonly kind: LimitKind }>> = UNITS;
export const ALL_UNITS = /* @__PURE__ */ Object.keys(UNITS) as readonly Unit[];

export const unitRow = (unit: Unit): (typeof ROWS)[Unit] => ROWS[unit];

export const LIMIT_KINDS: readonly LimitKind[] = /* @__PURE__ */ ALL_UNITS.map((unit) => ROWS[unit].kind);

const byKind = <Value>(of: (unit: Unit) => Value): Readonly<Record<LimitKind, Value>> =>
  Object.fromEntries(ALL_UNITS.map((unit) => [ROWS[unit].kind, of(unit)])) as Record<LimitKind, Value>;

export const UNIT_OF = /* @__PURE__ */ byKind((unit) => unit);

export const ASKED_BY = /* @__PURE__ */ byKind((unit) => ROWS[unit].askedBy);

/** A letter of a later version counts nothing that adds up. */
export const unitOfLetter = (letter: string): Unit =>
  ALL_UNITS.find((unit) => ROWS[unit].letter === letter) ?? 'jobs';

export const kindRow = (kind: LimitKind): (typeof ROWS)[Unit] => ROWS[UNIT_OF[kind]];

export const isInFlight = (unit: Unit): boolean => ROWS[unit].atOnce === true;

export const isAtOnce = (kind: LimitKind): boolean => isInFlight(UNIT_OF[kind]);

export const isAwaitable = (kind: LimitKind): boolean => kindRow(kind).waits === true;

/** Money and minutes: what a budget counts can be overdrawn and carried over, and its owner is warned. */
export const isSpent = (kind: LimitKind): boolean => ASKED_BY[kind] === 'budget';

export const outageOfKind = (kind: LimitKind): 'room' | 'admit' => (isSpent(kind) ? 'room' : 'admit');

export const isForecastable = (kind: LimitKind): boolean =>
  isSpent(kind) && kindRow(kind).usedOn !== undefined;

export const SPENT_KINDS: readonly LimitKind[] = /* @__PURE__ */ LIMIT_KINDS.filter(isSpent);

/** Limits that can change by a share. CPU and memory are Kubernetes quantities, which have none. */
export const SCALED_KINDS: readonly LimitKind[] = /* @__PURE__ */ LIMIT_KINDS.filter(
  (kind) => kindRow(kind).requested === undefined,
);

export const isMoney = (kind: LimitKind): boolean => kindRow(kind).inCurrency === true;

export function readUnits(value: unknown, kind: LimitKind): Decimal {
  const { requested, perWhole = 1 } = kindRow(kind);
  if (requested !== undefined) {
    const amount = readQuantityUnits(value, requested);
    const expected = QUANTITIES_EXPECTED[requested];
    return amount === undefined ? { ok: false, expected } : { ok: true, amount };
  }
  const read = readDecimal(value, perWhole);
  if (read.ok || perWhole > 1) return read;
  return { ok: false, expected: 'a whole number such as 20' };
}

export function writtenUnits(whole: number, kind: LimitKind): string {
  const { requested, perWhole = 1 } = kindRow(kind);
  if (requested !== undefined) return QUANTITY_TEXTS[requested](whole);
  const millionths = ((whole % perWhole) * 1_000_000) / perWhole;
  // Thirds of a minute have no end, so no file can name them: shares and grants come to them. Only shown, never sent.
  if (!Number.isInteger(millionths)) return (whole / perWhole).toFixed(2);
  const decimals = String(millionths).padStart(6, '0');
  return `${Math.floor(whole / perWhole)}.${decimals}`.replace(/\.?0+$/, '');
}

const QUANTITY_TEXTS = {
  cpu: (millicpu: number) => (millicpu % 1000 === 0 ? String(millicpu / 1000) : `${millicpu}m`),
  memory: (bytes: number) => (bytes === 0 ? '0' : binaryText(BigInt(bytes))),
};
