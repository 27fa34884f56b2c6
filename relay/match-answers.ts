/**
 * Tells whose answer is whose. An answer counts for the job whose id it names and for nobody else, wherever it stands in
 * the list: a service, a proxy or a cache that mixes answers up must not admit one job with the decision about another.
 */
import {
  CONTENDED_MAX,
  type ContendedCounter,
  LINES_MAX,
  type LimitRoom,
  ROOMS_MAX,
  type UnmeteredResult,
} from '../functions/core/contract/index.ts';
import { isRecord } from '../policies/document/reading.ts';
import { MODES } from '../policies/mode.ts';
import type { Violation } from '../policies/reason.ts';
import { ALL_UNITS } from '../policies/units/unit.ts';
import { type FallbackCause, type LedgerVerdict, undecided } from './verdict.ts';

/** What a call asked about. */
interface AskedJobs {
  readonly batch?: string | undefined;
  readonly jobIds: readonly number[];
}

interface MatchedDecisions {
  /** One per job asked about, same order. Undefined: none, several, or one under another job's decision id. */
  readonly decisions: readonly unknown[];
  /** Jobs without a decision of their own. */
  readonly unmatched: number;
}

type Entry = Readonly<Record<string, unknown>>;

/** Reads `{batch?, decisions: [{jobId, …}]}`. Undefined: it is not that, or it answers another batch. */
export function matchDecisions(body: unknown, asked: AskedJobs): MatchedDecisions | undefined {
  const entries = entriesOf(body, 'decisions', asked);
  if (entries === undefined) return undefined;
  const byJob = byJobId(entries);
  const jobsByDecision = new Map<unknown, number>();
  for (const { decisionId } of entries) {
    if (decisionId !== undefined) jobsByDecision.set(decisionId, (jobsByDecision.get(decisionId) ?? 0) + 1);
  }
  const decisions = asked.jobIds.map((jobId) => {
    const decision = byJob.get(jobId);
    // The ledger keeps one decision a job: under one id there cannot be two.
    return decision !== undefined && (jobsByDecision.get(decision.decisionId) ?? 0) < 2
      ? decision
      : undefined;
  });
  return { decisions, unmatched: decisions.filter((decision) => decision === undefined).length };
}

/**
 * Reads `{results: [{jobId, outcome}]}`: what became of each answer that was told, by job id. Jobs of which nothing certain
 * is said are left out. Undefined: it is not that.
 */
export function matchResults(
  body: unknown,
  jobIds: readonly number[],
): ReadonlyMap<number, UnmeteredResult['outcome']> | undefined {
  const entries = entriesOf(body, 'results', { jobIds });
  if (entries === undefined) return undefined;
  const byJob = byJobId(entries);
  return new Map(
    jobIds.flatMap((jobId) => {
      const outcome = OUTCOMES.find((known) => known === byJob.get(jobId)?.outcome);
      return outcome === undefined ? [] : [[jobId, outcome] as const];
    }),
  );
}

/**
 * Reads `{contended: [{counter, jobIds}]}`: shared counters that jobs asked about fought for. It only says what had better go
 * together, so what is not of the contract is passed over.
 */
export function contendedIn(body: unknown, jobIds: readonly number[]): readonly ContendedCounter[] {
  const entries = isRecord(body) && Array.isArray(body.contended) ? body.contended : [];
  const asked = new Set<unknown>(jobIds);
  return entries
    .slice(0, CONTENDED_MAX)
    .filter(isRecord)
    .flatMap(({ counter, jobIds: named }) =>
      isFilled(counter) && counter.length <= COUNTER_CHARACTERS_MAX && Array.isArray(named)
        ? [{ counter, jobIds: named.filter((jobId) => asked.has(jobId)) }]
        : [],
    );
}

/** DynamoDB's own bound on a key. */
const COUNTER_CHARACTERS_MAX = 2_048;

const OUTCOMES = [
  'recorded',
  'undecided',
  'invalid',
] as const satisfies readonly UnmeteredResult['outcome'][];

