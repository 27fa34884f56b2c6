/**
 * The last known headroom of all limits, which a relay spends while it decides alone.
 *
 * 1. A response of the ledger reports headroom, which replaces what was known before.
 * 2. While the ledger cannot be reached, a job is admitted if every limit that applies to it has enough left. Several relays
 *    know the same number, so each spends its share.
 * 3. If no limit is known to apply, the job is admitted.
 */
import type { LimitRoom } from '../../functions/core/contract/admissions.ts';
import type { Job } from '../../policies/checked-job.ts';
import type { Directory } from '../../policies/directory.ts';
import { timeoutEstimator } from '../../policies/estimate.ts';
import { amountTaken } from '../../policies/finding.ts';
import { jobOf } from '../../policies/job.ts';
import { keepLatest } from '../../policies/keep-latest.ts';
import { subjectsOf } from '../../policies/limits/limits.ts';
import type { Policy } from '../../policies/policy.ts';
import type { CodedReason, Violation } from '../../policies/reason.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { unitRow } from '../../policies/unit.ts';
import { amountText, limitNameFirst } from '../../policies/unit-texts.ts';
import type { RelayClock } from '../exchange.ts';

/** The headroom of one limit, as snapshots in the table hold it: the names are those of items that exist. */
export interface LimitHeadroom {
  readonly room: LimitRoom;
  readonly toldAtMs: number;
  left: number;
  resetsAtMs?: number;
  /** Given by this relay to jobs that the ledger does not know. */
  spent: number;
}

export interface HeadroomSnapshot {
  readonly rooms: readonly LimitHeadroom[];
  readonly given: readonly number[];
}

interface HeadroomClaim {
  readonly limit: LimitHeadroom;
  readonly asked: number;
}

/** Beyond it the subjects reported longest ago are forgotten, and their jobs admitted. */
const SUBJECTS_MAX = 10_000;
/** The service reports fewer limits per subject. */
const LIMITS_MAX = 32;
/** A job that is asked about again within this number of others spends nothing more. */
const GIVEN_MAX = 10_000;
const KEPT_MAX = 2_000;

interface HeadroomOptions {
  readonly clock: Pick<RelayClock, 'nowMs'>;
  readonly policy: () => Policy | undefined;
  readonly directory: () => Directory | undefined;
  readonly relays: number;
  /** Returns true if no fallback decision waits for delivery, so a report includes them all. */
  readonly isDelivered: () => boolean;
  readonly taken?: () => void;
}

export class Headroom {
  readonly #options: HeadroomOptions;
  readonly #bySubject = new Map<string, Map<string, LimitHeadroom>>();
  readonly #given = new Map<number, true>();

  constructor(options: HeadroomOptions) {
    this.#options = options;
  }

