/** One job that waits, and what is told of all that do. */
import {
  LINES_MAX,
  type LimitRoom,
  WAITING_LINES_MAX,
  type WaitingLine,
  type WaitingTerms,
} from '../../functions/core/contract/index.ts';
import { counterName } from '../../policies/claim.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { isInFlight } from '../../policies/units/unit.ts';
import type { FinalVerdict } from '../verdict.ts';
import type { Place } from './fair-order.ts';

export interface WaitedVerdict {
  readonly verdict: FinalVerdict;
  /** How long the job was kept waiting. Absent: not at all. */
  readonly waitedMs?: number;
}

export interface WaitingJob {
  readonly request: AdmissionRequest;
  /** Undefined: there was no room left to wait in, and it is asked about a last time. */
  readonly place: Place | undefined;
  readonly sinceMs: number;
  /** When it must have its answer. */
  readonly untilMs: number;
  /** When it is asked about for the last time. */
  lastAskMs: number;
  isLast: boolean;
  isAsked: boolean;
  /** What it may take of, while it is asked about. */
  turn: readonly string[];
  readonly waiters: ((waited: WaitedVerdict) => void)[];
  /** The questions that have gone are no reason to ask on. */
  listeners: number;
}

type WaitingJobs = ReadonlyMap<number, WaitingJob>;

/** At most {@link WAITING_LINES_MAX}, in the order of their turns. For people. */
export function longestLines(
  places: readonly Place[],
  jobs: WaitingJobs,
  nowMs: number,
): readonly WaitingLine[] {
  const lines = new Map<string, { root: string; counter: string; jobs: number; longestMs: number }>();
  for (const { jobId, root, counters } of places) {
    const waitedMs = Math.round(nowMs - (jobs.get(jobId)?.sinceMs ?? nowMs));
    for (const counter of counters) {
      const line = lines.get(`${root} ${counter}`) ?? { root, counter, jobs: 0, longestMs: 0 };
      line.jobs += 1;
      line.longestMs = Math.max(line.longestMs, waitedMs);
      lines.set(`${root} ${counter}`, line);
    }
  }
  const inTurn = [...lines.values()];
  const longest = new Set(inTurn.toSorted((a, b) => b.jobs - a.jobs).slice(0, WAITING_LINES_MAX));
  return inTurn.filter((line) => longest.has(line));
}

/** What a batch tells the function of those that wait. @param isFull - a job that does not wait yet may not begin to. */
export function waitingTerms(
  jobIds: readonly number[],
  {
    jobs: waiting,
    places,
    isFull,
    nowMs,
  }: {
    readonly jobs: WaitingJobs;
    readonly places: readonly Place[];
    readonly isFull: boolean;
    readonly nowMs: number;
  },
): WaitingTerms {
  const lines = new Set<string>();
  const add = (names: readonly string[]): void => {
    for (const name of names) if (lines.size < LINES_MAX) lines.add(name);
  };
  const jobs = jobIds.flatMap((jobId) => {
    const job = waiting.get(jobId);
    if (job === undefined) return isFull ? [{ jobId, waitedMs: 0, last: true as const }] : [];
    const turn = job.isAsked ? job.turn : [];
    add(turn);
    const waitedMs = Math.max(0, Math.round(nowMs - job.sinceMs));
    return [
      { jobId, waitedMs, ...(turn.length > 0 && { turn }), ...(job.isLast && { last: true as const }) },
    ];
  });
  for (const { counters } of places) add(counters);
  return { ...(lines.size > 0 && { lines: [...lines] }), ...(jobs.length > 0 && { jobs }) };
}

/** What is counted at once has no periods. */
const NO_PERIOD = 'now';

/** The counter of a limit on what is counted at once, by name, and whole units left of it. Undefined: another kind of limit. */
export function slotsLeft({
  refusal: { reason },
}: LimitRoom): { readonly name: string; readonly left: number } | undefined {
  if (!('committed' in reason) || !isInFlight(reason.unit)) return undefined;
  const { subject, limit, limitAmount, committed } = reason;
  return { name: counterName({ subject, limit, period: NO_PERIOD }), left: limitAmount - committed };
}
