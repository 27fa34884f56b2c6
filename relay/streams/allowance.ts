/** Brief ends that cost nothing: a rolling restart of the router ends a pool's streams within moments. */
const BURST = 32;
/** Above this rate it is no restart but a loop. */
const PER_SECOND = 10;

/** A token bucket: how many streams may end right after they were opened before that counts as a failure. */
export interface Allowance {
  readonly left: number;
  readonly atMs: number;
}

export const fullAllowance = (nowMs: number): Allowance => ({ left: BURST, atMs: nowMs });

/** The allowance after one brief end, or undefined if there was none left. */
export function spend(allowance: Allowance, nowMs: number): Allowance | undefined {
  const left = Math.min(BURST, allowance.left + ((nowMs - allowance.atMs) * PER_SECOND) / 1_000);
  return left < 1 ? undefined : { left: left - 1, atMs: nowMs };
}
