/** The end of a job's claims: the record and what happened, in; the record and the counters after, out. */

import { chargeable, counterName, type LimitClaim } from '../../../policies/claim.ts';
import { isInFlight, unitRow } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { LedgerError } from '../store/table-failure.ts';
import { answerFromRecord, dueAtMs, GRACE_SECONDS, type HoldJob, isCharged, nextRecord } from './hold-job.ts';
import type {
  BypassRequest,
  EndOutcome,
  HoldRequest,
  JobEnd,
  JobFacts,
  JobRecord,
  RecordClaim,
  UncheckedCause,
  UnmeteredHold,
} from './ledger.ts';
import { changesBetween, correction, type Move, type MoveDeps, makeMoves, noMove } from './move.ts';
import { freed, hasNoAdmissionRequest, isReserved, reservedClaims } from './reservation.ts';
import { isClosable } from './retention.ts';

type End = Move<EndOutcome>;

/** HELD → SETTLED. A late or different end becomes a correction entry; of two ends the later counts, in any order of arrival. */
export function settleMove(record: JobRecord | undefined, end: JobEnd, nowMs: number): End {
  if (record === undefined) return noMove('unknown');
  const { reportedSeconds: _before, ...known } = record;
  const ran = ranSeconds(end, record.facts);
  const { durationSeconds } = ran;
  // At the price of the admission, rounded up as the hold was.
  const target = ({ unit }: RecordClaim): number =>
    unitRow(unit).settled?.(durationSeconds, record.facts) ?? 0;
  const facts = withQueue(withRunner(record.facts, end), end);
  const settled = {
    state: 'SETTLED',
    ...ran,
    endedAtMs: end.endedAtMs,
    facts: withOutcome(facts, end),
  } as const;
  switch (record.state) {
    case 'HELD':
    case 'RUNNING':
      return { outcome: 'applied', ...ended(known, settled, target) };
    case 'REJECTED':
    case 'RESERVED':
      return ranUnheld(known);
    case 'SETTLED': {
      const isLast = end.final === true || isLaterEnd(end, record);
      if (isLast && record.durationSeconds !== durationSeconds) return corrected('duration');
      if (end.final === true ? !contradicts(end, record.facts) : !isLast && facts === record.facts)
        return noMove('unchanged');
      // The charge stays. Record the latest end and the runner, so that a third end compares with it.
      const noted = isLast ? { ...known, ...settled } : { ...record, facts };
      return { outcome: 'unchanged', record: { ...noted, rev: record.rev + 1 }, changes: [] };
    }
    case 'RELEASED':
    case 'EXPIRED':
      return hasNoAdmissionRequest(record) ? ranUnheld(known) : corrected('late');
  }

  /** Returns its reservation. An undecided job now counts as one that ran without a rejection. */
  function ranUnheld(held: JobRecord): End {
    const { record: before, changes } = isReserved(held) ? freed(held, nowMs) : { record: held, changes: [] };
    const charged = bypassed(before);
    // A closing counts no records any more, so what comes after it is a correction.
    const isLate = charged.claims.some(({ counter }) => isClosable(counter, nowMs));
    const end: Required<Pick<End, 'record' | 'changes'>> & Pick<End, 'entry'> = isLate
      ? lateCharge(correction(charged, target, 'late', nowMs))
      : ended(charged, settled, target);
    return {
      outcome: 'applied',
      ...(end.entry && { entry: end.entry }),
      record: {
        ...end.record,
        ...(hasNoAdmissionRequest(held) && { flagged: false, generation: 1 }),
        rev: held.rev + 1,
      },
      changes: [...changes, ...end.changes],
    };
  }

  function lateCharge({ record: { dueAtMs: _due, ...next }, ...rest }: ReturnType<typeof correction>) {
    return { ...rest, record: { ...next, ...settled } };
  }

  function corrected(cause: 'duration' | 'late'): End {
    const { record: next, entry, changes } = correction(known, target, cause, nowMs);
    return { outcome: 'corrected', record: { ...next, ...settled }, entry, changes };
  }
}

/** Keeps the first reported runner. A final end, from REST, replaces it. */
function withRunner(facts: JobFacts, { runnerId, final }: JobEnd): JobFacts {
  const known = runnerOf(facts);
  const isNews = final === true ? runnerId !== known : facts.runnerId === undefined && runnerId !== known;
  return isNews && runnerId !== undefined ? { ...facts, runnerId } : facts;
}

