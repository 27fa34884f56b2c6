import type { CountedKind } from '../kinds/counted-kinds.ts';

/** One unit: all that the rest of Tollgate decides by it. */
export interface UnitRow {
  /** What documents, CSV and forms call a limit of it. */
  readonly kind: string;
  /** Stands for it in the ledger's lines. Never reused; `f` and `u` are flags there. */
  readonly letter: string;
  /** The kind of rule that switches its limits on. What a budget asks can be overdrawn and carried over. */
  readonly askedBy: CountedKind;
  /** A job takes it while it runs and gives it back at its end; the other units add up over a period. */
  readonly atOnce?: true;
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
