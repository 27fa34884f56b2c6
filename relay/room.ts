/**
 * What was last known to be left of the limits, and what this relay has given of it to jobs that it admitted alone. Several
 * relays know the same number: each spends its share.
 */
import type { LimitRoom } from '../functions/core/contract/index.ts';
import type { Job } from '../policies/checked-job.ts';
import { sentTimeoutSeconds, timeoutEstimator } from '../policies/estimate.ts';
import { jobOf } from '../policies/job.ts';
import { keepLatest } from '../policies/keep-latest.ts';
import { subjectsOf } from '../policies/limits/limits.ts';
import type { Directory } from '../policies/place/directory.ts';
import type { Policy } from '../policies/policy.ts';
import type { Violation } from '../policies/reason.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import { disclosureFor } from '../policies/text/rejection-text.ts';
import { isInFlight } from '../policies/units/unit.ts';
import type { RelayClock } from './exchange.ts';
import {
  askedOf,
  giveBack,
  type KeptLimitRoom,
  type KnownRoom,
  keptRoomOf,
  knownRoom,
  noteBefore,
  type RoomAsk,
  renew,
  restoredRoom,
  roomRefusalText,
  spendRoom,
  violationOf,
} from './limit-room.ts';

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
/** Rooms that outlive a relay, those told last: a megabyte or two. */
const KEPT_MAX = 2_000;
/** GitLab's own for jobs that say nothing. */
const TIMEOUT_S = 3_600;
/** What an earlier relay gave may have gone into the journal in its last moment; the stream books it within seconds. */
const UNBOOKED_MS = 60_000;

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

/** Whether what was told of the room includes the job. */
const isKnownTo = (room: KnownRoom, { tell, atMs }: AdmittedJob): boolean =>
  tell === room.tell || atMs < room.askedAtMs;

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
  /** Hears that what {@link RelayRoom.keep} says is another now, or that a job was refused by it. */
  readonly changed?: (how: RoomChange) => void;
}

export type RoomChange = 'told' | 'given' | 'refused';

/** What outlives a relay. */
export interface KeptRooms {
  readonly rooms: readonly KeptLimitRoom[];
  /** Jobs that were given room. */
  readonly given: readonly number[];
}

export class RelayRoom {
  readonly #deps: RoomDeps;
  readonly #bySubject = new Map<string, Map<string, KnownRoom>>();
  /** The last ones. Looked at only when room is taken, because most of the time nobody does. */
  #admitted: AdmittedJob[] = [];
  #admittedTotal = 0;
  /** Until then jobs may run that were admitted through this relay or the one before it, and that it does not know. */
  #unknownUntilMs: number;
  #tells = 0;
  #takenAtMs = Number.NEGATIVE_INFINITY;
  readonly #given = new Map<number, true>();

  constructor(deps: RoomDeps) {
    this.#deps = deps;
    this.#unknownUntilMs = deps.clock.monotonicMs() + TIMEOUT_S * 1_000;
  }

