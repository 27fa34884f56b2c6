/** The last known headroom of one limit, and what this relay has spent of it since. */
import type { LimitRoom } from '../../functions/core/contract/index.ts';
import type { Job } from '../../policies/checked-job.ts';
import { takenOf } from '../../policies/finding.ts';
import type { CodedReason, Violation } from '../../policies/reason.ts';
import { isInFlight, unitRow } from '../../policies/units/unit.ts';
import { amountText, limitNameFirst } from '../../policies/units/unit-texts.ts';

/** Running jobs that one limit remembers. Beyond it the earliest count as ended. */
export const SLOTS_MAX = 10_000;

/** A job's amount of a limit on concurrent use, until the job must have ended (Unix ms). */
interface Slot {
  readonly endsMs: number;
  readonly amount: number;
}

export interface LimitHeadroom {
  readonly refusal: Violation;
  readonly reason: CodedReason<'BUDGET_EXHAUSTED'>;
  readonly policy: LimitRoom['policy'];
  readonly periodMs: number | undefined;
  /** Unix ms. */
  readonly reportedAtMs: number;
  /** The response that reported it, and when its request left (monotonic). It does not include later admissions. */
  readonly report: number;
  readonly sentAtMs: number;
  /** Whole units, of all relays together. */
  left: number;
  /** Unix ms. The limit starts again then. */
  resetsAtMs: number;
  /** Spent by this relay on jobs that the ledger does not know. */
  spent: number;
  /** Admitted by the ledger through this relay since `sentAtMs`. The first `heldTo` of all such jobs are counted. */
  held: number;
  heldTo: number;
  /** The part of `spent` that comes back when jobs end. */
  slots: Slot[];
  /** Slots of jobs admitted through this relay before `sentAtMs` (monotonic), and their sum at that time. */
  earlier: Slot[];
  earlierTotal: number;
  /** The estimated amount that earlier jobs have given back since. */
  returned: number;
}

/** A limit's headroom as snapshots in the table hold it. The names are those of items that exist. */
export interface KeptHeadroom {
  readonly room: LimitRoom;
  readonly toldAtMs: number;
  readonly left: number;
  /** Absent: never. */
  readonly resetsAtMs?: number;
  /** Includes what the ledger admitted since the report. */
  readonly spent: number;
  readonly slots: readonly Slot[];
}

export function headroomOf(
  { refusal, policy, periodMs }: LimitRoom,
  reported: Pick<LimitHeadroom, 'report' | 'sentAtMs' | 'reportedAtMs'>,
): LimitHeadroom {
  const reason = refusal.reason as LimitHeadroom['reason'];
  const { limitAmount, committed, resetsAtMs = Number.POSITIVE_INFINITY } = reason;
  const left = Math.max(0, limitAmount - committed);
  const unused = { spent: 0, held: 0, heldTo: 0, slots: [], earlier: [], earlierTotal: 0, returned: 0 };
  return { refusal, reason, policy, periodMs, ...reported, left, resetsAtMs, ...unused };
}

/** @param admitted - admitted by the ledger since the report, and not in `held` yet. */
export function keptHeadroomOf(headroom: LimitHeadroom, admitted: number): KeptHeadroom {
  const { refusal, policy, periodMs, reportedAtMs, left, resetsAtMs, spent, held, slots } = headroom;
  return {
    room: { refusal, policy, ...(periodMs !== undefined && { periodMs }) },
    ...{ toldAtMs: reportedAtMs, left, spent: spent + held + admitted, slots },
    ...(Number.isFinite(resetsAtMs) && { resetsAtMs }),
  };
}

export function restoredHeadroom({
  room,
  toldAtMs,
  left,
  resetsAtMs,
  spent,
  slots,
}: KeptHeadroom): LimitHeadroom {
  const headroom = headroomOf(room, {
    report: 0,
    sentAtMs: Number.NEGATIVE_INFINITY,
    reportedAtMs: toldAtMs,
  });
  return { ...headroom, left, spent, slots: [...slots], resetsAtMs: resetsAtMs ?? Number.POSITIVE_INFINITY };
}

