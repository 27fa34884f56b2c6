import type { Decision, NoticeOrder } from '../../../policies/decision.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Violation } from '../../../policies/reason.ts';
import { parseAdmissionRequest } from '../../../policies/request/parse-request.ts';
import type { JobFacts } from '../../../policies/request/recorded.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { retriedBy } from '../../../policies/requeue.ts';
import {
  disclosureFor,
  footerOf,
  type RejectionTextInput,
  rejectionText,
} from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type {
  AdmissionAnswer,
  UnmeteredAnswer as Answer,
  JobDecision,
  UnmeteredResult,
  WaitingAnswer,
} from '../contract/admissions.ts';
import type { HoldOutcome, JobRecord, Ledger, UnmeteredAsk } from '../ledger/ledger.ts';
import { jobPagePath, linkTo } from '../notify/console-links.ts';
import { type DecideDeps, type JudgedJob, judgeRequests, toHoldAsk, type WaitLookup } from './judge.ts';

/**
 * Decides a batch: parse → evaluate → hold → text. One decision per entry, same order. An entry
 * that does not parse is `undecided{invalid}` and does not affect the others. Jobs that would be rejected by limits that are
 * no longer in force are evaluated once more, with the current ones.
 *
 * @param deadlineMs on `deps.clock.monotonicMs()`.
 */
export function decide(
  entries: readonly unknown[],
  deadlineMs: number,
  deps: DecideDeps,
): Promise<readonly JobDecision[]>;
/** @param waitOf - the caller can keep jobs waiting. */
export function decide(
  entries: readonly unknown[],
  deadlineMs: number,
  deps: DecideDeps,
  waitOf: WaitLookup | undefined,
): Promise<readonly AdmissionAnswer[]>;
export async function decide(
  entries: readonly unknown[],
  deadlineMs: number,
  deps: DecideDeps,
  waitOf?: WaitLookup,
): Promise<readonly AdmissionAnswer[]> {
  const decisions: AdmissionAnswer[] = new Array(entries.length);
  const requests: AdmissionRequest[] = [];
  const placeOf: number[] = [];

  entries.forEach((entry, index) => {
    const parsed = parseAdmissionRequest(entry);
    if (!parsed.ok) {
      const { problems } = parsed;
      decisions[index] = { ...jobIdIn(entry), outcome: 'undecided', cause: 'invalid', problems };
      return;
    }
    placeOf.push(index);
    requests.push(parsed.value);
  });

  const judged = requests.length === 0 ? [] : await judgeRequests(requests, deadlineMs, { ...deps, waitOf });
  const notices = await noticesByJob(judged, deadlineMs, deps);
  judged.forEach((one, position) => {
    // The id of the job that was judged, not of the one that stands at this place.
    decisions[placeOf[position] ?? 0] = {
      jobId: one.request.jobId,
      ...toDecision(one, notices.get(one), deps.consoleUrl, waitOf),
    };
  });
  return decisions;
}

/** The id of the job that an entry is about, also where the rest of it is not understood. */
const jobIdIn = (entry: unknown): { readonly jobId?: number } =>
  isRecord(entry) && typeof entry.jobId === 'number' && Number.isSafeInteger(entry.jobId)
    ? { jobId: entry.jobId }
    : {};

async function noticesByJob(
  judged: readonly JudgedJob[],
  deadlineMs: number,
  deps: DecideDeps,
): Promise<ReadonlyMap<JudgedJob, NoticeOrder>> {
  const rejected: JudgedJob[] = [];
  const rejections: Rejection[] = [];
  for (const one of judged) {
    const { request, evaluation, outcome } = one;
    if (outcome.outcome !== 'rejected') continue;
    rejected.push(one);
    rejections.push({ request, facts: evaluation.facts, outcome });
  }
  const notices = await noticesOf(rejections, deadlineMs, deps);
  return new Map(rejected.map((one, index) => [one, notices[index] ?? 'first']));
}

