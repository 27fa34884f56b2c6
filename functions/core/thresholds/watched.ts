import type { CounterKey } from '../../../policies/claim.ts';
import type { Forecast } from '../../../policies/forecast/forecast.ts';
import { limitPeriod } from '../../../policies/limits/limits.ts';
import type { Addressee } from '../notify/index.ts';
import type { AmountCrossing } from './announced.ts';
import type { WatchedLimit } from './level.ts';

/** A limit and whose it is. */
export interface LimitOfSubject {
  readonly limit: WatchedLimit;
  /** What a person calls the subject: `group acme/payments`. */
  readonly subjectLabel: string;
  /** Who is told. */
  readonly to: Addressee;
}

/** A crossing with everything a message says about it. */
export interface ToldCrossing extends AmountCrossing, LimitOfSubject {
  readonly period: CountedPeriod;
  /** Only for a period that runs, while something is left. */
  readonly forecast?: Forecast;
}

/** The period a counter counts in. */
export interface CountedPeriod {
  readonly label: string;
  /** Unix ms, Infinity for what never starts anew; absent for a period too long ago to know. */
  readonly endMs?: number;
  readonly isOver: boolean;
}

/** Counters of periods that are over still move: a job is settled where it was admitted. */
export function countedPeriod(
  { limit }: LimitOfSubject,
  { period: key }: CounterKey,
  nowMs: number,
): CountedPeriod {
  const current = limitPeriod(limit, nowMs);
  if (current === undefined) return { label: key, isOver: false };
  if (current.key === key) return { label: current.label, endMs: current.endMs, isOver: false };
  // A clock behind the writer's meets the next period first.
  const next = Number.isFinite(current.endMs) ? limitPeriod(limit, current.endMs) : undefined;
  if (next?.key === key) return { label: next.label, endMs: next.endMs, isOver: false };
  const last = Number.isFinite(current.startMs) ? limitPeriod(limit, current.startMs - 1) : undefined;
  return last?.key === key
    ? { label: last.label, endMs: last.endMs, isOver: true }
    : { label: key, isOver: true };
}
