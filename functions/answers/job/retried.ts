import { findRequeueSettings } from '../../../policies/requeue.ts';
import { relativeText } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import { hasNoAdmissionRequest } from '../../core/ledger/reservation.ts';
import { toRequeueEntry } from '../../core/requeue-list.ts';
import type { ReadContext } from '../reading/context.ts';
import type { JobRetry } from './model.ts';

export async function readRetry(
  record: JobRecord,
  { policy, requeue, ledger, clock }: Pick<ReadContext, 'policy' | 'requeue' | 'ledger' | 'clock'>,
): Promise<JobRetry | undefined> {
  const settings = findRequeueSettings(record.facts.groupIds, policy.requeue);
  if (settings === undefined || requeue === undefined || record.violations.length === 0) return undefined;
  const { groupId, retries: retriesMax, withinSeconds } = settings;
  const { entries } = await requeue.read(groupId);
  const listed = entries.find(({ jobId }) => jobId === record.jobId);
  const entry = listed ?? toRequeueEntry(record, entries, settings);
  if (entry === undefined) return undefined;
  const { retries, newJobId, retriedAtMs, why } = entry;
  const untilMs = entry.firstAtMs + withinSeconds * 1_000;
  const isOver = entry.state === 'over' || (entry.state !== 'retried' && untilMs <= clock.nowMs());
  const [made] = newJobId === undefined ? [] : await ledger.readRecords([newJobId]);
  return {
    state: isOver ? 'over' : entry.state === 'retried' ? 'retried' : 'waiting',
    ...{ groupId, retries, retriesMax, untilMs },
    ...withoutAbsent({
      newJobId,
      retriedAtMs,
      why: why ?? (isOver ? 'no slot was free in time' : undefined),
    }),
    ...(newJobId !== undefined && { became: retryOutcome(made) }),
  };
}

const BECAME_BY_STATE = {
  ...{ RESERVED: 'kept', HELD: 'admitted', RUNNING: 'admitted', SETTLED: 'ran', REJECTED: 'rejected' },
  ...{ RELEASED: 'gone', EXPIRED: 'gone' },
} as const satisfies Readonly<Record<JobRecord['state'], JobRetry['became']>>;

export function retryOutcome(record: JobRecord | undefined): NonNullable<JobRetry['became']> {
  const became = record === undefined ? 'unasked' : BECAME_BY_STATE[record.state];
  return record !== undefined && became === 'gone' && hasNoAdmissionRequest(record) ? 'unasked' : became;
}

/** After `It was retried as job 123 on 21 Nov 2026 14:05: `. */
export const RETRY_OUTCOME_TEXTS: Readonly<Record<NonNullable<JobRetry['became']>, string>> = {
  unasked: 'no admission request came yet',
  kept: 'a slot is kept for it until it is asked about',
  admitted: 'it was admitted',
  ran: 'it was admitted and has run',
  rejected: 'it was rejected again',
  gone: 'it was admitted and never ran',
};

export const awaitedText = ({ jobId, dueAtMs }: JobRecord, nowMs: number): string =>
  dueAtMs === undefined
    ? `Job ${jobId} is a job that was retried. No admission request came in time, and its reserved slot was released.`
    : `Job ${jobId} is a job that was retried. A slot is reserved for it until its admission request comes, at most until then (${relativeText(nowMs, dueAtMs)}).`;
