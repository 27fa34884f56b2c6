import { DAY_MS } from '../../policies/limits/calendar.ts';

/** 02:20 UTC. Away from midnight, when periods end and everybody's schedules start. */
const NIGHT_AT_MS = (2 * 60 + 20) * 60_000;

/** Whether the night's recount is to begin. @param lastMs - when the last one began, Unix ms; undefined: there was none */
export const isNightDue = (lastMs: number | undefined, nowMs: number): boolean =>
  lastMs === undefined || nightOf(lastMs) < nightOf(nowMs);

const nightOf = (atMs: number): number => Math.floor((atMs - NIGHT_AT_MS) / DAY_MS);