function toDecision(
  { request, evaluation, outcome, policy, nowMs }: JudgedJob,
  notice: NoticeOrder | undefined,
  consoleUrl: string | undefined,
  waitOf: WaitLookup | undefined,
): Decision | WaitingAnswer {
  if (outcome.outcome === 'undecided') {
    const { cause } = outcome;
    return { outcome: 'undecided', cause: cause === 'stale_limits' ? 'unavailable' : cause };
  }
  // Nothing is recorded of a job that waits: it has no generation yet.
  const decisionId = decisionIdOf({
    jobId: request.jobId,
    generation: outcome.outcome === 'waiting' ? 0 : outcome.generation,
  });
  const { terms } = evaluation;
  if (outcome.outcome === 'admitted') {
    return { outcome: 'admitted', decisionId, terms, shadow: outcome.shadow };
  }
  const waitedMs = waitOf?.(request.jobId).waitedMs;
  const { facts, placement } = evaluation;
  const rejection = {
    ...{ request, violations: outcome.violations, terms, decisionId, nowMs },
    disclosure: disclosureFor(placement, policy.disclose),
    detailsUrl: linkTo(consoleUrl, jobPagePath(request.jobId)),
    ...(waitedMs !== undefined && { waitedMs }),
  };
  const text = pageText(rejection, facts.groupIds, policy);
  if (outcome.outcome === 'waiting') return { ...outcome, text };
  const { violations, shadow, unwritten } = outcome;
  const said = { decisionId, terms, violations, shadow, text, notice: notice ?? 'first' };
  return { outcome: 'rejected', ...said, ...(unwritten && { unwritten }) };
}

/** A rejected job and what the ledger said of it. */
interface Rejection {
  readonly request: AdmissionRequest;
  readonly facts: JobFacts;
  readonly outcome: Extract<HoldOutcome, { readonly outcome: 'rejected' }>;
}

/** Retries come within minutes; a retry on the next day gets a new notice. */
const NOTICE_TTL_MS = DAY_MS;
/** A small write takes about 5 ms. The decision is made, so the wait is short. */
const ANNOUNCE_MS_MAX = 150;
/** A write with less time left would be cut off, and the answer has to travel, too. */
const ANNOUNCE_MS_MIN = 40;

/**
 * Returns for each rejection if it is new, because GitLab's `retry: 2` sends three requests for one job
 * under new ids. One per rejection, same order. Never throws; on a timeout all are new.
 *
 * @param deadlineMs on `deps.clock.monotonicMs()`.
 */
async function noticesOf(
  rejections: readonly Rejection[],
  deadlineMs: number,
  deps: Pick<DecideDeps, 'ledger' | 'clock' | 'log'>,
): Promise<readonly NoticeOrder[]> {
  const keys = rejections.map(noticeKey);
  const asked = keys.filter((key) => key !== undefined);
  const first = await firstOf(asked, deadlineMs, deps);
  let next = 0;
  return rejections.map(({ outcome }, index) => {
    if (outcome.repeated) return 'repeat';
    if (keys[index] === undefined) return 'first';
    next += 1;
    return first[next - 1] === false ? 'repeat' : 'first';
  });
}

async function firstOf(
  keys: readonly string[],
  deadlineMs: number,
  { ledger, clock, log }: Pick<DecideDeps, 'ledger' | 'clock' | 'log'>,
): Promise<readonly boolean[]> {
  const timeoutMs = Math.min(ANNOUNCE_MS_MAX, deadlineMs - clock.monotonicMs() - ANNOUNCE_MS_MIN);
  if (keys.length === 0 || timeoutMs < ANNOUNCE_MS_MIN) return [];
  try {
    return await ledger.announceOnce(keys, { ttlMs: NOTICE_TTL_MS, timeoutMs });
  } catch (error) {
    // The rejections stand without the notice.
    log.error('notice failed', { error: error instanceof Error ? error.name : 'unknown failure' });
    return [];
  }
}

/** Returns undefined if the job's pipeline is unknown, or if the rejection is a repeat. */
function noticeKey({ request, facts, outcome }: Rejection): string | undefined {
  const { pipelineId, jobName } = request;
  if (pipelineId === undefined || jobName === undefined || outcome.repeated) return undefined;
  const { rootId, projectId, projectPath } = facts;
  const place = [rootId ?? null, projectId ?? projectPath ?? null];
  return JSON.stringify([
    'rejection',
    ...place,
    pipelineId,
    jobName,
    ...outcome.violations.map(whyOf).sort(),
  ]);
}

