/** Kinds of rules that switch on limits: what they decide depends on counters. */
export const COUNTED_RULES = {
  /** Money or minutes per period: a job claims its estimated use, added to settled and held use. */
  budget: { class: 'cost', refusal: 'BUDGET_EXHAUSTED' },
  /** Jobs in flight: a job takes one slot and returns it at its end. */
  concurrency: { class: 'capacity', refusal: 'CONCURRENCY_FULL' },
  /** CPU or memory of the jobs in flight: a job asks for what it requests from the cluster and gives it back at its end. */
  capacity: { class: 'capacity', refusal: 'CAPACITY_FULL', readsVariables: true },
  /** Jobs started per fixed window: each started job counts one. */
  window: { class: 'capacity', refusal: 'WINDOW_FULL' },
} as const satisfies Readonly<Record<string, CountedRuleKind>>;

/** Limits are for finance to edit, and nothing finance can edit may weaken a security rule: none of these is one. */
interface CountedRuleKind {
  readonly class: 'cost' | 'capacity';
  readonly refusal: string;
  readonly readsVariables?: true;
}

export type CountedKind = keyof typeof COUNTED_RULES;

export type RefusalCode = (typeof COUNTED_RULES)[CountedKind]['refusal'];

export const COUNTED_KINDS = Object.keys(COUNTED_RULES) as readonly CountedKind[];
