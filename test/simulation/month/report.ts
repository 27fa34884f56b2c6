/** The month as a table, one column per way of estimating, and what must hold after its last sweep. */
import { right, table } from '../../../scripts/terminal/table.ts';
import { COMPARED, type ComparedFigure } from '../findings.ts';
import type { MonthResult } from './month.ts';

interface Invariant {
  readonly name: string;
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
    zero("jobs in another state than GitLab's", audit.wrongJobs),
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
  ...{ name, value: String(value), must: '0', holds: value === 0 },
});

/** `1.000000` only if both are the same. */
export function chargedPerTrue({ audit }: MonthResult): string {
  const [charged, real] = [BigInt(audit.chargedMicros), BigInt(audit.trueMicros)];
  if (real === 0n) return charged === 0n ? '1.000000' : 'infinite';
  const millionths = (charged * 1_000_000n) / real;
  return `${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, '0')}`;
}

export function reportText(months: readonly MonthResult[]): string {
  const rows: (readonly [string, (month: MonthResult) => string | number])[] = [
    ['jobs planned', ({ jobs }) => jobs],
    ['admitted', ({ admitted }) => admitted],
    ['rejected', ({ rejected }) => rejected],
    ['wrongly rejected, share of all jobs', (month) => percent(wrongOf(month), month.jobs)],
    ['settled jobs', ({ audit }) => audit.settledJobs],
    ['charged, micro-units', ({ audit }) => audit.chargedMicros],
    ['charged ÷ true cost', chargedPerTrue],
    ['counters over their limit', ({ audit }) => audit.overLimit.counters],
    ['jobs that never asked, charged', ({ bypass }) => bypass],
    ['answered by the fallback', ({ relays }) => relays.fallback],
    ['asked again because the answer was lost', ({ askedAgain }) => askedAgain],
    ['asked again after a relay died', ({ relays }) => relays.askedTwice],
    ['kept waiting for room', ({ waits }) => waits.waited],
    ['edits of limits and moves of groups', ({ edits }) => edits],
    ['holds ended by the sweep', ({ sweeps }) => sweeps.healed],
    ['slots used after the end of a job, p50, seconds', ({ slots }) => seconds(slots.p50Ms)],
    ['slots used after the end of a job, longest, seconds', ({ slots }) => seconds(slots.maxMs)],
    ['events that changed nothing', ({ unchanged }) => unchanged],
    ...Object.entries(COMPARED).map(
      ([what, name]) =>
        [
          `other than expected: ${name}`,
          ({ comparisons }: MonthResult) => {
            const { compared, otherwise } = comparisons.counts[what as ComparedFigure];
            return compared === 0 ? '-' : `${otherwise} of ${compared}`;
          },
        ] as const,
    ),
  ];
  const lines = table(
    ['holds by', ...months.map(({ estimate }) => right(estimate))],
    rows.map(([name, of]) => [name, ...months.map((month) => String(of(month)))]),
    Number.POSITIVE_INFINITY,
  );
  const broken = months.flatMap((month) => [
    ...invariantsOf(month)
      .filter(({ holds }) => !holds)
      .map(({ name, value, must }) => `BROKEN (${month.estimate}): ${name}: ${value}, must be ${must}`),
    ...month.comparisons.examples.map((example) => `  e.g. (${month.estimate}): ${example}`),
  ]);
  return [lines, ...(broken.length === 0 ? ['All invariants hold in every column.'] : broken)].join('\n');
}

export const wrongOf = ({ wronglyRejected }: MonthResult): number =>
  wronglyRejected.budget + wronglyRejected.slots;

const percent = (part: number, of: number): string => `${((100 * part) / Math.max(1, of)).toFixed(3)} %`;

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
