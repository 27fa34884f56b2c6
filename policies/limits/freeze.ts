import type { Validity } from './validity.ts';

/** Nothing of a subject starts for a while: somebody said so, and why. Running jobs finish. */
export interface Freeze extends Validity {
  /** `subjectKey`. */
  readonly subject: string;
  readonly id: string;
  readonly reason: string;
  readonly owner?: string;
  /** Who did it. */
  readonly by?: string;
  /** IANA zone the edges were written in, and are told in. */
  readonly zone: string;
}
