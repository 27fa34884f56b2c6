/** The month as a table, one column per way of estimating, and what must hold after its last sweep. */
import { COMPARED, type ComparedFigure } from '../findings.ts';
import { CAUSES } from './figures.ts';
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

const MICROS = 1_000_000;

export function reportText(months: readonly MonthResult[]): string {
  const [first] = months;
  if (first === undefined) return '';
  const rows: (readonly [string, (month: MonthResult) => string | number])[] = [
    ['jobs planned', ({ jobs }) => jobs],
    ['admitted', ({ admitted }) => admitted],
    ['rejected', ({ rejected }) => rejected],
    ['  wrongly, by a budget', ({ wronglyRejected }) => wronglyRejected.budget],
    ['  wrongly, by jobs at once', ({ wronglyRejected }) => wronglyRejected.slots],
    ['  wrongly, share of all jobs', (month) => percent(wrongOf(month), month.jobs)],
    ['actual ÷ hold, p50', ({ audit }) => (audit.actualPerHold.p50 / 1000).toFixed(3)],
    ['actual ÷ hold, p90', ({ audit }) => (audit.actualPerHold.p90 / 1000).toFixed(3)],
    ['settled jobs', ({ audit }) => audit.settledJobs],
    ['charged, micro-units', ({ audit }) => audit.chargedMicros],
    ['true cost, micro-units', ({ audit }) => audit.trueMicros],
    ['charged ÷ true cost', chargedPerTrue],
    ['counters over their limit', ({ audit }) => audit.overLimit.counters],
    ['  by how much, currency', ({ audit }) => money(audit.overLimit.excess.micros ?? 0)],
    ['  by how much, minutes', ({ audit }) => ((audit.overLimit.excess.seconds ?? 0) / 60).toFixed(1)],
    ...CAUSES.flatMap((cause) => [
      [`  ${cause} on them, jobs`, ({ audit }: MonthResult) => audit.overLimit.causes[cause].jobs] as const,
      [
        `  ${cause} on them, currency`,
        ({ audit }: MonthResult) => money(audit.overLimit.causes[cause].micros),
      ] as const,
    ]),
    ['jobs that never asked, charged', ({ bypass }) => bypass],
    ['answered by the fallback', ({ relays }) => relays.fallback],
    ['asked again because the answer was lost', ({ askedAgain }) => askedAgain],
    ['kept waiting for room', ({ waits }) => waits.waited],
    ['  and admitted', ({ waits }) => waits.admitted],
    ['  longest, seconds', ({ waits }) => seconds(waits.longestMs)],
    ['edits of limits and moves of groups', ({ edits }) => edits],
    ['asked again after a relay died', ({ relays }) => relays.askedTwice],
    ['share of jobs that ran unadmitted, as the sweep saw it', (month) => unadmittedShare(month)],
    ['holds healed by the sweep', ({ sweeps }) => sweeps.healed],
    ['slots taken after the end, p50, seconds', ({ slots }) => seconds(slots.p50Ms)],
    ['  p99', ({ slots }) => seconds(slots.p99Ms)],
    ['  longest', ({ slots }) => seconds(slots.maxMs)],
    ['  longest while GitLab or the table was silent', ({ slots }) => seconds(slots.maxWhileSilentMs)],
    ['  longest of jobs GitLab forgot (until due)', ({ slots }) => seconds(slots.maxForgottenMs)],
    ['sweeps', ({ sweeps }) => sweeps.runs],
    ['  while GitLab was silent', ({ sweeps }) => sweeps.silent],
    ['  while the table was silent', ({ sweeps }) => sweeps.failed],
    ['events that changed nothing', ({ unchanged }) => unchanged],
    ['holds expired (GitLab forgot the job)', ({ sweeps }) => sweeps.expired],
    ['calls to GitLab', ({ gitlabCalls }) => gitlabCalls],
    ['transactions', ({ transactions }) => transactions],
  ];
  const head = ['holds by', ...months.map(({ estimate }) => estimate)];
  const lines = table([
    head,
    ...rows.map(([name, of]) => [name, ...months.map((month) => String(of(month)))]),
  ]);
  const checks = months.flatMap((month) =>
    invariantsOf(month)
      .filter(({ holds }) => !holds)
      .map(({ name, value, must }) => `BROKEN (${month.estimate}): ${name}: ${value}, must be ${must}`),
  );
  const examples = months.flatMap(({ estimate, comparisons }) =>
    comparisons.examples.map((example) => `  e.g. (${estimate}): ${example}`),
  );
  const count = invariantsOf(first).length;
  const verdict =
    checks.length === 0 ? [`All ${count} invariants hold in every column.`] : [...checks, ...examples];
  return [...lines, '', ...comparedText(months), '', ...verdict].join('\n');
}

/** How often the product differed from the rulebook. */
function comparedText(months: readonly MonthResult[]): readonly string[] {
  const rows = Object.entries(COMPARED).map(([what, name]) => [
    `  ${name}`,
    ...months.map(({ comparisons }) => {
      const { compared, otherwise } = comparisons.counts[what as ComparedFigure];
      return compared === 0 ? '-' : `${otherwise} of ${compared}`;
    }),
  ]);
  return table([
    ['other than expected by rules of its own', ...months.map(({ estimate }) => estimate)],
    ...rows,
  ]);
}

export const wrongOf = ({ wronglyRejected }: MonthResult): number =>
  wronglyRejected.budget + wronglyRejected.slots;

const percent = (part: number, of: number): string => `${((100 * part) / Math.max(1, of)).toFixed(3)} %`;

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const unadmittedShare = ({ sweeps }: MonthResult): string => percent(sweeps.unadmitted, sweeps.ran);

const money = (micros: number): string => (micros / MICROS).toFixed(2);

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<readonly number[]>(
    (before, row) => row.map((cell, column) => Math.max(before[column] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}
