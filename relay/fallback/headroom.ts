/**
 * The last known headroom of all limits, which a relay spends while it decides alone.
 *
 * 1. Each response of the ledger reports headroom. It replaces what was known before.
 * 2. While the ledger cannot be reached, a job is admitted if every limit that applies to it has enough left. Several relays
 *    know the same number, so each spends its share. Jobs admitted through this relay since the report are deducted.
 * 3. If no limit is known to apply, the job is admitted.
 */
import type { LimitRoom } from '../../functions/core/contract/admissions.ts';
import type { Job } from '../../policies/checked-job.ts';
import type { Directory } from '../../policies/directory.ts';
import { timeoutEstimator } from '../../policies/estimate.ts';
import { takenOf } from '../../policies/finding.ts';
import { jobOf } from '../../policies/job.ts';
import { keepLatest } from '../../policies/keep-latest.ts';
import { subjectsOf } from '../../policies/limits/limits.ts';
import type { Policy } from '../../policies/policy.ts';
import type { CodedReason, Violation } from '../../policies/reason.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { disclosureFor } from '../../policies/text/rejection-text.ts';
import { isInFlight, unitRow } from '../../policies/unit.ts';
import { amountText, limitNameFirst } from '../../policies/unit-texts.ts';
import type { HeadroomReport } from '../admit/forward.ts';
import type { RelayClock } from '../exchange.ts';

/** Running jobs that one limit remembers. Beyond it the earliest count as ended. */
export const SLOTS_MAX = 10_000;

interface Slot {
  readonly endsMs: number;
  readonly amount: number;
}

/** The last known headroom of one limit, and what this relay has spent of it since. */
export interface LimitHeadroom {
  readonly refusal: Violation;
  readonly reason: CodedReason<'BUDGET_EXHAUSTED'>;
  readonly policy: LimitRoom['policy'];
  readonly periodMs: number | undefined;
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
}

/** A limit's headroom as snapshots in the table hold it. The names are those of items that exist. */
export interface KeptHeadroom {
  readonly room: LimitRoom;
  readonly toldAtMs: number;
  readonly left: number;
  readonly resetsAtMs?: number;
  /** Includes what the ledger admitted since the report. */
  readonly spent: number;
  readonly slots: readonly Slot[];
}

function headroomOf(
  { refusal, policy, periodMs }: LimitRoom,
  reported: Pick<LimitHeadroom, 'report' | 'sentAtMs' | 'reportedAtMs'>,
): LimitHeadroom {
  const reason = refusal.reason as LimitHeadroom['reason'];
  const { limitAmount, committed, resetsAtMs = Number.POSITIVE_INFINITY } = reason;
  const left = Math.max(0, limitAmount - committed);
  const unused = { spent: 0, held: 0, heldTo: 0, slots: [] };
  return { refusal, reason, policy, periodMs, ...reported, left, resetsAtMs, ...unused };
}

/** @param admitted - admitted by the ledger since the report, and not in `held` yet. */
function keptHeadroomOf(headroom: LimitHeadroom, admitted: number): KeptHeadroom {
  const { refusal, policy, periodMs, reportedAtMs, left, resetsAtMs, spent, held, slots } = headroom;
  return {
    room: { refusal, policy, ...(periodMs !== undefined && { periodMs }) },
    ...{ toldAtMs: reportedAtMs, left, spent: spent + held + admitted, slots },
    ...(Number.isFinite(resetsAtMs) && { resetsAtMs }),
  };
}

function restoredHeadroom({ room, toldAtMs, left, resetsAtMs, spent, slots }: KeptHeadroom): LimitHeadroom {
  const headroom = headroomOf(room, {
    report: 0,
    sentAtMs: Number.NEGATIVE_INFINITY,
    reportedAtMs: toldAtMs,
  });
  return { ...headroom, left, spent, slots: [...slots], resetsAtMs: resetsAtMs ?? Number.POSITIVE_INFINITY };
}

export interface HeadroomClaim {
  readonly headroom: LimitHeadroom;
  readonly asked: number;
}

/** An unknown amount counts 0, so the job is admitted. */
function askedOf(job: Job, { reason: { unit } }: LimitHeadroom): number {
  const taken = takenOf(job, unitRow(unit).kind);
  return typeof taken === 'number' ? taken : 0;
}

