/** Answers given without the ledger, written down afterwards. They ask no bound: the job may be running already. */
import { chargeable } from '../../../policies/claim.ts';
import { dueAtMs } from './job.ts';
import type {
  BypassAsk,
  EndOutcome,
  JobRecord,
  RecordClaim,
  UncheckedCause,
  UnmeteredAsk,
} from './ledger.ts';
import { changesBetween, type Move, noMove } from './move.ts';
import { reopenMove } from './reopen.ts';
import { settleMove } from './settle.ts';

/** Always charged as unmetered, because no counter was checked. */
const UNCHECKED: UncheckedCause = 'unmetered';

/**
 * Records a fallback decision.
 * - no record: admitted → HELD, charged unchecked; rejected → REJECTED, nothing charged
 * - HELD, RUNNING, SETTLED: `answered: fallback`; after a rejection the sweep finds that it never ran
 * - REJECTED: admitted → HELD again, charged unchecked, flagged; rejected → `answered: fallback`
 * - RELEASED, EXPIRED: admitted → HELD again, charged unchecked; rejected → `answered: fallback`
 * - RESERVED: admitted → HELD, charged unchecked; rejected → REJECTED, nothing charged
 */
export function unmeteredMove(
  record: JobRecord | undefined,
  ask: UnmeteredAsk,
  nowMs: number,
): Move<'recorded'> {
  if (record === undefined)
    return ask.answered === 'admitted' ? charge(undefined, ask, nowMs) : reject(undefined, ask, nowMs);
  switch (record.state) {
    case 'HELD':
    case 'RUNNING':
    case 'SETTLED':
      return toldByFallback(record);
    case 'REJECTED':
    case 'RELEASED':
    case 'EXPIRED':
      if (ask.answered === 'rejected' || isOlder(ask, record)) return toldByFallback(record);
      return charge(record, ask, nowMs);
    case 'RESERVED':
      return ask.answered === 'admitted' ? charge(record, ask, nowMs) : reject(record, ask, nowMs);
  }
}

/** The job was released or expired after this answer: that is the later truth. */
const isOlder = (ask: UnmeteredAsk, record: JobRecord): boolean =>
  record.state !== 'REJECTED' && ask.answeredAtMs <= (record.endedAtMs ?? record.decidedAtMs);

function toldByFallback(record: JobRecord): Move<'recorded'> {
  if (record.answered === 'fallback') return noMove('recorded');
  return {
    outcome: 'recorded',
    record: { ...record, answered: 'fallback', rev: record.rev + 1 },
    changes: [],
  };
}

function charge(prior: JobRecord | undefined, ask: UnmeteredAsk, nowMs: number): Move<'recorded'> {
  const decidedAtMs = Math.min(ask.answeredAtMs, nowMs);
  const claims = chargeable(ask.claims).map(
    ({ counter, unit, amount, neverFits }): RecordClaim => ({
      counter,
      unit,
      held: amount,
      counted: amount,
      corrected: 0,
      fitted: neverFits !== true,
      checked: false,
    }),
  );
  const freed = reopenMove(prior, nowMs);
  return {
    outcome: 'recorded',
    record: {
      ...newRecord(freed.record ?? prior, ask, decidedAtMs),
      state: 'HELD',
      rev: (prior?.rev ?? 0) + 1,
      claims,
      unchecked: UNCHECKED,
      flagged: prior?.state === 'REJECTED',
      dueAtMs: dueAtMs(decidedAtMs, ask.facts.timeoutSeconds),
    },
    ...(freed.entry === undefined ? {} : { entry: freed.entry }),
    changes: [...freed.changes, ...changesBetween([], claims, { unchecked: UNCHECKED })],
  };
}

