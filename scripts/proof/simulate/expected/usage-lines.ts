/** What all jobs come to, by subject and day of their decision: the groups above each as of then, whatever moved since. */
import type { ExpectedJob } from './books.ts';
import { costOf } from './edition.ts';
import { dayNameIn } from './period-name.ts';

export interface UsageLine {
  jobs: number;
  admitted: number;
  rejected: number;
  released: number;
  expired: number;
  seconds: number;
  settledMicros: number;
  heldMicros: number;
  exempt: number;
  unmetered: number;
  bypass: number;
}

const noUsage = (): UsageLine => ({
  jobs: 0,
  admitted: 0,
  rejected: 0,
  released: 0,
  expired: 0,
  seconds: 0,
  settledMicros: 0,
  heldMicros: 0,
  exempt: 0,
  unmetered: 0,
  bypass: 0,
});

/** Keyed by subject and day: `group/101|2026-11-21`. */
export function usageLines(jobs: Iterable<ExpectedJob>, zone: string): ReadonlyMap<string, UsageLine> {
  const lines = new Map<string, UsageLine>();
  for (const each of jobs) {
    const { job, ask } = each;
    const subjects = [
      'instance',
      ...ask.groupIds.map((id) => `group/${id}`),
      `project/${job.projectId}`,
      `runner-class/${job.runnerClass}`,
    ];
    for (const subject of subjects) {
      const name = `${subject}|${dayNameIn(zone, ask.atMs)}`;
      const line = lines.get(name) ?? noUsage();
      lines.set(name, line);
      count(each, line);
    }
  }
  return lines;
}

function count({ state, ask, seconds, uncheckedBy }: ExpectedJob, line: UsageLine): void {
  line.jobs += 1;
  line[state === 'REJECTED' ? 'rejected' : 'admitted'] += 1;
  if (uncheckedBy !== undefined) line[uncheckedBy] += 1;
  if (state === 'RELEASED') line.released += 1;
  if (state === 'EXPIRED') line.expired += 1;
  if (state === 'HELD') line.heldMicros += costOf(ask.estimateSeconds, ask.microsPerMinute);
  if (state !== 'SETTLED') return;
  line.seconds += seconds;
  line.settledMicros += costOf(seconds, ask.microsPerMinute);
}
