import type { Limit } from './limit.ts';

/** Half-open, Unix ms; an edge that is absent is open. */
export interface Validity {
  readonly fromMs?: number;
  readonly untilMs?: number;
}

export const isValidAt = ({ fromMs, untilMs }: Validity, nowMs: number): boolean =>
  (fromMs === undefined || fromMs <= nowMs) && (untilMs === undefined || nowMs < untilMs);

/** Those that ask something at an instant; one that has not begun, or is over, is as if nobody had written it. */
export const validAt = (limits: readonly Limit[], nowMs: number): readonly Limit[] =>
  // Most limits have no dates, and then the list is the one there is.
  limits.every((limit) => isValidAt(limit, nowMs))
    ? limits
    : limits.filter((limit) => isValidAt(limit, nowMs));
