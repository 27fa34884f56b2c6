/** What a change does to jobs. `unclear`: it could be either, depending on the jobs. */
export type PolicyEffect = 'tightens' | 'loosens' | 'neutral' | 'unclear';

/** One difference between two documents. */
export interface PolicyChange {
  /** Where, by name instead of position: `rules.trusted-images.mode`. */
  readonly at: string;
  /** `shadow → enforce`, `+ docker:*`, `- docker:*`, `added`. */
  readonly what: string;
  readonly effect: PolicyEffect;
}

export const OPPOSITE: Readonly<Record<PolicyEffect, PolicyEffect>> = {
  tightens: 'loosens',
  loosens: 'tightens',
  neutral: 'neutral',
  unclear: 'unclear',
};
