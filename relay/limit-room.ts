/** What is known to be left of one limit, as it was told, and what one relay has given of it since. */
import type { LimitRoom } from '../functions/core/contract/index.ts';
import type { Job } from '../policies/checked-job.ts';
import { takenOf } from '../policies/finding.ts';
import type { CodedReason, Violation } from '../policies/reason.ts';
import { isInFlight, unitRow } from '../policies/units/unit.ts';
import { amountText, limitNameFirst } from '../policies/units/unit-texts.ts';

/** Slots of one limit that are waited for; of more the earliest are taken to be free. */
export const SLOTS_MAX = 10_000;

type RoomReason = CodedReason<'BUDGET_EXHAUSTED'>;

export interface KnownRoom {
  readonly refusal: Violation;
  readonly reason: RoomReason;
  readonly policy: LimitRoom['policy'];
  readonly periodMs: number | undefined;
  readonly toldAtMs: number;
  /** Whole units, of all relays. */
  left: number;
  /** Unix ms; what is left starts anew then. */
  resetsAtMs: number;
  /** Given by this relay and not known to the ledger. */
  spent: number;
  /** Which answer told it, and when that was asked for (monotonic): the ledger may not know what came in between. */
  readonly tell: number;
  readonly askedAtMs: number;
  /** Admitted by the ledger through this relay since then, as far as was looked at: up to this one of all such jobs. */
  held: number;
  heldTo: number;
  /** What is given back at the ends of jobs: when that is, as far as anybody can guess. */
  slots: { readonly endsMs: number; readonly amount: number }[];
  /** The same of jobs that the ledger had admitted through this relay before (monotonic), and how much that was then. */
  before: { readonly endsMs: number; readonly amount: number }[];
  beforeTotal: number;
  /** The part of what was taken when it was told that was given back since, as far as anybody can guess. */
  returned: number;
}

/** What of a room outlives its relay. */
export interface KeptLimitRoom {
  readonly room: LimitRoom;
  readonly toldAtMs: number;
  readonly left: number;
  /** Absent: never. */
  readonly resetsAtMs?: number;
  /** Given, and held since it was told. */
  readonly spent: number;
  readonly slots: KnownRoom['slots'];
}

export function knownRoom(
  { refusal, policy, periodMs }: LimitRoom,
  told: Pick<KnownRoom, 'tell' | 'askedAtMs' | 'toldAtMs'>,
): KnownRoom {
  const reason = refusal.reason as RoomReason;
  const { limitAmount, committed, resetsAtMs = Number.POSITIVE_INFINITY } = reason;
  const left = Math.max(0, limitAmount - committed);
  const none = { spent: 0, held: 0, heldTo: 0, slots: [], before: [], beforeTotal: 0, returned: 0 };
  return { refusal, reason, policy, periodMs, ...told, left, resetsAtMs, ...none };
}

/** @param admitted - what the ledger admitted since and nobody has deducted yet. */
export function keptRoomOf(room: KnownRoom, admitted: number): KeptLimitRoom {
  const { refusal, policy, periodMs, toldAtMs, left, resetsAtMs, spent, held, slots } = room;
  return {
    room: { refusal, policy, ...(periodMs !== undefined && { periodMs }) },
    ...{ toldAtMs, left, spent: spent + held + admitted, slots },
    ...(Number.isFinite(resetsAtMs) && { resetsAtMs }),
  };
}

/** All that is admitted from now on came after it. */
export function restoredRoom({ room, toldAtMs, left, resetsAtMs, spent, slots }: KeptLimitRoom): KnownRoom {
  const known = knownRoom(room, { tell: 0, askedAtMs: Number.NEGATIVE_INFINITY, toldAtMs });
  return { ...known, left, spent, slots: [...slots], resetsAtMs: resetsAtMs ?? Number.POSITIVE_INFINITY };
}

export interface RoomAsk {
  readonly room: KnownRoom;
  /** Whole units. */
  readonly asked: number;
}

