/** One thing that was looked at. */
export interface HealthFinding {
  /** Such as `relays` or `counters`. */
  readonly about: string;
  /** `unknown`: it could not be looked at, and `text` says why. */
  readonly severity: 'ok' | 'warning' | 'problem' | 'unknown';
  /** What was found. */
  readonly text: string;
  /** What to do about it; absent where nothing is to be done. */
  readonly remedy?: string;
}

export interface HealthView {
  /** Unix ms. */
  readonly checkedAtMs: number;
  /** How many findings are problems. */
  readonly problems: number;
  readonly findings: readonly HealthFinding[];
}
