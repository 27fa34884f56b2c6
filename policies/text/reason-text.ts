export type Disclosure = 'none' | 'binding' | 'all';

export const DISCLOSURES: readonly Disclosure[] = ['none', 'binding', 'all'];

export interface DiscloseSettings {
  readonly default: Disclosure;
  readonly byGroup: ReadonlyMap<number, Disclosure>;
}

export interface HeadlineContext {
  readonly currency: string;
  readonly nowMs: number;
}

export interface AdviceContext {
  readonly disclosure: Disclosure;
  readonly nowMs: number;
}

/** Texts of one kind of reason. Texts from users are cleaned before use (`oneLine`, `quoted`). */
export interface ReasonText<Of> {
  headline(reason: Of, context: HeadlineContext): string;
  /** Without amounts or patterns of the rules. Absent: the headline has none. */
  discreetHeadline?(reason: Of): string;
  line(reason: Of, currency: string): string;
  /** Says if and when a retry helps, and other remedies. `none` discloses as little as `discreetHeadline`. */
  advice(reason: Of, context: AdviceContext): readonly string[];
  /** The job's author made no mistake, as with limits and freezes. */
  readonly faultless?: true;
}
