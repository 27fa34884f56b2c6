import type { Decision, Notice } from '../../../policies/decision.ts';
import { parseAdmissionRequest } from '../../../policies/request/parse-request.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { footerOf, rejectionText } from '../../../policies/text/rejection-text.ts';
import type { JobDecision } from '../contract/admissions.ts';
import { jobPage, linkTo } from '../notify/console-links.ts';
import type { DecideDeps } from './decide-deps.ts';
import { jobIdIn } from './envelope.ts';
import { type Judged, judge } from './judge.ts';
import { noticesOf, type Rejection } from './notice.ts';

/**
 * Decides a batch: parse → evaluate → hold → say so. One decision per entry, same order, each on its own: an entry
 * that does not parse is `undecided{invalid}` and its neighbours never notice. What would be rejected on limits that are
 * not in force any more is evaluated once more, on those that are.
 *
 * @param deadlineMs on `deps.clock.monotonicMs()`.
 */
export async function decide(
  entries: readonly unknown[],
  deadlineMs: number,
  deps: DecideDeps,
): Promise<readonly JobDecision[]> {
  const decisions: JobDecision[] = new Array(entries.length);
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

  const judged = requests.length === 0 ? [] : await judge(requests, deadlineMs, deps);
  const notices = await noticesByJob(judged, deadlineMs, deps);
  judged.forEach((one, position) => {
    // The id of the job that was judged, not of the one that stands at this place.
    decisions[placeOf[position] ?? 0] = {
      jobId: one.request.jobId,
      ...toDecision(one, notices.get(one), deps.consoleUrl),
    };
  });
  return decisions;
}

async function noticesByJob(
  judged: readonly Judged[],
  deadlineMs: number,
  deps: DecideDeps,
): Promise<ReadonlyMap<Judged, Notice>> {
  const rejected: Judged[] = [];
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
  { request, evaluation, outcome, policy, nowMs }: Judged,
  notice: Notice | undefined,
  consoleUrl: string | undefined,
): Decision {
  if (outcome.outcome === 'undecided') {
    const { cause } = outcome;
    return { outcome: 'undecided', cause: cause === 'stale_limits' ? 'unavailable' : cause };
  }
  const decisionId = decisionIdOf(request.jobId, outcome.generation);
  const { terms } = evaluation;
  if (outcome.outcome === 'admitted') {
    return { outcome: 'admitted', decisionId, terms, shadow: outcome.shadow };
  }
  const footer = footerOf(policy.rules, outcome.violations);
  const text = rejectionText({
    request,
    violations: outcome.violations,
    terms,
    decisionId,
    nowMs,
    disclosure: evaluation.disclosure,
    detailsUrl: linkTo(consoleUrl, jobPage(request.jobId)),
    ...(footer === undefined ? {} : { footer }),
  });
  const { violations, shadow } = outcome;
  return { outcome: 'rejected', decisionId, terms, violations, shadow, text, notice: notice ?? 'first' };
}

/** The same job at the same generation has the same id, so a repeated answer names the decision first given. */
const decisionIdOf = (jobId: number, generation: number): string => `d-${jobId}-${generation}`;