export interface HeadroomClaim {
  readonly headroom: LimitHeadroom;
  /** Whole units. */
  readonly asked: number;
}

/** An unknown amount counts 0, so the job is admitted. */
export function askedOf(job: Job, { reason: { unit } }: LimitHeadroom): number {
  const taken = takenOf(job, unitRow(unit).kind);
  return typeof taken === 'number' ? taken : 0;
}

/** Starts the next period with the whole limit, and frees the slots of jobs that must have ended. */
export function renew(headroom: LimitHeadroom, nowMs: number): void {
  const { periodMs, resetsAtMs, reason } = headroom;
  if (nowMs >= resetsAtMs) {
    Object.assign(headroom, { left: reason.limitAmount, spent: 0, held: 0 });
    headroom.resetsAtMs =
      periodMs === undefined
        ? Number.POSITIVE_INFINITY
        : resetsAtMs + periodMs * (Math.floor((nowMs - resetsAtMs) / periodMs) + 1);
  }
  Object.assign(headroom, withoutEnded(headroom, nowMs));
}

export function withoutEnded({ spent, slots }: Pick<KeptHeadroom, 'spent' | 'slots'>, nowMs: number) {
  const running = slots.filter(({ endsMs }) => endsMs > nowMs);
  return { slots: running, spent: spent - sumOf(slots) + sumOf(running) };
}

const sumOf = (slots: readonly Slot[]): number => slots.reduce((sum, { amount }) => sum + amount, 0);

export function spend(headroom: LimitHeadroom, asked: number, endsMs: number): void {
  headroom.spent += asked;
  if (!isInFlight(headroom.reason.unit)) return;
  headroom.slots.push({ endsMs, amount: asked });
  if (headroom.slots.length > SLOTS_MAX) headroom.spent -= headroom.slots.shift()?.amount ?? 0;
}

/** Notes a job that probably ran when the headroom was reported. */
export function noteEarlier(headroom: LimitHeadroom, endsMs: number, amount: number): void {
  if (endsMs <= headroom.sentAtMs) return;
  headroom.earlier.push({ endsMs, amount });
  headroom.earlierTotal += amount;
}

/**
 * Estimates what earlier jobs have given back. Jobs often end before their timeout, so some had ended before the report: the
 * estimate takes those with the earliest timeouts. A relay gives back at most its own share of the taken amount.
 */
export function giveBack(headroom: LimitHeadroom, atMs: number, relays: number): void {
  headroom.earlier = headroom.earlier.filter(({ endsMs }) => endsMs > atMs);
  const share = Math.floor((headroom.reason.limitAmount - headroom.left) / relays);
  headroom.returned = Math.max(0, Math.min(share, headroom.earlierTotal) - sumOf(headroom.earlier));
}

export const violationOf = ({
  headroom: { refusal, reason, policy, left, spent, held, returned },
  asked,
}: HeadroomClaim): Violation =>
  policy === 'reject'
    ? { ...refusal, reason: { code: 'CONTROLLER_ERROR', cause: 'when_unreachable: reject' } }
    : {
        ...refusal,
        reason: { ...reason, asked, committed: reason.limitAmount - left + spent + held - returned },
      };

/** @param options.isDisclosed - the reader of the job's page may see limits and their numbers. */
export function headroomRefusalText(
  { reason, policy, left, reportedAtMs }: LimitHeadroom,
  options: { readonly isDisclosed: boolean; readonly currency: string; readonly nowMs: number },
): string {
  const { isDisclosed, currency, nowMs } = options;
  const limit = isDisclosed ? `${limitNameFirst(reason)} of ${reason.subjectLabel}` : 'A CI limit';
  const begin = `${limit} cannot be asked right now`;
  if (policy === 'reject') return `${begin}, and lets no job start in that time.`;
  const ageS = Math.max(1, Math.round((nowMs - reportedAtMs) / 1_000));
  const known = isDisclosed
    ? `of the ${amountText(left, reason.unit, currency)} last known to be left`
    : 'of what was last known to be left';
  return `${begin}: ${known} ${ageS} s ago, not enough remains for this job.`;
}
