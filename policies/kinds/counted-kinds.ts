export const COUNTED_RULES = {
  budget: { class: 'cost', refusal: 'BUDGET_EXHAUSTED' },
  concurrency: { class: 'capacity', refusal: 'CONCURRENCY_FULL' },
  capacity: { class: 'capacity', refusal: 'CAPACITY_FULL', readsVariables: true },
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
