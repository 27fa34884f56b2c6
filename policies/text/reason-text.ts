/**
 * What a rejection text may tell of limits: nothing but that one was met, the numbers of the binding one, or those of
 * all that were met.
 */
export type Disclosure = 'none' | 'binding' | 'all';

export const DISCLOSURES: readonly Disclosure[] = ['none', 'binding', 'all'];

export interface DiscloseSettings {
  readonly default: Disclosure;
  /** Keyed by group id; the closest ancestor that names one decides. */
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

/** All that people are told of one kind of reason. Text of users is made fit before it is put in (`oneLine`, `quoted`). */
export interface ReasonText<Of> {
  /** The first line: what stopped the job, complete on its own, at most `HEADLINE_CHARACTERS_MAX`. */
  headline(reason: Of, context: HeadlineContext): string;
  /**
   * The same for everybody to read: no level, and no number or pattern of the rules. What the job's author wrote, such
   * as the image or the name of a variable, may be told.
   */
  discreetHeadline(reason: Of): string;
  /** The numbers, for a line under the first. */
  line(reason: Of, currency: string): string;
  /** Whether a retry helps and when, and what else the reader can do. `none` discloses as little as `discreetHeadline`. */
  advice(reason: Of, context: AdviceContext): readonly string[];
  /** Whoever met a limit or a freeze wrote nothing wrong; whoever named an image that is not allowed did. */
  readonly faultless: boolean;
}
