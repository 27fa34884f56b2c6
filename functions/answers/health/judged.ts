import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { counted } from '../../../policies/unit-texts.ts';
import { type RelayHeartbeat, SILENT_MS } from '../../core/store/health-items.ts';
import type { HealthFinding } from './evidence.ts';
import type { HealthEvidence } from './read-health.ts';

/** Alarm of the hourly health check, for problems without their own alarm. */
export const HEALTH_ALARM = 'HealthProblems';
/** Webhooks carry the time they were sent and are believed for five minutes. */
export const CLOCK_OFF_MS_MAX = MINUTE_MS;
export const DIRECTORY_OLD_MS = HOUR_MS;

export type HealthJudgement = Omit<HealthFinding, 'about'>;
export type HealthChecks = Readonly<Record<string, (evidence: HealthEvidence) => HealthJudgement>>;

type Part = Exclude<keyof HealthEvidence, 'nowMs'>;
type ValueOf<Name extends Part> = Extract<HealthEvidence[Name], { known: true }>['value'];

/** Judges what was read. A part that could not be read is unknown, and the finding says why. */
export const checked =
  <Name extends Part>(
    name: Name,
    judge: (value: ValueOf<Name>, evidence: HealthEvidence) => HealthJudgement,
  ) =>
  (evidence: HealthEvidence): HealthJudgement => {
    const read = evidence[name];
    return read.known ? judge(read.value as ValueOf<Name>, evidence) : unknown(read.why);
  };

export const ok = (text: string): HealthJudgement => ({ severity: 'ok', text });
export const unknown = (text: string): HealthJudgement => ({ severity: 'unknown', text });
export const warning = (text: string, remedy: string, alarm?: string): HealthJudgement => ({
  ...{ severity: 'warning', text, remedy },
  ...(alarm !== undefined && { alarm }),
});
export function problem(text: string, remedy: string, alarm = HEALTH_ALARM): HealthJudgement {
  return { severity: 'problem', text, remedy, alarm };
}
/** A problem whose remedy is the runbook's section of its alarm. */
export const alarmed = (text: string, alarm: string) =>
  problem(text, `see ${alarm} in cdk/RUNBOOK.md`, alarm);

/** Relays heard within as long as the watchdog would wait, newest first. */
export const recentRelays = (
  heartbeats: readonly RelayHeartbeat[],
  nowMs: number,
): readonly RelayHeartbeat[] => heartbeats.filter(({ atMs }) => nowMs - atMs <= SILENT_MS);

/** Relays heard now; empty: none, or unknown. */
export const relaysHeard = ({ heartbeats, nowMs }: HealthEvidence): readonly RelayHeartbeat[] =>
  heartbeats.known ? recentRelays(heartbeats.value, nowMs) : [];

export function span(ms: number): string {
  if (ms < 2 * MINUTE_MS) return counted(Math.max(0, Math.round(ms / 1_000)), 'second');
  if (ms < 2 * HOUR_MS) return counted(Math.round(ms / MINUTE_MS), 'minute');
  if (ms < 2 * DAY_MS) return counted(Math.round(ms / HOUR_MS), 'hour');
  return counted(Math.round(ms / DAY_MS), 'day');
}