/** What cannot be told of a job is asked of nobody. */
export function askedOf(job: Job, { reason: { unit } }: KnownRoom): number {
  const taken = takenOf(job, unitRow(unit).kind);
  return typeof taken === 'number' ? taken : 0;
}

/** What is over begins anew with the whole limit; slots whose jobs must have ended are free. */
export function renew(room: KnownRoom, nowMs: number): void {
  if (nowMs >= room.resetsAtMs) {
    const { periodMs } = room;
    room.left = room.reason.limitAmount;
    room.spent = 0;
    room.held = 0;
    room.resetsAtMs =
      periodMs === undefined
        ? Number.POSITIVE_INFINITY
        : room.resetsAtMs + periodMs * (Math.floor((nowMs - room.resetsAtMs) / periodMs) + 1);
  }
  Object.assign(room, withoutEnded(room, nowMs));
}

/** Slots of jobs that must have ended are free. */
export function withoutEnded({ spent, slots }: Pick<KeptLimitRoom, 'spent' | 'slots'>, nowMs: number) {
  const running = slots.filter(({ endsMs }) => endsMs > nowMs);
  return { slots: running, spent: spent - sumOf(slots) + sumOf(running) };
}

const sumOf = (slots: KeptLimitRoom['slots']): number => slots.reduce((sum, { amount }) => sum + amount, 0);

export function spendRoom(room: KnownRoom, asked: number, endsMs: number): void {
  room.spent += asked;
  if (!isInFlight(room.reason.unit)) return;
  room.slots.push({ endsMs, amount: asked });
  if (room.slots.length > SLOTS_MAX) room.spent -= room.slots.shift()?.amount ?? 0;
}

/** A job that was running when the room was told, as far as anybody can guess. */
export function noteBefore(room: KnownRoom, endsMs: number, amount: number): void {
  if (endsMs <= room.askedAtMs) return;
  room.before.push({ endsMs, amount });
  room.beforeTotal += amount;
}

/**
 * Jobs often end before anybody thinks, so that some of these were over when the room was told: they are taken to be those
 * with the earliest ends. A relay gives back of its own share, and never more than it knows to have been taken of it.
 */
export function giveBack(room: KnownRoom, atMs: number, relays: number): void {
  room.before = room.before.filter(({ endsMs }) => endsMs > atMs);
  const running = room.before.reduce((sum, { amount }) => sum + amount, 0);
  const share = Math.floor((room.reason.limitAmount - room.left) / relays);
  room.returned = Math.max(0, Math.min(share, room.beforeTotal) - running);
}

export const violationOf = ({
  room: { refusal, reason, policy, left, spent, held, returned },
  asked,
}: RoomAsk): Violation =>
  policy === 'reject'
    ? { ...refusal, reason: { code: 'CONTROLLER_ERROR', cause: 'when_unreachable: reject' } }
    : {
        ...refusal,
        reason: { ...reason, asked, committed: reason.limitAmount - left + spent + held - returned },
      };

/** @param isTold - whether limits and their numbers may be told to whoever reads the job's page. */
export function roomRefusalText(
  { reason, policy, left, toldAtMs }: KnownRoom,
  {
    isTold,
    currency,
    nowMs,
  }: { readonly isTold: boolean; readonly currency: string; readonly nowMs: number },
): string {
  const limit = isTold ? `${limitNameFirst(reason)} of ${reason.subjectLabel}` : 'A CI limit';
  const begin = `${limit} cannot be asked right now`;
  if (policy === 'reject') return `${begin}, and lets no job start in that time.`;
  const ageS = Math.max(1, Math.round((nowMs - toldAtMs) / 1_000));
  const known = isTold
    ? `of the ${amountText(left, reason.unit, currency)} last known to be left`
    : 'of what was last known to be left';
  return `${begin}: ${known} ${ageS} s ago, not enough remains for this job.`;
}
