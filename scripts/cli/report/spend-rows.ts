/** What two months were charged for, side by side. Pure. */
import type { StatementLine } from '../../../functions/answers/statement/model.ts';

export const SPEND_KEYS = ['group', 'project', 'class', 'day'] as const;
type SpendKey = (typeof SPEND_KEYS)[number];

interface SpendRow {
  /** Empty: not known. */
  readonly name: string;
  readonly seconds: number;
  readonly micros: number;
  readonly beforeSeconds: number;
  readonly beforeMicros: number;
}

/** Rows and `other` add up to the total, and the total to the statements of both months. */
export interface SpendReport {
  /** Days in their order, all else most expensive first. */
  readonly rows: readonly SpendRow[];
  readonly other: Omit<SpendRow, 'name'> & { readonly rows: number };
  readonly total: Omit<SpendRow, 'name'>;
}

const NAMES: Readonly<Record<SpendKey, (line: StatementLine) => string>> = {
  group: ({ groupPath, groupId }) => groupPath ?? (groupId === undefined ? '' : `group ${groupId}`),
  project: ({ projectPath, projectId }) =>
    projectPath ?? (projectId === undefined ? '' : `project ${projectId}`),
  class: ({ runnerClass }) => runnerClass,
  // The day of the month, so that both months share their rows.
  day: ({ day }) => day.slice(-2),
};

export function spendReport(
  now: readonly StatementLine[],
  before: readonly StatementLine[],
  by: SpendKey,
  top: number,
): SpendReport {
  const sums = new Map<string, SpendRow>();
  const nameOf = NAMES[by];
  const add = (name: string, more: Partial<SpendRow>): void => {
    const sum = sums.get(name) ?? { name, ...added([]) };
    sums.set(name, { name, ...added([sum, { ...added([]), ...more }]) });
  };
  for (const line of now) add(nameOf(line), { seconds: line.seconds, micros: line.micros });
  for (const line of before) add(nameOf(line), { beforeSeconds: line.seconds, beforeMicros: line.micros });
  const byName = (a: SpendRow, b: SpendRow): number => (a.name < b.name ? -1 : 1);
  const all = [...sums.values()].sort((a, b) =>
    by === 'day' ? byName(a, b) : b.micros - a.micros || b.beforeMicros - a.beforeMicros || byName(a, b),
  );
  const others = all.slice(top);
  return { rows: all.slice(0, top), other: { ...added(others), rows: others.length }, total: added(all) };
}

function added(rows: readonly Omit<SpendRow, 'name'>[]): Omit<SpendRow, 'name'> {
  const sum = (of: (row: Omit<SpendRow, 'name'>) => number): number =>
    rows.reduce((total, row) => total + of(row), 0);
  return {
    seconds: sum(({ seconds }) => seconds),
    micros: sum(({ micros }) => micros),
    beforeSeconds: sum(({ beforeSeconds }) => beforeSeconds),
    beforeMicros: sum(({ beforeMicros }) => beforeMicros),
  };
}
