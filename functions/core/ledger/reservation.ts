/**
 * Reservations for rejected jobs that are being retried. Pure: records in, writes out.
 *
 * 1. Before GitLab is asked: the rejected job's record counts it, and its counters note the job and its pipeline.
 * 2. After GitLab made a new job: that job's record counts it: RESERVED, generation 0.
 * 3. On the new job's admission request: its hold replaces the reservation in one transaction.
 * 4. Without an admission request: the sweep returns it once it is due.
 */
import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import { isInFlight } from '../../../policies/unit.ts';
import type { EndOutcome, HoldRequest, JobRecord, RecordClaim } from './ledger.ts';
import { changesBetween, type Move, noMove } from './move.ts';
import { shortLabel } from './record.ts';
import type { CounterWrite } from './store.ts';

/** Its claims count a reservation: for the retry of this job (REJECTED), or for this job (RESERVED). */
type ReservedRecord = JobRecord & Required<Pick<JobRecord, 'dueAtMs'>>;

export const isReserved = (record: JobRecord | undefined): record is ReservedRecord =>
  record?.dueAtMs !== undefined && (record.state === 'RESERVED' || record.state === 'REJECTED');

/** The claims of a record that count what is kept; none of any other record. */
export const reservedClaims = (record: JobRecord | undefined): readonly RecordClaim[] =>
  isReserved(record) ? (record?.claims ?? []).filter(({ counted }) => counted !== 0) : [];

export const hasNoAdmissionRequest = ({ generation }: Pick<JobRecord, 'generation'>): boolean =>
  generation === 0;

export interface ReservingWrites {
  readonly record: JobRecord;
  readonly counters: readonly CounterWrite[];
}

/** The part of an admission that can be kept: what is enforced, and given back at the end of the job. */
export const reservable = (claims: readonly LimitClaim[]): readonly LimitClaim[] =>
  claims.filter(
    ({ unit, mode, bound, amount }) =>
      isInFlight(unit) && mode === 'enforce' && bound !== undefined && amount > 0,
  );

/** @param counted - what the job would hold if it was admitted now; counted by the record of the rejected job. */
export function reserving(
  record: JobRecord,
  counted: readonly RecordClaim[],
  writes: readonly CounterWrite[],
  untilMs: number,
): ReservingWrites {
  const { jobId, facts } = record;
  const { pipelineId } = facts;
  const kept = new Map(counted.map((claim) => [counterName(claim.counter), { ...claim, held: 0 }]));
  const known = record.claims.map((claim) => kept.get(counterName(claim.counter)) ?? claim);
  const claims = new Set([...known, ...kept.values()]);
  return {
    record: { ...record, claims: [...claims], dueAtMs: untilMs, rev: record.rev + 1 },
    counters: writes.map((write) => ({
      ...write,
      ...(pipelineId !== undefined && { reserves: { jobId, pipelineId } }),
    })),
  };
}

export function freed(
  record: JobRecord,
  nowMs: number,
): Required<Pick<Move<never>, 'record' | 'changes'>> & { readonly entry?: never } {
  const { dueAtMs: _due, ...rest } = record;
  const before = record.claims;
  const changes = changesBetween(before, before.map(withNothing), {});
  const next = {
    ...rest,
    rev: record.rev + 1,
    claims: before.map((claim) => (claim.counted === 0 ? claim : { ...withNothing(claim), fitted: false })),
  };
  if (record.state === 'RESERVED')
    return { record: { ...next, state: 'RELEASED', endedAtMs: nowMs }, changes };
  const unreserves = [record.jobId];
  return {
    record: next,
    changes: changes.map((write) => ({ ...write, unreserves })),
  };
}

const withNothing = (claim: RecordClaim): RecordClaim => ({ ...claim, counted: 0 });

export function endReservationMove(
  record: JobRecord | undefined,
  dueByMs: number,
  nowMs: number,
): Move<EndOutcome> {
  if (record === undefined) return noMove('unknown');
  if (!isReserved(record) || record.dueAtMs > dueByMs) return noMove('unchanged');
  return { outcome: 'applied', ...freed(record, nowMs) };
}

/** The record of the job that GitLab made, and what its counters note no more: their amounts stay as they are. */
export function handedOver(from: ReservedRecord, newJobId: number, nowMs: number): ReservingWrites {
  return {
    record: {
      ...{ jobId: newJobId, state: 'RESERVED', generation: 0, rev: 1, facts: from.facts },
      ...{ claims: from.claims, violations: [], shadow: [], answered: 'unknown', flagged: false },
      ...{ decidedAtMs: nowMs, dueAtMs: from.dueAtMs, entries: 0 },
    },
    counters: reservedClaims(from).map(({ counter }) => ({
      ...{ kind: 'counter', key: counter, committed: 0, fitted: 0, settled: 0, unchecked: {} },
      unreserves: [from.jobId],
    })),
  };
}

/** The same job of the same pipeline, with a higher id. */
export function isRetryOf(record: JobRecord | undefined, { jobId, facts }: HoldRequest): record is JobRecord {
  if (!isReserved(record) || record.state !== 'REJECTED' || record.jobId >= jobId) return false;
  const { projectId, pipelineId, jobName } = record.facts;
  return projectId === facts.projectId && pipelineId === facts.pipelineId && isNamed(facts.jobName, jobName);
}

/** A record may hold a long name cut, or no name: then the retried job is found by its id alone, at the handover. */
const isNamed = (name: string | undefined, recorded: string | undefined): boolean =>
  name !== undefined && (recorded === name || recorded === shortLabel(name));