  /** What the ledger says now. */
  tell({ rooms, admitted, askedAtMs }: RoomAnswer): void {
    if (this.#deps.policy === undefined) return;
    this.#tells += 1;
    const tell = this.#tells;
    const atMs = this.#deps.clock.monotonicMs();
    this.#noteAdmitted(admitted.map((request) => ({ request, tell, atMs })));
    if (rooms.length === 0) return;
    const isSettled = this.#takenAtMs <= askedAtMs - DELIVERED_MS && this.#deps.isSettled(askedAtMs);
    const toldAtMs = this.#deps.clock.nowMs();
    for (const told of rooms) {
      const room = knownRoom(told, { tell, askedAtMs, toldAtMs });
      const before = isSettled ? undefined : this.#roomLike(room);
      if (before !== undefined) Object.assign(room, { spent: before.spent, slots: before.slots });
      this.#know(room);
    }
    this.#deps.changed?.('told');
  }

  /** Returns what the next relay must know: the rooms told last come last, as do the jobs. */
  keep(): KeptRooms {
    const rooms = [...this.#bySubject.values()].flatMap((limits) => [...limits.values()]);
    const admitted = this.#admittedSince();
    return {
      rooms: rooms.slice(-KEPT_MAX).map((room) => keptRoomOf(room, admitted.get(room) ?? 0)),
      given: [...this.#given.keys()],
    };
  }

  /** Takes over what an earlier relay knew; what this one was told is newer. */
  restore({ rooms, given }: KeptRooms): void {
    if (this.#deps.policy === undefined) return;
    for (const jobId of given) keepLatest(this.#given, jobId, true, GIVEN_MAX);
    for (const kept of rooms) {
      const room = restoredRoom(kept);
      if (this.#roomLike(room) === undefined) this.#know(room);
    }
    this.#takenAtMs = this.#deps.clock.monotonicMs() + UNBOOKED_MS;
  }

  #roomLike({ reason: { subject, limit } }: KnownRoom): KnownRoom | undefined {
    return this.#bySubject.get(subject)?.get(limit);
  }

  #know(room: KnownRoom): void {
    const { subject, limit } = room.reason;
    const limits = this.#bySubject.get(subject) ?? new Map<string, KnownRoom>();
    keepLatest(limits, limit, room, LIMITS_MAX);
    keepLatest(this.#bySubject, subject, limits, SUBJECTS_MAX);
  }

  /** Takes what the job asks of every limit that is known to bind it. Undefined: it fits, or nothing is known. */
  take(request: AdmissionRequest): RoomRefusal | undefined {
    const { policy, clock, relays } = this.#deps;
    if (policy === undefined || this.#bySubject.size === 0 || this.#given.has(request.jobId))
      return undefined;
    const nowMs = clock.nowMs();
    const asJob = this.#jobReader(policy, nowMs);
    const job = asJob(request);
    const asks = this.#asksOf(job);
    for (const { room } of asks) {
      this.#deduct(room, asJob);
      renew(room, nowMs);
      if (clock.monotonicMs() >= this.#unknownUntilMs) giveBack(room, clock.monotonicMs(), relays);
    }
    const [first, ...rest] = asks.filter(({ room, asked }) => !this.#fits(room, asked));
    if (first === undefined) {
      this.#takenAtMs = clock.monotonicMs();
      keepLatest(this.#given, request.jobId, true, GIVEN_MAX);
      for (const { room, asked } of asks) spendRoom(room, asked, nowMs + job.estimateSeconds * 1_000);
      this.#deps.changed?.('given');
      return undefined;
    }
    this.#deps.changed?.('refused');
    return {
      violations: [violationOf(first), ...rest.map(violationOf)],
      text: roomRefusalText(first.room, {
        isTold: disclosureFor(job.placement, policy.disclose) !== 'none',
        currency: policy.currency,
        nowMs,
      }),
    };
  }

  #jobReader(policy: Policy, nowMs: number): (request: AdmissionRequest) => Job {
    const known = { policy, directory: this.#deps.directory(), nowMs, estimator: timeoutEstimator };
    return (request) => jobOf(request, { ...known, onEstimateFailed: () => {} });
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
    // While no room is known there is nothing to deduct from.
    if (this.#bySubject.size === 0) {
      this.#forget(jobs);
      return;
    }
    this.#admitted.push(...jobs);
    this.#admittedTotal += jobs.length;
    if (this.#admitted.length > 2 * ADMITTED_MAX)
      this.#forget(this.#admitted.splice(0, this.#admitted.length - ADMITTED_MAX));
  }

  /** They may run for as long as they say, and this relay does not know it. */
  #forget(jobs: readonly AdmittedJob[]): void {
    for (const { atMs, request } of jobs) {
      const endsMs = atMs + (sentTimeoutSeconds(request) ?? TIMEOUT_S) * 1_000;
      this.#unknownUntilMs = Math.max(this.#unknownUntilMs, endsMs);
    }
  }

  /** Each relay deducts what went through itself, so that together they deduct all of it. */
  #deduct(room: KnownRoom, asJob: (request: AdmissionRequest) => Job): void {
    const first = this.#admittedTotal - this.#admitted.length;
    for (const each of this.#admitted.slice(Math.max(0, room.heldTo - first))) {
      const isIn = isKnownTo(room, each);
      if (isIn && !isInFlight(room.reason.unit)) continue;
      each.job ??= asJob(each.request);
      const { job, atMs } = each;
      if (!subjectsOf(job).some(({ subject }) => subject === room.reason.subject)) continue;
      if (isIn) noteBefore(room, atMs + job.estimateSeconds * 1_000, askedOf(job, room));
      else room.held += askedOf(job, room);
    }
    room.heldTo = this.#admittedTotal;
  }

  /** What the ledger admitted since rooms were told, and nobody has deducted yet because none of their jobs was asked about. */
  #admittedSince(): ReadonlyMap<KnownRoom, number> {
    const { policy, clock } = this.#deps;
    const since = new Map<KnownRoom, number>();
    if (policy === undefined) return since;
    const asJob = this.#jobReader(policy, clock.nowMs());
    const first = this.#admittedTotal - this.#admitted.length;
    for (const [index, each] of this.#admitted.entries()) {
      each.job ??= asJob(each.request);
      for (const { room, asked } of this.#asksOf(each.job)) {
        if (first + index < room.heldTo || isKnownTo(room, each)) continue;
        since.set(room, (since.get(room) ?? 0) + asked);
      }
    }
    return since;
  }

  #fits({ policy, left, spent, held, returned }: KnownRoom, asked: number): boolean {
    const share = Math.floor(left / this.#deps.relays) + returned - spent - held;
    return policy === 'room' && left + returned > 0 && asked <= share;
  }
}
