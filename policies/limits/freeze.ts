import type { Validity } from './period.ts';

/** Nothing of a subject starts for a while: somebody said so, and why. Running jobs finish. */
export interface Freeze extends Validity {
  /** `subjectKey`. */
  readonly subject: string;
  readonly id: string;
  readonly reason: string;
  readonly owner?: string;
  /** Who did it. */
  readonly by?: string;
  /** GitLab's id of them, where they were signed in. */
  readonly byUser?: number;
  /** IANA zone the edges were written in, and are told in. */
  readonly zone: string;
}
