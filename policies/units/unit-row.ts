import type { CountedKind } from '../kinds/counted-kinds.ts';
import type { Footprint } from '../kubernetes/footprint.ts';
import type { Rounding } from '../text/money-text.ts';

/** One unit: all that the rest of Tollgate decides by it. */
export interface UnitRow {
  /** What documents, CSV and forms call a limit of it. */
  readonly kind: string;
  /** Stands for it in the ledger's lines. Never reused; `f` and `u` are flags there. */
  readonly letter: string;
  /** The kind of rule that switches its limits on. What a budget asks can be forecast, overdrawn and carried over. */
  readonly askedBy: CountedKind;
  /** A job takes it while it runs and gives it back at its end; the other units add up over a period. */
  readonly atOnce: boolean;
  /** Amounts stand with the deployment's currency. */
  readonly inCurrency: boolean;
  /** What a job asks for is guessed before it runs. */
  readonly guessed: boolean;
  /** What one job asks for; undefined: its terms do not say. Absent terms: nothing is known of the job. */
  readonly asked: (terms: AskedTerms | undefined) => number | undefined;
  /** Where terms never say: what the job requests from the cluster. */
  readonly requested?: RequestedResource;
  /** What stays counted of a job that ran so long. */
  readonly settled: (durationSeconds: number, price: SettledPrice) => number;
  /** What one day of usage has of it. Absent: usage does not tell. */
  readonly usedOn?: (day: UsageCounts) => number;
  /** A day of usage includes what is only held. */
  readonly usageHasHeld: boolean;
  readonly written: WrittenForm;
  readonly text: UnitText;
}

export interface AskedTerms {
  readonly estimateSeconds: number;
  readonly costMicros: number;
}

export interface RequestedResource {
  readonly of: (footprint: Footprint) => Footprint['millicpu'];
  /** The variable that states it. */
  readonly variable: string;
}

export interface SettledPrice {
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

/** How an amount is written in documents: as a decimal of so many units, or as a Kubernetes quantity. */
export type WrittenForm = { readonly perWhole: number } | { readonly quantity: 'cpu' | 'memory' };

/** How people read and write it. */
export interface UnitText {
  /** `500.00 EUR` */
  readonly amount: (amount: number, currency: string, rounding?: Rounding) => string;
  /** The same without the unit, for the first of `498.70 of 500.00 EUR`. */
  readonly bare: (amount: number, rounding?: Rounding) => string;
  /** `CI budget`. Texts add `of` and its subject. */
  readonly name: string;
  /** All of it, before its name: `the whole`. */
  readonly wholly: string;
  /** Of a unit that jobs request from the cluster: `CPU`. */
  readonly resource?: string;
  /** What the author of a job that is too large for the limit can do, before `ask for a higher limit`. */
  readonly lower: string;
  /** Of a unit that a budget counts. */
  readonly budget?: {
    /** Where neither number nor subject may be told: `A CI budget`. */
    readonly unnamed: string;
    /** With what a job may fit into the rest: `a shorter timeout`. */
    readonly saver: string;
  };
  /** Heads a limit in forms and tables: `CI minutes`. */
  readonly heading: string;
  /** Explains the field of an amount. */
  readonly hint: (currency: string) => string;
  /** What the command line takes after an amount, the one it names first. */
  readonly words: readonly string[];
}
