/** What must hold after the last sweep of every month, whatever was lost on the way. */
import { COMPARED, type ComparedFigure } from './findings.ts';
import type { MonthResult } from './month.ts';

interface Invariant {
  readonly name: string;
  /** What was counted, and what it must be. */
  readonly value: string;
  readonly must: string;
  readonly holds: boolean;
}

/** At 5 % lost events, while GitLab and the table answer. */
const WRONGLY_TAKEN_MS_MAX = 3 * 60_000;

export function invariantsOf({ audit, relays, slots, comparisons }: MonthResult): readonly Invariant[] {
  return [
    ...Object.entries(COMPARED).map(([what, name]) =>
      zero(`other than expected: ${name}`, comparisons.counts[what as ComparedFigure].otherwise),
    ),
    {
      name: 'charged, micro-units of settled jobs',
      value: audit.chargedMicros,
      must: audit.trueMicros,
      holds: audit.chargedMicros === audit.trueMicros,
    },
    zero('jobs in another state or at another amount than the truth', audit.wrongJobs),
    zero('counters that are not the sum of what was used', audit.wrongCounters),
    zero('held on any counter', audit.heldLeft),
    zero('live holds', audit.liveLeft),
    zero('counters over their limit without a recorded cause', audit.overLimit.unexplained),
    zero('counters that a rebuild would change', audit.drift),
    zero('jobs asked about twice and answered differently', relays.answeredTwoWays),
    zero('fallback answers never posted', relays.unmeteredLeft),
    {
      name: 'longest a slot was wrongly taken, ms',
      value: String(slots.maxMs),
      must: `at most ${WRONGLY_TAKEN_MS_MAX}`,
      holds: slots.maxMs <= WRONGLY_TAKEN_MS_MAX,
    },
  ];
}

const zero = (name: string, value: number): Invariant => ({
  name,
  value: String(value),
  must: '0',
  holds: value === 0,
});

/** `1.000000` only if the two are the same. */
export function chargedPerTrue({ audit }: MonthResult): string {
  const [charged, real] = [BigInt(audit.chargedMicros), BigInt(audit.trueMicros)];
  if (real === 0n) return charged === 0n ? '1.000000' : 'infinite';
  const millionths = (charged * 1_000_000n) / real;
  return `${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, '0')}`;
}
