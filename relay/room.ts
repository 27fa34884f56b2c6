/**
 * What was last known to be left of the limits, and what this relay has given of it to jobs that it admitted alone. Several
 * relays know the same number: each spends its share.
 */
import type { LimitRoom } from '../functions/core/contract/index.ts';
import type { Job } from '../policies/checked-job.ts';
import { timeoutEstimator } from '../policies/estimate.ts';
import { takenOf } from '../policies/finding.ts';
import { jobOf } from '../policies/job.ts';
import { keepLatest } from '../policies/keep-latest.ts';
import { subjectsOf } from '../policies/limits/limits.ts';
import type { Directory } from '../policies/place/directory.ts';
import type { Policy } from '../policies/policy.ts';
import type { CodedReason, Violation } from '../policies/reason.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import { disclosureFor } from '../policies/text/rejection-text.ts';
import { isInFlight, unitRow } from '../policies/units/unit.ts';
import { amountText, limitNameFirst } from '../policies/units/unit-texts.ts';
import type { RelayClock } from './exchange.ts';

/** Subjects whose limits are known; beyond it those told longest ago are forgotten, and their jobs admitted. */
const SUBJECTS_MAX = 10_000;
/** Limits of one subject; a service that tells of more is not ours. */
const LIMITS_MAX = 32;
/** Jobs that the ledger admitted since rooms were told, a second's worth and more; beyond it the first ones are not deducted. */
const ADMITTED_MAX = 4_096;
/** An answer of the fallback is on its way to the router for less; then it waits to be told to the ledger. */
const DELIVERED_MS = 2_000;
/** Jobs that were given room; one that is asked about again within so many others spends nothing more. */
const GIVEN_MAX = 10_000;
/** Slots of one limit that are waited for; of more the earliest are taken to be free. */
const SLOTS_MAX = 10_000;

type RoomReason = CodedReason<'BUDGET_EXHAUSTED'>;

/** Of one limit. */
interface KnownRoom {
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
  /** Of what is given back at a job's end: when that is, as far as anybody can guess. */
  slots: { readonly endsMs: number; readonly amount: number }[];
}

export interface RoomRefusal {
  readonly violations: readonly [Violation, ...Violation[]];
  /** The first line for the user. */
  readonly text: string;
}

/** A job that the ledger admitted. */
interface AdmittedJob {
  readonly request: AdmissionRequest;
  readonly tell: number;
  readonly atMs: number;
  job?: Job;
}

/** What came in one answer of the ledger. */
interface RoomAnswer {
  readonly rooms: readonly LimitRoom[];
  /** What is left is told without those. */
  readonly admitted: readonly AdmissionRequest[];
  /** Monotonic. */
  readonly askedAtMs: number;
}

interface RoomDeps {
  readonly clock: Pick<RelayClock, 'nowMs' | 'monotonicMs'>;
  /** Its prices. A relay without a policy knows no amounts and keeps no room. */
  readonly policy: Policy | undefined;
  readonly directory: () => Directory | undefined;
  /** How many relays share the room. */
  readonly relays: number;
  /** Whether every answer of the fallback has been in the ledger since then (monotonic): what it tells includes them. */
  readonly isSettled: (sinceMs: number) => boolean;
}

export class RelayRoom {
  readonly #deps: RoomDeps;
  readonly #bySubject = new Map<string, Map<string, KnownRoom>>();
  /** The last ones. Looked at only when room is taken, because most of the time nobody does. */
  #admitted: AdmittedJob[] = [];
  #admittedTotal = 0;
  #tells = 0;
  #takenAtMs = Number.NEGATIVE_INFINITY;
  readonly #given = new Map<number, true>();

  constructor(deps: RoomDeps) {
    this.#deps = deps;
  }

