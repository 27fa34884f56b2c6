import { parsedJson } from './document/reading.ts';
import { HOUR_MS } from './limits/calendar.ts';

export type ProjectHistory = ReadonlyMap<string, RunHistory>;

export const NO_HISTORY: ProjectHistory = new Map();

export interface JobRun {
  readonly jobName: string;
  readonly runnerClass: string;
  readonly seconds: number;
  readonly endedAtMs: number;
}

/** Names of one project and class that are remembered; a larger project's rare jobs get the default. */
const HISTORIES_MAX = 200;
/** Twice as many runs are worth a day of not having run: new names do not push out those that run all the time. */
const HOURS_PER_DOUBLING = 24;
const JOB_NAME_CHARACTERS_MAX = 120;

/** A line feed stands in neither: GitLab's job names are one line. */
export const historyKey = (jobName: string, runnerClass: string): string =>
  `${runnerClass}\n${jobName.slice(0, JOB_NAME_CHARACTERS_MAX)}`;

/** A run counts for its full name and, if it is one of `parallel`, for the name they share. */
export function withRuns(project: ProjectHistory, runs: readonly JobRun[]): ProjectHistory {
  const after = new Map(project);
  for (const { jobName, runnerClass, seconds, endedAtMs } of runs) {
    if (!(seconds > 0)) continue;
    for (const name of listNames(jobName)) {
      const key = historyKey(name, runnerClass);
      after.set(key, withRun(after.get(key), seconds, endedAtMs));
    }
  }
  return after.size <= HISTORIES_MAX ? after : new Map(byUse(after).slice(0, HISTORIES_MAX));
}

export const historiesOf = (
  project: ProjectHistory,
  jobName: string,
  runnerClass: string,
): readonly RunHistory[] =>
  listNames(jobName).flatMap((name) => project.get(historyKey(name, runnerClass)) ?? []);

const byUse = (project: ProjectHistory): (readonly [string, RunHistory])[] =>
  [...project].sort(([keyA, a], [keyB, b]) => rankUse(b) - rankUse(a) || (keyA < keyB ? -1 : 1));

const rankUse = ({ usedAtHour, runs }: RunHistory): number =>
  usedAtHour + HOURS_PER_DOUBLING * Math.log2(runs);

/** `rspec 3/50`, and `build: [linux, arm64]` as GitLab names the jobs of `parallel` and of its matrix. */
const SUFFIX = /(?: \d{1,3}\/\d{1,3}|: \[[^[\]]*\])$/;

const listNames = (jobName: string): readonly string[] => {
  const shared = jobName.replace(SUFFIX, '');
  return shared === jobName || shared === '' ? [jobName] : [jobName, shared];
};

export interface RunHistory {
  readonly lastSeconds: readonly number[];
  readonly runs: number;
  readonly usedAtHour: number;
}

/** The p90 of twenty runs ignores the two longest, and a changed job is learned within a day. */
const RUNS_KEPT = 20;
/** A single run may be an outlier; the median of three is used. */
const RUNS_MIN = 3;
/** No run counts for more than this many times the median: one run of 20 h moves a job of 2 min to at most 8 min. */
export const OUTLIER_FACTOR = 4;
/** A hold of nothing would let a whole pipeline start on an empty budget. */
export const ESTIMATE_SECONDS_MIN = 30;
const SHARE = 0.9;
const RUN_SECONDS_MAX = 31 * 86_400;

export function withRun(history: RunHistory | undefined, seconds: number, endedAtMs: number): RunHistory {
  const before = history ?? { lastSeconds: [], runs: 0, usedAtHour: 0 };
  if (!(seconds > 0)) return before;
  const took = Math.min(Math.ceil(seconds), RUN_SECONDS_MAX);
  return {
    lastSeconds: [...before.lastSeconds, took].slice(-RUNS_KEPT),
    runs: before.runs + 1,
    usedAtHour: Math.max(before.usedAtHour, Math.floor(endedAtMs / HOUR_MS)),
  };
}

/** p90 of the last runs, outliers cut. To poison it, half of them have to be long, and those are paid for. */
export function estimateOfRuns({ lastSeconds }: RunHistory): number | undefined {
  if (lastSeconds.length < RUNS_MIN) return undefined;
  const sorted = lastSeconds.toSorted((a, b) => a - b);
  const median = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  const p90 = sorted[Math.ceil(sorted.length * SHARE) - 1] ?? 0;
  return Math.max(ESTIMATE_SECONDS_MIN, Math.min(p90, median * OUTLIER_FACTOR));
}

// A project's histories as one short text: `[["small\nunit",312,494721,"2s 31 2x"], …]`, durations to the base 36.

/** At most three bytes each, so below 100 KB. Two hundred common names take about 20 KB. */
export const HISTORY_CHARACTERS_MAX = 32_000;

export function encodeHistory(project: ProjectHistory): string {
  const lines: string[] = [];
  let characters = 2;
  for (const [key, { runs, usedAtHour, lastSeconds }] of byUse(project).slice(0, HISTORIES_MAX)) {
    const durations = lastSeconds.map((seconds) => seconds.toString(36)).join(' ');
    const line = JSON.stringify([key, runs, usedAtHour, durations]);
    if (characters + line.length + 1 > HISTORY_CHARACTERS_MAX) break;
    characters += line.length + 1;
    lines.push(line);
  }
  return `[${lines.join(',')}]`;
}

export function decodeHistory(text: string): ProjectHistory {
  const project = new Map<string, RunHistory>();
  for (const line of parsedLines(text)) {
    const [key, runs, usedAtHour, durations] = line;
    if (typeof key !== 'string' || typeof durations !== 'string' || !isCount(runs) || !isCount(usedAtHour))
      continue;
    const lastSeconds = durations
      .split(' ')
      .map((each) => Number.parseInt(each, 36))
      .filter((seconds) => isCount(seconds) && seconds > 0)
      .slice(-RUNS_KEPT);
    if (lastSeconds.length > 0 && runs > 0) project.set(key, { lastSeconds, runs, usedAtHour });
  }
  return project;
}

function parsedLines(text: string): readonly (readonly unknown[])[] {
  const parsed = parsedJson(text);
  return Array.isArray(parsed) ? parsed.slice(0, HISTORIES_MAX).filter(Array.isArray) : [];
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