  report(rooms: readonly LimitRoom[]): void {
    const { policy, clock, isDelivered } = this.#options;
    if (policy() === undefined || rooms.length === 0) return;
    const toldAtMs = clock.nowMs();
    const staysSpent = !isDelivered();
    for (const room of rooms) {
      const { limitAmount, committed, resetsAtMs } = reasonOf({ room });
      this.#know({
        ...{ room, toldAtMs, left: Math.max(0, limitAmount - committed) },
        ...(resetsAtMs !== undefined && { resetsAtMs }),
        spent: staysSpent ? (this.#same({ room })?.spent ?? 0) : 0,
      });
    }
  }

  snapshot(): HeadroomSnapshot {
    const limits = [...this.#bySubject.values()].flatMap((ofSubject) => [...ofSubject.values()]);
    return {
      rooms: limits.slice(-KEPT_MAX).map((limit) => ({ ...limit })),
      given: [...this.#given.keys()],
    };
  }

  restore({ rooms, given }: HeadroomSnapshot): void {
    if (this.#options.policy() === undefined) return;
    for (const jobId of given) keepLatest(this.#given, jobId, true, GIVEN_MAX);
    for (const kept of rooms) if (this.#same(kept) === undefined) this.#know({ ...kept });
  }

  /** Spends what the job asks of every limit that is known to apply. Returns undefined if all have enough left. */
  take(
    request: AdmissionRequest,
  ): { readonly violations: readonly [Violation, ...Violation[]]; readonly text: string } | undefined {
    const { clock, directory, taken } = this.#options;
    const policy = this.#options.policy();
    if (policy === undefined || this.#bySubject.size === 0 || this.#given.has(request.jobId))
      return undefined;
    const nowMs = clock.nowMs();
    const job = jobOf(request, {
      ...{ policy, directory: directory(), nowMs, estimator: timeoutEstimator },
      onEstimateFailed: () => {},
    });
    const claims = this.#claimsOf(job);
    for (const { limit } of claims) renew(limit, nowMs);
    taken?.();
    const [first, ...rest] = claims.filter((claim) => !this.#fits(claim));
    if (first === undefined) {
      keepLatest(this.#given, request.jobId, true, GIVEN_MAX);
      for (const { limit, asked } of claims) limit.spent += asked;
      return undefined;
    }
    const isDisclosed = disclosureFor(job.placement, policy.disclose) !== 'none';
    return {
      violations: [violationOf(first), ...rest.map(violationOf)],
      text: refusalText(first.limit, isDisclosed ? policy.currency : undefined, nowMs),
    };
  }

  #same(limit: Pick<LimitHeadroom, 'room'>): LimitHeadroom | undefined {
    const reason = reasonOf(limit);
    return this.#bySubject.get(reason.subject)?.get(reason.limit);
  }

  #know(headroom: LimitHeadroom): void {
    const { subject, limit } = reasonOf(headroom);
    const limits = this.#bySubject.get(subject) ?? new Map<string, LimitHeadroom>();
    keepLatest(limits, limit, headroom, LIMITS_MAX);
    keepLatest(this.#bySubject, subject, limits, SUBJECTS_MAX);
  }

  #claimsOf(job: Job): readonly HeadroomClaim[] {
    return subjectsOf(job).flatMap(({ subject }) =>
      [...(this.#bySubject.get(subject)?.values() ?? [])].map((limit) => {
        const taken = amountTaken(job, unitRow(reasonOf(limit).unit).kind);
        // An unknown amount counts 0, so the job is admitted.
        return { limit, asked: typeof taken === 'number' ? taken : 0 };
      }),
    );
  }

  #fits({ limit: { room, left, spent }, asked }: HeadroomClaim): boolean {
    return room.policy === 'room' && left > 0 && asked <= Math.floor(left / this.#options.relays) - spent;
  }
}

export const reasonOf = ({ room }: Pick<LimitHeadroom, 'room'>): CodedReason<'BUDGET_EXHAUSTED'> =>
  room.refusal.reason as CodedReason<'BUDGET_EXHAUSTED'>;

function renew(limit: LimitHeadroom, nowMs: number): void {
  const { room, resetsAtMs = Number.POSITIVE_INFINITY } = limit;
  if (nowMs < resetsAtMs) return;
  Object.assign(limit, { left: reasonOf(limit).limitAmount, spent: 0 });
  if (room.periodMs === undefined) delete limit.resetsAtMs;
  else limit.resetsAtMs = nowMs + room.periodMs - ((nowMs - resetsAtMs) % room.periodMs);
}

function violationOf({ limit, asked }: HeadroomClaim): Violation {
  const { refusal, policy } = limit.room;
  if (policy === 'reject')
    return { ...refusal, reason: { code: 'CONTROLLER_ERROR', cause: 'when_unreachable: reject' } };
  const reason = reasonOf(limit);
  return {
    ...refusal,
    reason: { ...reason, asked, committed: reason.limitAmount - limit.left + limit.spent },
  };
}

/** @param currency - undefined if the group may not see its limits. */
function refusalText(limit: LimitHeadroom, currency: string | undefined, nowMs: number): string {
  const reason = reasonOf(limit);
  const name = currency === undefined ? 'A CI limit' : `${limitNameFirst(reason)} of ${reason.subjectLabel}`;
  const begin = `${name} cannot be checked now`;
  if (limit.room.policy === 'reject') return `${begin}, and starts no job until then.`;
  const ageS = Math.max(1, Math.round((nowMs - limit.toldAtMs) / 1_000));
  const known =
    currency === undefined
      ? 'of its last known remaining amount'
      : `of the last known remaining ${amountText(limit.left, reason.unit, currency)}`;
  return `${begin}: ${known} (${ageS} s ago), too little remains for this job.`;
}