  /** What the ledger says now. */
  tell({ rooms, admitted, askedAtMs }: RoomAnswer): void {
    if (this.#deps.policy === undefined) return;
    this.#tells += 1;
    const tell = this.#tells;
    const atMs = this.#deps.clock.monotonicMs();
    if (this.#bySubject.size > 0) this.#noteAdmitted(admitted.map((request) => ({ request, tell, atMs })));
    if (rooms.length === 0) return;
    const isSettled = this.#takenAtMs <= askedAtMs - DELIVERED_MS && this.#deps.isSettled(askedAtMs);
    const toldAtMs = this.#deps.clock.nowMs();
    for (const { refusal, policy, periodMs } of rooms) {
      const reason = refusal.reason as RoomReason;
      const { subject, limit, limitAmount, committed, resetsAtMs = Number.POSITIVE_INFINITY } = reason;
      const limits = this.#bySubject.get(subject) ?? new Map<string, KnownRoom>();
      const before = isSettled ? undefined : limits.get(limit);
      const left = Math.max(0, limitAmount - committed);
      const { spent = 0, slots = [] } = before ?? {};
      const told = { refusal, reason, policy, periodMs, toldAtMs, left, resetsAtMs };
      const room = { ...told, tell, askedAtMs, spent, held: 0, heldTo: 0, slots };
      keepLatest(limits, limit, room, LIMITS_MAX);
      keepLatest(this.#bySubject, subject, limits, SUBJECTS_MAX);
    }
  }

  /** Takes what the job asks of every limit that is known to bind it. Undefined: it fits, or nothing is known. */
  take(request: AdmissionRequest): RoomRefusal | undefined {
    const { policy, directory, clock } = this.#deps;
    if (policy === undefined || this.#bySubject.size === 0 || this.#given.has(request.jobId))
      return undefined;
    const nowMs = clock.nowMs();
    const known = { policy, directory: directory(), nowMs, estimator: timeoutEstimator };
    const asJob = (each: AdmissionRequest): Job => jobOf(each, { ...known, onEstimateFailed: () => {} });
    const job = asJob(request);
    const asks = this.#asksOf(job);
    for (const { room } of asks) {
      this.#deduct(room, asJob);
      renew(room, nowMs);
    }
    const [first, ...rest] = asks.filter(({ room, asked }) => !this.#fits(room, asked));
    if (first === undefined) {
      this.#takenAtMs = clock.monotonicMs();
      keepLatest(this.#given, request.jobId, true, GIVEN_MAX);
      for (const { room, asked } of asks) spend(room, asked, nowMs + job.estimateSeconds * 1_000);
      return undefined;
    }
    return {
      violations: [violationOf(first), ...rest.map(violationOf)],
      text: refusalText(first.room, {
        isTold: disclosureFor(job.placement, policy.disclose) !== 'none',
        currency: policy.currency,
        nowMs,
      }),
    };
  }

  #asksOf(job: Job): readonly RoomAsk[] {
    return subjectsOf(job).flatMap(({ subject }) =>
      [...(this.#bySubject.get(subject)?.values() ?? [])].map((room) => ({
        room,
        asked: askedOf(job, room),
      })),
    );
  }

  #noteAdmitted(jobs: readonly AdmittedJob[]): void {
    this.#admitted.push(...jobs);
    this.#admittedTotal += jobs.length;
    if (this.#admitted.length > 2 * ADMITTED_MAX) this.#admitted = this.#admitted.slice(-ADMITTED_MAX);
  }

  /** Each relay deducts what went through itself, so that together they deduct all of it. */
  #deduct(room: KnownRoom, asJob: (request: AdmissionRequest) => Job): void {
    const first = this.#admittedTotal - this.#admitted.length;
    for (const each of this.#admitted.slice(Math.max(0, room.heldTo - first))) {
      if (each.tell === room.tell || each.atMs < room.askedAtMs) continue;
      each.job ??= asJob(each.request);
      if (subjectsOf(each.job).some(({ subject }) => subject === room.reason.subject))
        room.held += askedOf(each.job, room);
    }
    room.heldTo = this.#admittedTotal;
  }

  #fits({ policy, left, spent, held }: KnownRoom, asked: number): boolean {
    return policy === 'room' && left > 0 && asked <= Math.floor(left / this.#deps.relays) - spent - held;
  }
}

interface RoomAsk {
  readonly room: KnownRoom;
  /** Whole units. */
  readonly asked: number;
}

/** What cannot be told of a job is asked of nobody. */
function askedOf(job: Job, { reason: { unit } }: KnownRoom): number {
  const taken = takenOf(job, unitRow(unit).kind);
  return typeof taken === 'number' ? taken : 0;
}

/** What is over begins anew with the whole limit; slots whose jobs must have ended are free. */
function renew(room: KnownRoom, nowMs: number): void {
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
  const over = room.slots.filter(({ endsMs }) => endsMs <= nowMs);
  if (over.length === 0) return;
  room.slots = room.slots.filter(({ endsMs }) => endsMs > nowMs);
  for (const { amount } of over) room.spent -= amount;
}

function spend(room: KnownRoom, asked: number, endsMs: number): void {
  room.spent += asked;
  if (!isInFlight(room.reason.unit)) return;
  room.slots.push({ endsMs, amount: asked });
  if (room.slots.length > SLOTS_MAX) room.spent -= room.slots.shift()?.amount ?? 0;
}

const violationOf = ({ room: { refusal, reason, policy, left, spent, held }, asked }: RoomAsk): Violation =>
  policy === 'reject'
    ? { ...refusal, reason: { code: 'CONTROLLER_ERROR', cause: 'when_unreachable: reject' } }
    : { ...refusal, reason: { ...reason, asked, committed: reason.limitAmount - left + spent + held } };

/** @param isTold - whether limits and their numbers may be told to whoever reads the job's page. */
function refusalText(
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
