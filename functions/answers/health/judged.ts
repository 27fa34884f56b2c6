/** Findings of health checks. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { type RelayBeat, SILENT_MS } from '../../core/store/health-items.ts';
import type { HealthEvidence, HealthFinding, ReadResult } from './evidence.ts';

/** Alarm of the hourly health check, for problems without their own alarm. */
export const HEALTH_ALARM = 'HealthProblems';

/** Webhooks carry the time they were sent and are believed for five minutes. */
export const CLOCK_OFF_MS_MAX = MINUTE_MS;

/** As old as relays take a directory for true. */
export const DIRECTORY_OLD_MS = HOUR_MS;

type HealthJudgement = Omit<HealthFinding, 'about'>;
export type HealthChecks = Readonly<Record<string, (evidence: HealthEvidence) => HealthJudgement>>;

export const known = <T>(read: ReadResult<T>, judge: (value: T) => HealthJudgement): HealthJudgement =>
  read.known ? judge(read.value) : unknown(read.why);

const ok = (text: string): HealthJudgement => ({ severity: 'ok', text });
const unknown = (text: string): HealthJudgement => ({ severity: 'unknown', text });
const warning = (text: string, remedy: string, alarm?: string): HealthJudgement => ({
  ...{ severity: 'warning', text, remedy },
  ...(alarm !== undefined && { alarm }),
});
/** @param alarm - that covers it; by default that of the hourly check */
const problem = (text: string, remedy: string, alarm: string = HEALTH_ALARM): HealthJudgement => ({
  ...{ severity: 'problem', text, remedy, alarm },
});

export const judged = { ok, unknown, warning, problem };

/** Relays heard within as long as the watchdog would wait, newest first. */
export const heardAmong = (beats: readonly RelayBeat[], nowMs: number): readonly RelayBeat[] =>
  beats.filter(({ atMs }) => nowMs - atMs <= SILENT_MS);

export const counted = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

export function span(ms: number): string {
  if (ms < 2 * MINUTE_MS) return counted(Math.max(0, Math.round(ms / 1_000)), 'second');
  if (ms < 2 * HOUR_MS) return counted(Math.round(ms / MINUTE_MS), 'minute');
  return ms < 2 * DAY_MS
    ? counted(Math.round(ms / HOUR_MS), 'hour')
    : counted(Math.round(ms / DAY_MS), 'day');
}
