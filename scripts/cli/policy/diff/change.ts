/** What a change does to jobs. `unclear`: it could be either, depending on the jobs. */
export type Effect = 'tightens' | 'loosens' | 'neutral' | 'unclear';

/** One difference between two documents. */
export interface Change {
  /** Where, by name instead of position: `rules.trusted-images.mode`. */
  readonly at: string;
  /** `shadow → enforce`, `+ docker:*`, `- docker:*`, `added`. */
  readonly what: string;
  readonly effect: Effect;
}

export const OPPOSITE: Readonly<Record<Effect, Effect>> = {
  tightens: 'loosens',
  loosens: 'tightens',
  neutral: 'neutral',
  unclear: 'unclear',
};
