/** Effect of a change on jobs. `could loosen`: the direction cannot be decided from the fields, so a reviewer must look. */
export type PolicyEffect = 'tightens' | 'loosens' | 'neutral' | 'could loosen';

/** One difference between two documents. */
export interface PolicyChange {
  /** Place by name instead of index: `rules.trusted-images.mode`. */
  readonly at: string;
  /** `shadow → enforce`, `+ docker:*`, `- docker:*`, `added`. */
  readonly what: string;
  readonly effect: PolicyEffect;
}

export const OPPOSITE: Readonly<Record<PolicyEffect, PolicyEffect>> = {
  tightens: 'loosens',
  loosens: 'tightens',
  neutral: 'neutral',
  'could loosen': 'could loosen',
};
