import { type Directory, findGroup } from '../../../policies/directory.ts';
import { wasBelowPath, wasInGroup } from '../../core/job-ends/job-charge.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import type { RollupStore } from '../../core/usage/rollup-store.ts';
import { BELOW_COUNTS, ROOT_JOBS, type UsageTally } from '../../core/usage/usage.ts';
import { type DaySpan, type DayTally, readTallies } from '../reading/usage-days.ts';

/** A group with this name takes precedence. */
const EVERYTHING = 'instance';

/** The group whose jobs a statement bills: those that were decided in it or below it. */
export interface BilledGroup {
  readonly label: string;
  readonly id?: number;
  readonly counts: (record: JobRecord) => boolean;
  /** The directory does not know the group: older records may not say that they were below it. */
  readonly unknown: boolean;
  readonly subject: string | undefined;
}

/** @param text - an id, a full path or `instance`. */
export function billedGroup(text: string, directory: Directory): BilledGroup {
  if (text === EVERYTHING && !directory.groupByPath.has(EVERYTHING))
    return { label: 'all groups', unknown: false, subject: EVERYTHING, counts: () => true };
  const group = findGroup(text, directory);
  // Days and records know the id of a group that is gone.
  const id = group?.id ?? (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
  if (id === undefined)
    return {
      label: text,
      unknown: true,
      subject: undefined,
      counts: (record) => wasBelowPath(record, text, directory),
    };
  return {
    id,
    label: group?.path ?? text,
    unknown: group === undefined,
    subject: `group/${id}`,
    counts: (record) => wasInGroup(record, id),
  };
}

// Adds up the usage days of a group. Statements, closed and open, take their sums from here and nowhere else.

/** `jobs` ran. A job whose end is unknown is charged, and counts neither there nor in seconds. */
export type BilledSum = ReturnType<typeof sumOf>;

export async function billedDays(subject: string, span: DaySpan, usage: Pick<RollupStore, 'readUsage'>) {
  const tallies = (await readTallies([subject], span, usage)).get(subject) ?? [];
  return {
    /** Jobs whose records name the group as their top-level group, even if groups were moved since. */
    charged: sumOf(tallies, ([name, below], tally) => countOf(tally, name) - countOf(tally, below)),
    /** All jobs of the group and below it, including jobs that are charged to the group above. */
    all: sumOf(tallies, ([name], tally) => countOf(tally, name)),
    isCharged: subject === 'instance' || tallies.some(({ tally }) => countOf(tally, ROOT_JOBS) > 0),
    heldMicros: tallies.reduce((sum, { tally }) => sum + countOf(tally, 'heldMicros'), 0),
  };
}

function sumOf(
  tallies: readonly DayTally[],
  count: (names: (typeof BELOW_COUNTS)[number], tally: UsageTally) => number,
) {
  const sum = { jobs: 0, seconds: 0, micros: 0, corrections: 0 };
  /** Days with a charge, in their order. */
  const days: { day: string; jobs: number; seconds: number; micros: number }[] = [];
  for (const { day, tally } of tallies) {
    const [micros = 0, seconds = 0, jobs = 0, corrections = 0] = BELOW_COUNTS.map((names) =>
      count(names, tally),
    );
    sum.micros += micros;
    sum.seconds += seconds;
    sum.jobs += jobs;
    sum.corrections += corrections;
    if (micros !== 0 || seconds !== 0) days.push({ day, jobs, seconds, micros });
  }
  return { ...sum, days };
}

const countOf = (tally: UsageTally, name: string): number => tally.get(name) ?? 0;