function entriesOf(
  body: unknown,
  name: 'decisions' | 'results',
  { batch }: AskedJobs,
): readonly Entry[] | undefined {
  if (!isRecord(body) || (batch !== undefined && body.batch !== batch)) return undefined;
  const entries = body[name];
  return Array.isArray(entries) ? entries.filter(isRecord) : undefined;
}

/** Keyed by the id they name; an id that several name belongs to none of them. */
function byJobId(entries: readonly Entry[]): ReadonlyMap<unknown, Entry | undefined> {
  const byJob = new Map<unknown, Entry | undefined>();
  for (const entry of entries) byJob.set(entry.jobId, byJob.has(entry.jobId) ? undefined : entry);
  return byJob;
}

/**
 * Reads `{decisions: [...]}`, one per request. Nothing if the envelope is not that; one decision that is not of the
 * contract spoils itself only.
 */
export function parseVerdicts(body: unknown, count: number): readonly LedgerVerdict[] | undefined {
  const decisions = isRecord(body) ? body.decisions : undefined;
  if (!Array.isArray(decisions) || decisions.length !== count) return undefined;
  return decisions.map((decision) => (isVerdict(decision) ? decision : undecided('malformed')));
}

/** Reads `{room: [...]}`: those that are of the contract. */
export function parseRooms(body: unknown): readonly LimitRoom[] {
  const rooms = isRecord(body) ? body.room : undefined;
  return Array.isArray(rooms) ? rooms.slice(0, ROOMS_MAX).filter(isRoom) : [];
}

const isRoom = (value: unknown): value is LimitRoom =>
  isRecord(value) &&
  (value.policy === 'room' || value.policy === 'reject') &&
  (value.periodMs === undefined || (typeof value.periodMs === 'number' && value.periodMs > 0)) &&
  isViolations([value.refusal]) &&
  isRecord(value.refusal) &&
  isCounterReason(value.refusal.reason);

const isCounterReason = (reason: unknown): boolean =>
  isRecord(reason) &&
  isFilled(reason.limit) &&
  isFilled(reason.subject) &&
  ALL_UNITS.some((unit) => unit === reason.unit) &&
  [reason.limitAmount, reason.committed, reason.settled].every(Number.isFinite);

// Whether what a service said of one job is a verdict, down to the last field that anybody here looks at.
const UNDECIDED_CAUSES: ReadonlySet<unknown> = new Set<FallbackCause>([
  'invalid',
  'deadline',
  'contended',
  'unavailable',
  'error',
]);
const VIOLATION_MODES: readonly unknown[] = MODES.filter((mode) => mode !== 'off');

/** Facts of a reason or of a decision's terms. Each may be absent; a newer service may send more. */
const TEXTS = [
  'limit',
  'subject',
  'subjectLabel',
  'unit',
  'periodLabel',
  'zone',
  'owner',
  'contact',
  'runnerClass',
  'currency',
  'group',
];
const NUMBERS = [
  'limitAmount',
  'overdrawn',
  'borrow',
  'committed',
  'settled',
  'resetsAtMs',
  'estimateSeconds',
  'costMicros',
];

function isVerdict(value: unknown): value is LedgerVerdict {
  if (!isRecord(value)) return false;
  switch (value.outcome) {
    case 'admitted':
      return isDecided(value);
    case 'rejected':
      return (
        isDecided(value) &&
        isFilled(value.text) &&
        isViolations(value.violations) &&
        value.violations.length > 0
      );
    case 'waiting':
      return (
        isFilled(value.text) &&
        isViolations(value.violations) &&
        value.violations.length > 0 &&
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

const areCounters = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= LINES_MAX &&
  value.every((each) => isFilled(each) && each.length <= COUNTER_CHARACTERS_MAX);

const isDecided = ({ decisionId, shadow, terms }: Readonly<Record<string, unknown>>): boolean =>
  isFilled(decisionId) && isViolations(shadow) && (terms === undefined || isFacts(terms));

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

const isFacts = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) &&
  TEXTS.every((name) => value[name] === undefined || typeof value[name] === 'string') &&
  NUMBERS.every((name) => value[name] === undefined || Number.isFinite(value[name]));

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';