/** Starts the next period with the whole limit, and frees the slots of jobs that must have ended. */
function renew(headroom: LimitHeadroom, nowMs: number): void {
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

function spend(headroom: LimitHeadroom, asked: number, endsMs: number): void {
  headroom.spent += asked;
  if (!isInFlight(headroom.reason.unit)) return;
  headroom.slots.push({ endsMs, amount: asked });
  if (headroom.slots.length > SLOTS_MAX) headroom.spent -= headroom.slots.shift()?.amount ?? 0;
}

const violationOf = ({
  headroom: { refusal, reason, policy, left, spent, held },
  asked,
}: HeadroomClaim): Violation =>
  policy === 'reject'
    ? { ...refusal, reason: { code: 'CONTROLLER_ERROR', cause: 'when_unreachable: reject' } }
    : { ...refusal, reason: { ...reason, asked, committed: reason.limitAmount - left + spent + held } };

function headroomRefusalText(
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

/** Beyond it the subjects reported longest ago are forgotten, and their jobs admitted. */
const SUBJECTS_MAX = 10_000;
/** The service reports fewer limits per subject. */
const LIMITS_MAX = 32;
/** Jobs admitted by the ledger since the reports: more than a second's worth. Beyond it the oldest are not deducted. */
const ADMITTED_MAX = 4_096;
/** A fallback decision needs less to reach the router. Then it is in the queue of unmetered decisions. */
const DELIVERED_MS = 2_000;
/** A job that is asked about again within this number of others spends nothing more. */
const GIVEN_MAX = 10_000;
/** Limits in a snapshot, those reported last: a megabyte or two. */
const KEPT_MAX = 2_000;
/** An earlier relay may have written its last decisions into the journal. The stream books them within seconds. */
const UNBOOKED_MS = 60_000;

export interface HeadroomRefusal {
  readonly violations: readonly [Violation, ...Violation[]];
  readonly text: string;
}

interface AdmittedJob {
  readonly request: AdmissionRequest;
  readonly report: number;
  readonly atMs: number;
  job?: Job;
}

const includes = (headroom: LimitHeadroom, { report, atMs }: AdmittedJob): boolean =>
  report === headroom.report || atMs < headroom.sentAtMs;

interface HeadroomOptions {
  readonly clock: Pick<RelayClock, 'nowMs' | 'monotonicMs'>;
  /** Holds the prices. Without a policy a relay knows no amounts, and admits. */
  readonly policy: Policy | undefined;
  readonly directory: () => Directory | undefined;
  readonly relays: number;
  /** Returns true if the ledger has booked every fallback decision since then (monotonic), so reports include them. */
  readonly isBookedSince: (sinceMs: number) => boolean;
  /** Runs when {@link Headroom.keep} would return something new, and when a job was refused. */
  readonly changed?: (how: HeadroomChange) => void;
}

export type HeadroomChange = 'reported' | 'given' | 'refused';

/** The state that a relay leaves to the one that replaces it. */
export interface KeptHeadrooms {
  readonly rooms: readonly KeptHeadroom[];
  /** Ids of jobs that were given headroom. */
  readonly given: readonly number[];
}

export class Headroom {
  readonly #options: HeadroomOptions;
  readonly #bySubject = new Map<string, Map<string, LimitHeadroom>>();
  /** Read only when headroom is taken, which is rare. */
  #admitted: AdmittedJob[] = [];
  #admittedTotal = 0;
  #reports = 0;
  #takenAtMs = Number.NEGATIVE_INFINITY;
  readonly #given = new Map<number, true>();

  constructor(options: HeadroomOptions) {
    this.#options = options;
  }

  report({ headroom, admitted, sentAtMs }: HeadroomReport): void {
    const { policy, clock, isBookedSince, changed } = this.#options;
    if (policy === undefined) return;
    this.#reports += 1;
    const report = this.#reports;
    const atMs = clock.monotonicMs();
    this.#noteAdmitted(admitted.map((request) => ({ request, report, atMs })));
    if (headroom.length === 0) return;
    const isBooked = this.#takenAtMs <= sentAtMs - DELIVERED_MS && isBookedSince(sentAtMs);
    const reportedAtMs = clock.nowMs();
    for (const each of headroom) {
      const known = headroomOf(each, { report, sentAtMs, reportedAtMs });
      const before = isBooked ? undefined : this.#same(known);
      if (before !== undefined) Object.assign(known, { spent: before.spent, slots: before.slots });
      this.#know(known);
    }
    changed?.('reported');
  }

  /** Returns what the next relay must know. The limits reported last come last, as do the jobs. */
  keep(): KeptHeadrooms {
    const limits = [...this.#bySubject.values()].flatMap((ofSubject) => [...ofSubject.values()]);
    const admitted = this.#admittedSince();
    return {
      rooms: limits.slice(-KEPT_MAX).map((limit) => keptHeadroomOf(limit, admitted.get(limit) ?? 0)),
      given: [...this.#given.keys()],
    };
  }

  /** Takes over what an earlier relay knew. Reports to this relay are newer and stay. */
  restore({ rooms, given }: KeptHeadrooms): void {
    if (this.#options.policy === undefined) return;
    for (const jobId of given) keepLatest(this.#given, jobId, true, GIVEN_MAX);
    for (const kept of rooms) {
      const headroom = restoredHeadroom(kept);
      if (this.#same(headroom) === undefined) this.#know(headroom);
    }
    this.#takenAtMs = this.#options.clock.monotonicMs() + UNBOOKED_MS;
  }

  /** Spends what the job asks of every limit that is known to apply. Returns undefined if all have enough left. */
  take(request: AdmissionRequest): HeadroomRefusal | undefined {
    const { policy, clock, changed } = this.#options;
    if (policy === undefined || this.#bySubject.size === 0 || this.#given.has(request.jobId))
      return undefined;
    const nowMs = clock.nowMs();
    const asJob = this.#jobReader(policy, nowMs);
    const job = asJob(request);
    const claims = this.#claimsOf(job);
    for (const { headroom } of claims) {
      this.#deduct(headroom, asJob);
      renew(headroom, nowMs);
    }
    const [first, ...rest] = claims.filter((claim) => !this.#fits(claim));
    if (first === undefined) {
      this.#takenAtMs = clock.monotonicMs();
      keepLatest(this.#given, request.jobId, true, GIVEN_MAX);
      for (const { headroom, asked } of claims) spend(headroom, asked, nowMs + job.estimateSeconds * 1_000);
      changed?.('given');
      return undefined;
    }
    changed?.('refused');
    const { currency } = policy;
    const isDisclosed = disclosureFor(job.placement, policy.disclose) !== 'none';
    return {
      violations: [violationOf(first), ...rest.map(violationOf)],
      text: headroomRefusalText(first.headroom, { isDisclosed, currency, nowMs }),
    };
  }

  #same({ reason: { subject, limit } }: LimitHeadroom): LimitHeadroom | undefined {
    return this.#bySubject.get(subject)?.get(limit);
  }

  #know(headroom: LimitHeadroom): void {
    const { subject, limit } = headroom.reason;
    const limits = this.#bySubject.get(subject) ?? new Map<string, LimitHeadroom>();
    keepLatest(limits, limit, headroom, LIMITS_MAX);
    keepLatest(this.#bySubject, subject, limits, SUBJECTS_MAX);
  }

  #jobReader(policy: Policy, nowMs: number): (request: AdmissionRequest) => Job {
    const known = { policy, directory: this.#options.directory(), nowMs, estimator: timeoutEstimator };
    return (request) => jobOf(request, { ...known, onEstimateFailed: () => {} });
  }

  #claimsOf(job: Job): readonly HeadroomClaim[] {
    return subjectsOf(job).flatMap(({ subject }) =>
      [...(this.#bySubject.get(subject)?.values() ?? [])].map((headroom) => ({
        headroom,
        asked: askedOf(job, headroom),
      })),
    );
  }

  #noteAdmitted(jobs: readonly AdmittedJob[]): void {
    // Without known headroom there is nothing to deduct from.
    if (this.#bySubject.size === 0) return;
    this.#admitted.push(...jobs);
    this.#admittedTotal += jobs.length;
    if (this.#admitted.length > 2 * ADMITTED_MAX) this.#admitted = this.#admitted.slice(-ADMITTED_MAX);
  }

  /** Each relay deducts what went through itself, so together they deduct all of it. */
  #deduct(headroom: LimitHeadroom, asJob: (request: AdmissionRequest) => Job): void {
    const first = this.#admittedTotal - this.#admitted.length;
    for (const each of this.#admitted.slice(Math.max(0, headroom.heldTo - first))) {
      if (includes(headroom, each)) continue;
      each.job ??= asJob(each.request);
      const { job } = each;
      if (subjectsOf(job).some(({ subject }) => subject === headroom.reason.subject))
        headroom.held += askedOf(job, headroom);
    }
    headroom.heldTo = this.#admittedTotal;
  }

  /** Sums what the ledger admitted since the reports and {@link #deduct} has not seen yet. */
  #admittedSince(): ReadonlyMap<LimitHeadroom, number> {
    const { policy, clock } = this.#options;
    const since = new Map<LimitHeadroom, number>();
    if (policy === undefined) return since;
    const asJob = this.#jobReader(policy, clock.nowMs());
    const first = this.#admittedTotal - this.#admitted.length;
    for (const [index, each] of this.#admitted.entries()) {
      each.job ??= asJob(each.request);
      for (const { headroom, asked } of this.#claimsOf(each.job)) {
        if (first + index < headroom.heldTo || includes(headroom, each)) continue;
        since.set(headroom, (since.get(headroom) ?? 0) + asked);
      }
    }
    return since;
  }

  #fits({ headroom: { policy, left, spent, held }, asked }: HeadroomClaim): boolean {
    const share = Math.floor(left / this.#options.relays) - spent - held;
    return policy === 'room' && left > 0 && asked <= share;
  }
}