/** Code and limit, without the numbers: those change with every job. */
const whyOf = ({ rule, reason }: Violation): string =>
  'limit' in reason ? `${reason.code} ${reason.subject} ${reason.limit}` : `${reason.code} ${rule}`;

/** The same job at the same generation has the same id, so a repeated answer names the decision first given. */
export const decisionIdOf = ({ jobId, generation }: Pick<JobRecord, 'jobId' | 'generation'>): string =>
  `d-${jobId}-${generation}`;

/**
 * Words a rejection for the job's page in GitLab, with the footers of its rules and the retries that its group agreed to.
 *
 * @param groupIds - of the job, as in its facts.
 */
export const pageText = (
  rejection: Omit<RejectionTextInput, 'footer' | 'retried'>,
  groupIds: Parameters<typeof retriedBy>[1],
  { rules, requeue }: Pick<Policy, 'rules' | 'requeue'>,
): string =>
  rejectionText({
    ...rejection,
    ...withoutAbsent({
      footer: footerOf(rules, rejection.violations),
      retried: retriedBy(requeue, groupIds, rejection.violations),
    }),
  });

/** Background writes may use the whole of a short function timeout. */
const RECORD_MS_MAX = 5_000;

/** A cause is one of the relay's own words; anything longer is not. */
const CAUSE_LENGTH_MAX = 40;

/** Charges answers that were given without the ledger, unchecked and flagged. One result per entry, same order. */
export async function recordUnmetered(
  entries: readonly unknown[],
  deps: Pick<DecideDeps, 'currentRules' | 'estimatorFor' | 'clock'> & {
    readonly ledger: Pick<Ledger, 'recordUnmetered'>;
  },
): Promise<readonly UnmeteredResult[]> {
  const results = entries.map(
    (entry): UnmeteredResult => ({
      ...jobIdIn(isRecord(entry) ? entry.request : undefined),
      outcome: 'invalid',
    }),
  );
  const answers: Answer[] = [];
  const placeOf: number[] = [];
  entries.forEach((entry, index) => {
    const answer = parseAnswer(entry);
    if (answer === undefined) return;
    placeOf.push(index);
    answers.push(answer);
  });
  if (answers.length === 0) return results;

  const deadlineMs = deps.clock.monotonicMs() + RECORD_MS_MAX;
  const requests = answers.map(({ request }) => request);
  const rules = await deps.currentRules(requests);
  const { estimate } = rules.policy;
  const estimator = (await deps.estimatorFor?.(requests, estimate, deadlineMs)) ?? rules.estimator;
  const nowMs = deps.clock.nowMs();
  const asks = answers.map(({ request, answered, cause, answeredAtMs: toldAtMs }): UnmeteredAsk => {
    // The period is the one of the answer, not of this call: an outage may span midnight. No relay's clock makes it a later one.
    const answeredAtMs = Math.min(toldAtMs, nowMs);
    const evaluation = evaluate(request, { ...rules, estimator, nowMs: answeredAtMs });
    return { ...toHoldAsk({ request, evaluation }), answered, cause, answeredAtMs };
  });
  const outcomes = await deps.ledger.recordUnmetered(asks, deadlineMs);
  outcomes.forEach((outcome, position) => {
    const jobId = asks[position]?.jobId;
    results[placeOf[position] ?? 0] = { ...(jobId !== undefined && { jobId }), outcome };
  });
  return results;
}

function parseAnswer(entry: unknown): Answer | undefined {
  if (!isRecord(entry)) return undefined;
  const { answered, cause, answeredAtMs } = entry;
  const request = parseAdmissionRequest(entry.request);
  if (!request.ok) return undefined;
  if (answered !== 'admitted' && answered !== 'rejected') return undefined;
  if (typeof cause !== 'string' || cause.length > CAUSE_LENGTH_MAX) return undefined;
  if (typeof answeredAtMs !== 'number' || !Number.isSafeInteger(answeredAtMs) || answeredAtMs < 0)
    return undefined;
  return { request: request.value, answered, cause, answeredAtMs };
}