/** True if the end reports another outcome or runner. Unknown values stay unknown: filling them costs a write per job. */
const contradicts = ({ outcome, runnerId }: JobEnd, facts: JobFacts): boolean =>
  differ(outcome, facts.outcome) || differ(runnerId, runnerOf(facts));

const differ = <Value>(one: Value | undefined, other: Value | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other;

const runnerOf = (facts: JobFacts): number | undefined => facts.runnerId ?? facts.asked?.runnerId;

/** Keeps the larger of two reported values, so the order of ends does not matter. */
function withQueue(facts: JobFacts, end: JobEnd): JobFacts {
  const retryCount = larger(facts.retryCount, end.retryCount);
  const queuedSeconds = larger(facts.queuedSeconds, end.queuedSeconds);
  const isNews = retryCount !== facts.retryCount || queuedSeconds !== facts.queuedSeconds;
  return isNews ? { ...facts, ...withoutAbsent({ retryCount, queuedSeconds }) } : facts;
}

const larger = (known: number | undefined, reported: number | undefined): number | undefined =>
  known === undefined || reported === undefined ? (known ?? reported) : Math.max(known, reported);

/** The last end sets or clears the outcome, so the order of ends does not matter. */
function withOutcome({ outcome: _, ...facts }: JobFacts, { outcome }: JobEnd): JobFacts {
  return outcome === undefined ? facts : { ...facts, outcome };
}

export function releaseMove(record: JobRecord | undefined, nowMs: number): End {
  if (record === undefined) return noMove('unknown');
  // It was never admitted, so it needs no release.
  if (record.state === 'RESERVED') return { outcome: 'unchanged', ...freed(record, nowMs) };
  if (!isLive(record)) return noMove('unchanged');
  return { outcome: 'applied', ...ended(record, { state: 'RELEASED', endedAtMs: nowMs }, () => 0) };
}

export function expireMove(record: JobRecord | undefined, charge: 'hold' | 'nothing', nowMs: number): End {
  if (record === undefined) return noMove('unknown');
  if (!isLive(record)) return noMove('unchanged');
  const freed = ended(record, { state: 'EXPIRED', endedAtMs: nowMs }, () => 0);
  // The flag means charged; here it is not, even if it was flagged before.
  if (charge === 'nothing')
    return { outcome: 'applied', ...freed, record: { ...freed.record, flagged: false } };
  // Amounts in flight are always returned: the job is gone.
  const held = correction(
    freed.record,
    (claim) => (isInFlight(claim.unit) ? 0 : claim.held),
    'expired',
    nowMs,
  );
  return {
    outcome: 'applied',
    record: { ...held.record, rev: freed.record.rev, flagged: true },
    entry: held.entry,
    changes: [...freed.changes, ...held.changes],
  };
}

/** The flag decides if it has only in-flight claims or none. */
export function isExpiredCharged({ state, claims, flagged }: JobRecord): boolean {
  if (state !== 'EXPIRED') return false;
  const spends = claims.filter(({ unit }) => !isInFlight(unit));
  return spends.length === 0 ? flagged : spends.some(({ corrected }) => corrected !== 0);
}

export const isLive = ({ state }: JobRecord): boolean => state === 'HELD' || state === 'RUNNING';

/** Ends the claims. Without `dueAtMs` the record leaves the due index. */
function ended(
  record: JobRecord,
  end: Pick<JobRecord, 'state' | 'endedAtMs' | 'durationSeconds' | 'reportedSeconds'> & {
    readonly facts?: JobFacts;
  },
  target: (claim: RecordClaim) => number,
): Required<Pick<End, 'record' | 'changes'>> {
  const { dueAtMs: _due, ...rest } = record;
  const claims = record.claims.map((claim) => ({ ...claim, counted: target(claim) }));
  return {
    record: { ...rest, ...end, claims, rev: record.rev + 1 },
    changes: changesBetween(record.claims, claims, {
      final: end.state === 'SETTLED',
      unchecked: record.unchecked,
    }),
  };
}

const bypassed = (record: JobRecord): JobRecord => ({
  ...record,
  flagged: true,
  unchecked: 'bypass',
  claims: record.claims.map((claim) => ({ ...claim, fitted: true, checked: false })),
});

const LONGEST_JOB_SECONDS = 31 * 24 * 3_600;

type RanSeconds = Required<Pick<JobRecord, 'durationSeconds'>> & Pick<JobRecord, 'reportedSeconds'>;

/** Cuts below 0 and above the timeout that GitLab enforces. @throws {LedgerError} `ledger_misuse`: not a number */
function ranSeconds({ jobId, durationSeconds }: JobEnd, facts: JobFacts): RanSeconds {
  if (Number.isNaN(durationSeconds))
    throw new LedgerError('ledger_misuse', `duration of job ${jobId} is NaN: expected seconds`);
  const reportedSeconds = wholeSeconds(durationSeconds);
  const longestSeconds = isTimeoutAssumed(facts)
    ? LONGEST_JOB_SECONDS
    : Math.min(facts.timeoutSeconds + GRACE_SECONDS, LONGEST_JOB_SECONDS);
  const charged = Math.min(Math.max(0, reportedSeconds), longestSeconds);
  return { durationSeconds: charged, ...(charged !== reportedSeconds && { reportedSeconds }) };
}

/** The later of two ends counts, and the longer of two at the same time: so their order of arrival does not matter. */
function isLaterEnd(
  end: JobEnd,
  { endedAtMs = 0, durationSeconds = 0, reportedSeconds = durationSeconds }: JobRecord,
): boolean {
  if (end.endedAtMs !== endedAtMs) return end.endedAtMs > endedAtMs;
  return wholeSeconds(end.durationSeconds) > reportedSeconds;
}

/** Older records note an assumed timeout in their admission request. */
const isTimeoutAssumed = ({ timeoutAssumed, asked }: JobFacts): boolean =>
  timeoutAssumed === true || asked?.filled?.includes('timeoutSeconds') === true;

/** Stays a number that the table takes, and no negative zero. */
const wholeSeconds = (seconds: number): number =>
  Math.min(Math.max(Math.ceil(seconds), -Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER) + 0;

const UNCHECKED: UncheckedCause = 'unmetered';

/** Records a fallback decision. After a rejection of a job that holds, the sweep finds that it never ran. */
export function unmeteredMove(
  record: JobRecord | undefined,
  ask: UnmeteredHold,
  nowMs: number,
): Move<'recorded'> {
  if (record === undefined || record.state === 'RESERVED')
    return ask.answered === 'admitted' ? charge(record, ask, nowMs) : reject(record, ask, nowMs);
  const isOver = !isLive(record) && record.state !== 'SETTLED';
  if (isOver && ask.answered === 'admitted' && !isOlder(ask, record)) return charge(record, ask, nowMs);
  if (record.answered === 'fallback') return noMove('recorded');
  return {
    ...{ outcome: 'recorded', changes: [] },
    record: { ...record, answered: 'fallback', rev: record.rev + 1 },
  };
}

/** The job was released or expired after this answer: that is the later fact. */
const isOlder = (ask: UnmeteredHold, record: JobRecord): boolean =>
  record.state !== 'REJECTED' && ask.answeredAtMs <= (record.endedAtMs ?? record.decidedAtMs);

function charge(prior: JobRecord | undefined, ask: UnmeteredHold, nowMs: number): Move<'recorded'> {
  const decidedAtMs = Math.min(ask.answeredAtMs, nowMs);
  const claims = uncheckedClaims(ask.claims, (claim) => claim.amount);
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
    ...(freed.entry && { entry: freed.entry }),
    changes: [...freed.changes, ...changesBetween([], claims, { unchecked: UNCHECKED })],
  };
}

function reject(prior: JobRecord | undefined, ask: UnmeteredHold, nowMs: number): Move<'recorded'> {
  const decidedAtMs = Math.min(ask.answeredAtMs, nowMs);
  const claims = uncheckedClaims(ask.claims, () => 0).map((claim) => ({ ...claim, fitted: false }));
  return {
    outcome: 'recorded',
    record: { ...newRecord(prior, ask, decidedAtMs), state: 'REJECTED', claims, endedAtMs: decidedAtMs },
    changes: reopenMove(prior, nowMs).changes,
  };
}

const uncheckedClaims = (
  claims: HoldRequest['claims'],
  held: (claim: LimitClaim) => number,
): readonly RecordClaim[] =>
  chargeable(claims).map((claim) => ({
    ...{ counter: claim.counter, unit: claim.unit, held: held(claim), counted: held(claim), corrected: 0 },
    ...{ fitted: claim.neverFits !== true, checked: false },
  }));

const newRecord = (prior: JobRecord | undefined, ask: HoldRequest, decidedAtMs: number): JobRecord => ({
  ...nextRecord(prior, ask, decidedAtMs),
  ...{ state: 'REJECTED', claims: [], answered: 'fallback' },
  violations: ask.violations.filter(({ mode }) => mode === 'enforce'),
  shadow: ask.violations.filter(({ mode }) => mode !== 'enforce'),
});

/** Settles a job without a record at once: a later admission request finds it and is admitted, so the job is charged once. */
export function bypassMove(
  record: JobRecord | undefined,
  ask: BypassRequest,
  nowMs: number,
): Move<EndOutcome> {
  if (record !== undefined) return settleMove(record, ask, nowMs);
  // Holds nothing, like a rejected job, so that it settles like one that ran nevertheless.
  const neverAsked: JobRecord = {
    ...newRecord(undefined, ask, ask.decidedAtMs ?? startedAtMs(ask, nowMs)),
    ...{ rev: 0, answered: 'unknown' },
    claims: uncheckedClaims(ask.claims, () => 0).map((claim) => ({ ...claim, fitted: true })),
  };
  const { record: settled, ...move } = settleMove(neverAsked, ask, nowMs);
  // It was not rejected; `unchecked` alone explains it.
  return settled === undefined ? move : { ...move, record: { ...settled, flagged: false } };
}

const startedAtMs = ({ endedAtMs, durationSeconds }: BypassRequest, nowMs: number): number =>
  Math.min(nowMs, Math.max(0, endedAtMs - Math.max(0, durationSeconds) * 1000));

/** True if a rejected job ran: in dry run, or despite the rejection. */
export const ranRejected = ({
  unchecked,
  flagged,
  violations,
}: Pick<JobRecord, 'unchecked' | 'flagged' | 'violations'>): boolean =>
  unchecked === 'bypass' && (flagged || violations.length > 0);

export const wasRejected = (
  record: Pick<JobRecord, 'state' | 'unchecked' | 'flagged' | 'violations'>,
): boolean => record.state === 'REJECTED' || ranRejected(record);

// Before an expired, charged job is evaluated again, its charge is returned, or it would pay twice. So is a reservation on
// counters that the job does not claim.

/** Returns the charge of an EXPIRED job, whose state stays, or ends its reservation. */
function reopenMove(record: JobRecord | undefined, nowMs: number): Move<'free'> {
  if (record === undefined) return noMove('free');
  if (isReserved(record)) return { outcome: 'free', ...freed(record, nowMs) };
  if (!isCharged(record)) return noMove('free');
  return { outcome: 'free', ...correction(record, () => 0, 'reopened', nowMs) };
}

/** True if a charge must be returned before weighing. Weighing itself takes over the job's reservation. */
function mustGiveBack({ prior, names }: HoldJob): boolean {
  if (!isReserved(prior)) return isCharged(prior);
  return (
    prior?.state === 'REJECTED' ||
    reservedClaims(prior).some(({ counter }) => !names.includes(counterName(counter)))
  );
}

/** In a transaction of its own, because it is rare. @returns names of the changed counters, whose known amounts are stale */
export async function giveBackCharges(
  jobs: readonly HoldJob[],
  deadlineMs: number,
  deps: MoveDeps,
): Promise<readonly string[]> {
  const charged = jobs.flatMap((job) =>
    job.prior !== undefined && mustGiveBack(job) ? [{ job, prior: job.prior }] : [],
  );
  if (charged.length === 0) return [];
  const records = new Map(charged.map(({ job, prior }) => [job.ask.jobId, prior]));
  const nowMs = deps.clock.nowMs();
  const requests = charged.map(({ job }) => ({
    jobId: job.ask.jobId,
    plan: (record: JobRecord | undefined) => reopenMove(record, nowMs),
  }));
  const outcomes = await makeMoves(requests, records, deadlineMs, deps);
  for (const [index, { job }] of charged.entries()) {
    job.prior = records.get(job.ask.jobId);
    // Another process may have reopened it first and hold it by now.
    if (outcomes[index] === 'undecided') job.outcome = { outcome: 'undecided', cause: 'unavailable' };
    else job.outcome = job.prior && answerFromRecord(job.prior, nowMs);
  }
  return charged.flatMap(({ prior }) => prior.claims.map(({ counter }) => counterName(counter)));
}
