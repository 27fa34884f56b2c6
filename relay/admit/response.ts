/**
 * Reads responses of the admit function, down to the last field that the relay uses. A decision counts only for the job whose id
 * it names: a service, a proxy or a cache that mixes responses up must not admit one job with the decision about another.
 */
import {
  CONTENDED_MAX,
  type ContendedCounter,
  LINES_MAX,
  type LimitRoom,
  ROOMS_MAX,
  type UnmeteredResult,
} from '../../functions/core/contract/admissions.ts';
import { isRecord } from '../../policies/document/reading.ts';
import { MODES } from '../../policies/mode.ts';
import type { Violation } from '../../policies/reason.ts';
import { ALL_UNITS } from '../../policies/unit.ts';
import { type FallbackCause, type LedgerDecision, undecided } from '../exchange.ts';

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads `{batch?, decisions: [{jobId, …}]}`. Returns undefined for another form, or another batch; else one decision per requested
 * job, in the same order, and how many had no decision of their own.
 */
export function readDecisions(
  body: unknown,
  requested: { readonly batch?: string | undefined; readonly jobIds: readonly number[] },
) {
  const entries = entriesOf(body, 'decisions', requested.batch);
  if (entries === undefined) return undefined;
  const byJob = byJobId(entries);
  let unmatched = 0;
  const decisions = requested.jobIds.map((jobId): LedgerDecision => {
    const decision = byJob.get(jobId);
    if (decision === undefined) unmatched += 1;
    return decision !== undefined && isDecision(decision) ? decision : undecided('malformed');
  });
  return { decisions, unmatched };
}

/** Reads `{results: [{jobId, outcome}]}` by job id, without unclear results. Returns undefined for another form. */
export function readResults(
  body: unknown,
  jobIds: readonly number[],
): ReadonlyMap<number, UnmeteredResult['outcome']> | undefined {
  const entries = entriesOf(body, 'results');
  if (entries === undefined) return undefined;
  const byJob = byJobId(entries);
  return new Map(
    jobIds.flatMap((jobId) => {
      const outcome = OUTCOMES.find((known) => known === byJob.get(jobId)?.outcome);
      return outcome === undefined ? [] : [[jobId, outcome] as const];
    }),
  );
}

/** Reads `{contended: [{counter, jobIds}]}`: shared counters for which requested jobs competed. Skips malformed entries. */
export function readContended(body: unknown, jobIds: readonly number[]): readonly ContendedCounter[] {
  const entries = isRecord(body) && Array.isArray(body.contended) ? body.contended : [];
  const requested = new Set<unknown>(jobIds);
  return entries
    .slice(0, CONTENDED_MAX)
    .filter(isRecord)
    .flatMap(({ counter, jobIds: named }) =>
      isCounterName(counter) && Array.isArray(named)
        ? [{ counter, jobIds: named.filter((jobId) => requested.has(jobId)) }]
        : [],
    );
}

/** Reads `{transactions?}`: how many the batch took. */
export function readTransactions(body: unknown): number {
  const count = isRecord(body) ? body.transactions : undefined;
  return typeof count === 'number' && count >= 1 ? count : 1;
}

export function readHeadroom(body: unknown): readonly LimitRoom[] {
  const rooms = isRecord(body) ? body.room : undefined;
  return Array.isArray(rooms) ? rooms.slice(0, ROOMS_MAX).filter(isHeadroom) : [];
}

const OUTCOMES = [
  'recorded',
  'undecided',
  'invalid',
] as const satisfies readonly UnmeteredResult['outcome'][];

function entriesOf(
  body: unknown,
  name: 'decisions' | 'results',
  batch?: string,
): readonly Entry[] | undefined {
  if (!isRecord(body) || (batch !== undefined && body.batch !== batch)) return undefined;
  const entries = body[name];
  return Array.isArray(entries) ? entries.filter(isRecord) : undefined;
}

/** An id that several entries name counts for no entry. */
function byJobId(entries: readonly Entry[]): ReadonlyMap<unknown, Entry | undefined> {
  const byJob = new Map<unknown, Entry | undefined>();
  for (const entry of entries) byJob.set(entry.jobId, byJob.has(entry.jobId) ? undefined : entry);
  return byJob;
}

const UNDECIDED_CAUSES: ReadonlySet<unknown> = new Set<FallbackCause>([
  'invalid',
  'deadline',
  'contended',
  'unavailable',
  'error',
]);

function isDecision(value: Entry): value is Entry & LedgerDecision {
  switch (value.outcome) {
    case 'admitted':
      return isDecided(value);
    case 'rejected':
      return isDecided(value) && isRefusal(value);
    case 'waiting':
      return (
        isRefusal(value) &&
        Number.isFinite(value.leftMs) &&
        Number(value.leftMs) > 0 &&
        areCounters(value.counters)
      );
    case 'undecided':
      return UNDECIDED_CAUSES.has(value.cause);
    default:
      return false;
  }
}

const isDecided = ({ decisionId, shadow, terms }: Entry): boolean =>
  isFilled(decisionId) && isViolations(shadow) && (terms === undefined || isFacts(terms));

const isRefusal = ({ text, violations }: Entry): boolean =>
  isFilled(text) && isViolations(violations) && violations.length > 0;

const COUNTER_CHARACTERS_MAX = 2_048;

const isCounterName = (value: unknown): value is string =>
  isFilled(value) && value.length <= COUNTER_CHARACTERS_MAX;

const areCounters = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.length <= LINES_MAX && value.every(isCounterName);

const isHeadroom = (value: unknown): value is LimitRoom =>
  isRecord(value) &&
  (value.policy === 'room' || value.policy === 'reject') &&
  (value.periodMs === undefined || (typeof value.periodMs === 'number' && value.periodMs > 0)) &&
  isViolations([value.refusal]) &&
  isRecord(value.refusal) &&
  isLimitReason(value.refusal.reason);

const isLimitReason = (reason: unknown): boolean =>
  isRecord(reason) &&
  isFilled(reason.limit) &&
  isFilled(reason.subject) &&
  ALL_UNITS.some((unit) => unit === reason.unit) &&
  [reason.limitAmount, reason.committed, reason.settled].every(Number.isFinite);

const VIOLATION_MODES: readonly unknown[] = MODES.filter((mode) => mode !== 'off');

const isViolations = (value: unknown): value is readonly Violation[] =>
  Array.isArray(value) &&
  value.every(
    (entry) =>
      isRecord(entry) &&
      isFilled(entry.rule) &&
      isFilled(entry.class) &&
      VIOLATION_MODES.includes(entry.mode) &&
      isFacts(entry.reason) &&
      isFilled(entry.reason.code),
  );

const isFacts = (value: unknown): value is Entry =>
  isRecord(value) &&
  [value.subject, value.group].every((text) => text === undefined || typeof text === 'string') &&
  (value.resetsAtMs === undefined || Number.isFinite(value.resetsAtMs));

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';
