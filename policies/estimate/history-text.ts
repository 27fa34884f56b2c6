/** A project's histories as one short text: `[["small\nunit",312,494721,"2s 31 2x"], …]`, durations to the base 36. */
import { byUse, HISTORIES_MAX, type ProjectHistory } from './project-history.ts';
import { RUNS_KEPT, type RunHistory } from './run-history.ts';

/** At most three bytes each: below 100 KB whatever people call their jobs. Two hundred usual names make some 20 KB. */
export const HISTORY_CHARACTERS_MAX = 32_000;

/** What does not fit is left out, the least used first. */
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

/** What cannot be read is left out: an estimate is never worth a failure. */
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
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.slice(0, HISTORIES_MAX).filter(Array.isArray) : [];
  } catch {
    return [];
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
