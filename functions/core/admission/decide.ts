import type { Decision, NoticeOrder } from '../../../policies/decision.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Violation } from '../../../policies/reason.ts';
import { parseAdmissionRequest } from '../../../policies/request/parse-request.ts';
import { requeueSettingsFor } from '../../../policies/requeue.ts';
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
import { errorName } from '../environment/environment.ts';
import type { JobRecord, Ledger, UnmeteredHold } from '../ledger/ledger.ts';
import { jobPagePath, linkTo } from '../notify/console-links.ts';
import { type DecideDeps, type JudgedJob, judgeRequests, toHoldAsk, type WaitLookup } from './judge.ts';

/** Decides a batch. One decision per entry, same order; one that does not parse is `undecided{invalid}` on its own. */
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
  const parsed = entries.map((entry) => parseAdmissionRequest(entry));
  const requests = parsed.flatMap((each) => (each.ok ? [each.value] : []));
  const judged = requests.length === 0 ? [] : await judgeRequests(requests, deadlineMs, { ...deps, waitOf });
  const isAnyRejected = judged.some(({ outcome }) => outcome.outcome === 'rejected');
  const notices = isAnyRejected ? await noticesOf(judged, deadlineMs, deps) : undefined;
  const inOrder = judged.values();
  return parsed.map((each, index): AdmissionAnswer => {
    const one = each.ok ? inOrder.next().value : undefined;
    if (one === undefined) {
      const problems = each.ok ? [] : each.problems;
      return { ...jobIdIn(entries[index]), outcome: 'undecided', cause: 'invalid', problems };
    }
    // Use the id of the judged job, not the id of the entry at this index.
    return { jobId: one.request.jobId, ...toDecision(one, notices?.get(one), deps.consoleUrl, waitOf) };
  });
}

const jobIdIn = (entry: unknown): { readonly jobId?: number } =>
  isRecord(entry) && typeof entry.jobId === 'number' && Number.isSafeInteger(entry.jobId)
    ? { jobId: entry.jobId }
    : {};

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

/** Retries come within minutes; a retry on the next day gets a new notice. */
const NOTICE_TTL_MS = DAY_MS;
/** A small write takes about 5 ms. The decision is made, so the wait is short. */
const ANNOUNCE_MS_MAX = 150;
/** A write with less time left would be cut off, and the answer has to travel, too. */
const ANNOUNCE_MS_MIN = 40;

/** For each rejection, if it is new: GitLab's `retry: 2` sends three requests under new ids. Never throws; on a timeout all are new. */
async function noticesOf(
  judged: readonly JudgedJob[],
  deadlineMs: number,
  { ledger, clock, log }: Pick<DecideDeps, 'ledger' | 'clock' | 'log'>,
): Promise<ReadonlyMap<JudgedJob, NoticeOrder>> {
  const notices = new Map<JudgedJob, NoticeOrder>();
  const unannounced = judged.flatMap((one) => {
    if (one.outcome.outcome !== 'rejected') return [];
    notices.set(one, one.outcome.repeated ? 'repeat' : 'first');
    const key = noticeKey(one);
    return key === undefined ? [] : [{ one, key }];
  });
  const timeoutMs = Math.min(ANNOUNCE_MS_MAX, deadlineMs - clock.monotonicMs() - ANNOUNCE_MS_MIN);
  if (unannounced.length === 0 || timeoutMs < ANNOUNCE_MS_MIN) return notices;
  try {
    const keys = unannounced.map(({ key }) => key);
    const first = await ledger.announceOnce(keys, { ttlMs: NOTICE_TTL_MS, timeoutMs });
    for (const [index, { one }] of unannounced.entries())
      if (first[index] === false) notices.set(one, 'repeat');
  } catch (error) {
    // The rejections stand without the notice.
    log.error('notice failed', { error: errorName(error) });
  }
  return notices;
}

function noticeKey({ request, evaluation: { facts }, outcome }: JudgedJob): string | undefined {
  const { pipelineId, jobName } = request;
  if (outcome.outcome !== 'rejected' || outcome.repeated) return undefined;
  if (pipelineId === undefined || jobName === undefined) return undefined;
  const { rootId, projectId, projectPath } = facts;
  const place = [rootId ?? null, projectId ?? projectPath ?? null];
  const why = outcome.violations.map(whyOf).sort();
  return JSON.stringify(['rejection', ...place, pipelineId, jobName, ...why]);
}

/** Code and limit, without the numbers: those change with every job. */
const whyOf = ({ rule, reason }: Violation): string =>
  'limit' in reason ? `${reason.code} ${reason.subject} ${reason.limit}` : `${reason.code} ${rule}`;

/** The same job at the same generation has the same id, so a repeated answer names the decision first given. */
export const decisionIdOf = ({ jobId, generation }: Pick<JobRecord, 'jobId' | 'generation'>): string =>
  `d-${jobId}-${generation}`;

export const pageText = (
  rejection: Omit<RejectionTextInput, 'footer' | 'retried'>,
  groupIds: Parameters<typeof requeueSettingsFor>[1],
  { rules, requeue }: Pick<Policy, 'rules' | 'requeue'>,
): string =>
  rejectionText({
    ...rejection,
    ...withoutAbsent({
      footer: footerOf(rules, rejection.violations),
      retried: requeueSettingsFor(requeue, groupIds, rejection.violations),
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
  const parsed = entries.map((entry) => parseAnswer(entry));
  const answers = parsed.filter((answer) => answer !== undefined);
  const outcomes = (answers.length === 0 ? [] : await recordAnswers(answers, deps)).values();
  return entries.map((entry, index) => {
    const answer = parsed[index];
    return answer === undefined
      ? { ...jobIdIn(isRecord(entry) ? entry.request : undefined), outcome: 'invalid' }
      : { jobId: answer.request.jobId, outcome: outcomes.next().value ?? 'undecided' };
  });
}

async function recordAnswers(answers: readonly Answer[], deps: Parameters<typeof recordUnmetered>[1]) {
  const deadlineMs = deps.clock.monotonicMs() + RECORD_MS_MAX;
  const requests = answers.map(({ request }) => request);
  const rules = await deps.currentRules(requests);
  const { estimate } = rules.policy;
  const estimator = (await deps.estimatorFor?.(requests, estimate, deadlineMs)) ?? rules.estimator;
  const nowMs = deps.clock.nowMs();
  const asks = answers.map(({ request, answered, cause, answeredAtMs: toldAtMs }): UnmeteredHold => {
    // The period is the one of the answer, not of this call: an outage may span midnight. No relay's clock makes it a later one.
    const answeredAtMs = Math.min(toldAtMs, nowMs);
    const evaluation = evaluate(request, { ...rules, estimator, nowMs: answeredAtMs });
    return { ...toHoldAsk({ request, evaluation }), answered, cause, answeredAtMs };
  });
  return deps.ledger.recordUnmetered(asks, deadlineMs);
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
