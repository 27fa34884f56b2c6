/**
 * Room that is kept for a job which was rejected and is being retried. Pure: records in, writes out.
 *
 *   before GitLab is asked     the record of the rejected job counts it, and its counters note the job and its pipeline
 *   GitLab made a new job      the record of that one counts it: RESERVED, of generation 0, decided by nobody
 *   the new job is asked about its hold replaces the reservation, in one transaction
 *   nobody asks about it       the sweep gives it back once it is due
 */
import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import { isInFlight } from '../../../policies/units/unit.ts';
import type { EndOutcome, HoldAsk, JobRecord, RecordClaim } from './ledger.ts';
import { changesBetween, type Move, noMove } from './move.ts';
import { shortLabel } from './record-item.ts';
import type { CounterWrite } from './store.ts';

/** Its claims count what is kept for a retry: of this job, or as this job. */
export const isReserved = (record: JobRecord | undefined): boolean =>
  record?.state === 'RESERVED' || (record?.state === 'REJECTED' && record.dueAtMs !== undefined);

/** The claims of a record that count what is kept; none of any other record. */
export const reservedClaims = (record: JobRecord | undefined): readonly RecordClaim[] =>
  isReserved(record) ? (record?.claims ?? []).filter(({ counted }) => counted !== 0) : [];

/** Nobody was asked about the job yet: room is, or was, kept for it and that is all. */
export const isAwaited = ({ generation }: Pick<JobRecord, 'generation'>): boolean => generation === 0;

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

/** The record without what was kept, and the counters without it. A job that nobody decided is released. */
export function freed(
  record: JobRecord,
  nowMs: number,
): Required<Pick<Move<never>, 'record' | 'changes'>> & { readonly entry?: never } {
  const { dueAtMs: _due, ...rest } = record;
  const before = record.claims;
  const changes = changesBetween(before, before.map(withNothing), { final: false });
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
    changes: changes.map(({ name, write }) => ({ name, write: { ...write, unreserves } })),
  };
}

const withNothing = (claim: RecordClaim): RecordClaim => ({ ...claim, counted: 0 });

/** @param dueByMs - of those due by then */
export function endReservationMove(
  record: JobRecord | undefined,
  dueByMs: number,
  nowMs: number,
): Move<EndOutcome> {
  if (record === undefined) return noMove('unknown');
  if (!isReserved(record) || (record.dueAtMs ?? 0) > dueByMs) return noMove('unchanged');
  return { outcome: 'applied', ...freed(record, nowMs) };
}

/** The record of the job that GitLab made, and what its counters note no more: their amounts stay as they are. */
export function handedOver(from: JobRecord, newJobId: number, nowMs: number): ReservingWrites {
  return {
    record: {
      ...{ jobId: newJobId, state: 'RESERVED', generation: 0, rev: 1, facts: from.facts },
      ...{ claims: from.claims, violations: [], shadow: [], answered: 'unknown', flagged: false },
      ...{ decidedAtMs: nowMs, dueAtMs: from.dueAtMs ?? nowMs, entries: 0 },
    },
    counters: reservedClaims(from).map(({ counter }) => ({
      ...{ kind: 'counter', key: counter, committed: 0, fitted: 0, settled: 0, unchecked: {} },
      unreserves: [from.jobId],
    })),
  };
}

/** Whether the asked job is what GitLab made of the rejected one: the same job of the same pipeline, and a later one. */
export function isRetryOf(record: JobRecord | undefined, { jobId, facts }: HoldAsk): record is JobRecord {
  if (!isReserved(record) || record?.state !== 'REJECTED' || record.jobId >= jobId) return false;
  const { projectId, pipelineId, jobName } = record.facts;
  return projectId === facts.projectId && pipelineId === facts.pipelineId && isNamed(facts.jobName, jobName);
}

/** A record may hold a long name cut, or no name: then the retried job is found by its id alone, at the handover. */
const isNamed = (name: string | undefined, recorded: string | undefined): boolean =>
  name !== undefined && (recorded === name || recorded === shortLabel(name));