function reject(prior: JobRecord | undefined, ask: UnmeteredAsk, nowMs: number): Move<'recorded'> {
  const decidedAtMs = Math.min(ask.answeredAtMs, nowMs);
  const claims = chargeable(ask.claims).map(
    ({ counter, unit }): RecordClaim => ({
      counter,
      unit,
      held: 0,
      counted: 0,
      corrected: 0,
      fitted: false,
      checked: false,
    }),
  );
  return {
    outcome: 'recorded',
    record: { ...newRecord(prior, ask, decidedAtMs), state: 'REJECTED', claims, endedAtMs: decidedAtMs },
    changes: reopenMove(prior, nowMs).changes,
  };
}

const newRecord = (prior: JobRecord | undefined, ask: UnmeteredAsk, decidedAtMs: number): JobRecord => ({
  jobId: ask.jobId,
  state: 'REJECTED',
  generation: (prior?.generation ?? 0) + 1,
  rev: (prior?.rev ?? 0) + 1,
  facts: ask.facts,
  claims: [],
  violations: ask.violations.filter(({ mode }) => mode === 'enforce'),
  shadow: ask.violations.filter(({ mode }) => mode !== 'enforce'),
  answered: 'fallback',
  flagged: false,
  decidedAtMs,
  entries: prior?.entries ?? 0,
});

// A job that ran and was never asked about, charged after the fact. It asks no bound: it has run already.

/**
 * Records a job that ran without an admission request.
 * - no record: SETTLED immediately under generation 1, charged on the request's counters, unchecked `bypass`
 * - any record: settled like every other end, on the record's counters
 *
 * A later admission request finds SETTLED and is admitted: the job is charged once.
 */
export function bypassMove(record: JobRecord | undefined, ask: BypassAsk, nowMs: number): Move<EndOutcome> {
  if (record !== undefined) return settleMove(record, ask, nowMs);
  const { record: settled, ...move } = settleMove(neverAsked(ask, nowMs), ask, nowMs);
  // It was not rejected; `unchecked` alone explains it.
  return settled === undefined ? move : { ...move, record: { ...settled, flagged: false } };
}

/** Holds nothing, like a rejected job, so that it settles like one that ran nevertheless. */
const neverAsked = (ask: BypassAsk, nowMs: number): JobRecord => ({
  jobId: ask.jobId,
  state: 'REJECTED',
  generation: 1,
  rev: 0,
  facts: ask.facts,
  claims: chargeable(ask.claims).map(
    ({ counter, unit }): RecordClaim => ({
      counter,
      unit,
      held: 0,
      counted: 0,
      corrected: 0,
      fitted: true,
      checked: false,
    }),
  ),
  violations: ask.violations.filter(({ mode }) => mode === 'enforce'),
  shadow: ask.violations.filter(({ mode }) => mode !== 'enforce'),
  answered: 'unknown',
  flagged: false,
  decidedAtMs: ask.decidedAtMs ?? startedAtMs(ask, nowMs),
  entries: 0,
});

/** Returns its start time by its end; never in the future. */
const startedAtMs = ({ endedAtMs, durationSeconds }: BypassAsk, nowMs: number): number =>
  Math.min(nowMs, Math.max(0, endedAtMs - Math.max(0, durationSeconds) * 1000));

// Result of a rejection. GitLab obeys only while the controller is `enabled`; in `dry_run` every job runs.

/**
 * We rejected it, and it ran all the same: in dry run, or past us. It is charged unchecked and flagged. A bypass that was
 * never asked about has nothing against it and is not flagged.
 */
export const ranRejected = ({
  unchecked,
  flagged,
  violations,
}: Pick<JobRecord, 'unchecked' | 'flagged' | 'violations'>): boolean =>
  unchecked === 'bypass' && (flagged || violations.length > 0);

/** Returns true if the ledger rejected it, even if it ran. */
export const wasRejected = (
  record: Pick<JobRecord, 'state' | 'unchecked' | 'flagged' | 'violations'>,
): boolean => record.state === 'REJECTED' || ranRejected(record);
