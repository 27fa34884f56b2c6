/** An amount on top of a limit for a time, given by somebody for a reason. Grants add up. */
export interface Grant {
  /** Whole units of the limit, > 0. */
  readonly amount: number;
  /** Unix ms; half-open: at `untilMs` it no longer counts. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly reason: string;
  readonly ticket?: string;
  /** Unique where it is there; by it a grant is revoked. */
  readonly id?: string;
  /** Who gave it, who asked for it, and who approved that. */
  readonly by?: string;
  readonly requestedBy?: string;
  readonly approvedBy?: string;
  /** GitLab's ids of the same, where they were signed in: names change hands. */
  readonly byUser?: number;
  readonly requestedByUser?: number;
  readonly approvedByUser?: number;
}

/** All that add to a limit: its own, and those from before it took over. */
export const grantsOf = ({
  grants = [],
  earlierGrants = [],
}: {
  readonly grants?: readonly Grant[];
  readonly earlierGrants?: readonly Grant[];
}): readonly Grant[] => (earlierGrants.length === 0 ? grants : [...grants, ...earlierGrants]);

/** What the grants in force at an instant come to. */
export const grantedAt = (grants: readonly Grant[], nowMs: number): number =>
  granted(grants.filter(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs));

/** What the grants come to that were in force at any time of a period. */
export const grantedWithin = (grants: readonly Grant[], startMs: number, endMs: number): number =>
  granted(grants.filter(({ fromMs, untilMs }) => fromMs < endMs && startMs < untilMs));

const granted = (grants: readonly Grant[]): number => grants.reduce((sum, { amount }) => sum + amount, 0);
