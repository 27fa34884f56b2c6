/** What follows from the table of units. Marked as pure where a bundle may do without. */
import type { UnitRow } from './unit-row.ts';
import { UNITS } from './units.ts';

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

/** Money and minutes: what a budget counts can be overdrawn and carried over, and its owner is warned. */
export const isSpent = (kind: LimitKind): boolean => ASKED_BY[kind] === 'budget';

/** Spent, and days of usage tell how much: it has a forecast, a chart and a look back. */
export const isForecastable = (kind: LimitKind): boolean =>
  isSpent(kind) && kindRow(kind).usedOn !== undefined;

export const SPENT_KINDS: readonly LimitKind[] = /* @__PURE__ */ LIMIT_KINDS.filter(isSpent);

/** Its amounts are money of the deployment's one currency. */
export const isMoney = (kind: LimitKind): boolean => kindRow(kind).inCurrency === true;
