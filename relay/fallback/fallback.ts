/**
 * Decides while the ledger does not.
 *
 * 1. Rules that need no counter decide as always.
 * 2. A subject whose limit rejected a job within the last minute is rejected again.
 * 3. Causes that a job definition can bring about (unreadable, oversized) are admitted only a few times per project and hour.
 * 4. Limits admit within their last known headroom, or reject if the operator chose `reject`.
 */
import type { Decision } from '../../policies/decision.ts';
import type { Directory } from '../../policies/directory.ts';
import { evaluateStateless } from '../../policies/evaluate-stateless.ts';
import { keepLatest } from '../../policies/keep-latest.ts';
import { isCap } from '../../policies/limits/cap.ts';
import { placementOf } from '../../policies/placement.ts';
import type { Policy } from '../../policies/policy.ts';
import type { Violation } from '../../policies/reason.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import type { Rule } from '../../policies/rule.ts';
import { footerOf, rejectionText } from '../../policies/text/rejection-text.ts';
import { projectOf } from '../commit/fair-queue.ts';
import type { FallbackCause, LedgerDecision, RelayClock, RouterResponse } from '../exchange.ts';
import { wireReason } from '../wire/reason.ts';
import type { Headroom } from './headroom.ts';

const failedClosed = (rule: Pick<Rule, 'id' | 'class'>, cause: string): Violation => ({
  rule: rule.id,
  class: rule.class,
  mode: 'enforce',
  reason: { code: 'CONTROLLER_ERROR', cause },
});

export interface FallbackAnswer {
  readonly answer: RouterResponse;
  readonly decision?: Decision;
}

export type Fallback = ReturnType<typeof createFallback>;

type Violations = readonly [Violation, ...Violation[]];

const CAUSED_BY_JOB: ReadonlySet<FallbackCause> = new Set(['unreadable', 'oversized', 'invalid']);

export function createFallback(options: {
  readonly clock: RelayClock;
  /** Undefined: there are no rules. */
  readonly policy?: () => Policy | undefined;
  readonly directory?: () => Directory | undefined;
  /** The decision of cost and capacity rules. A rejection fails the job for good, so only the operator may choose `reject`. */
  readonly costAndCapacity: 'admit' | 'reject';
  readonly newDecisionId: () => string;
  readonly headroom?: Pick<Headroom, 'take'>;
}) {
  const { clock, policy = () => undefined, directory = () => undefined } = options;
  const rules = (): readonly Rule[] => policy()?.rules ?? [];
  const closed = () =>
    rules().filter((rule) => rule.stateless && rule.mode === 'enforce' && rule.onError === 'closed');
  const monotonicMs = (): number => clock.monotonicMs();
  const rejections = createRecentRejections(monotonicMs, directory);
  const isAllowed = unreadableAllowance(monotonicMs);

  /** Returns the violations that reject this job. A rule that fails to evaluate rejects if its policy says so. */
  function violationsOf(request: AdmissionRequest): readonly Violation[] {
    const current = policy();
    if (current === undefined) return [];
    const using = { policy: current, directory: directory(), nowMs: clock.nowMs() };
    const { violations, unevaluated } = evaluateStateless(request, using);
    const failed = closed().filter(({ id }) => unevaluated.includes(id));
    return [
      ...violations.filter(({ mode }) => mode === 'enforce'),
      ...failed.map((rule) => failedClosed(rule, 'the rule could not be evaluated')),
    ];
  }

  function answer(request: AdmissionRequest, cause: FallbackCause): FallbackAnswer {
    const [first, ...rest] = violationsOf(request);
    if (first !== undefined) return byRules(request, [first, ...rest]);
    const earlier = rejections.find(request);
    if (earlier !== undefined) {
      const ageS = Math.max(1, Math.round((clock.monotonicMs() - earlier.atMs) / 1_000));
      return rejected(
        earlier.violations,
        `${earlier.text}\n(Decided ${ageS} s ago for an earlier job: the ledger is unreachable now.)`,
      );
    }
    const project = request.projectId ?? request.projectPath?.toLowerCase();
    if (CAUSED_BY_JOB.has(cause) && project !== undefined && !isAllowed(String(project)))
      return controllerError(cause, 'unreadable-allowance');
    const refusal = options.costAndCapacity === 'admit' ? options.headroom?.take(request) : undefined;
    if (refusal === undefined) return operatorsChoice(cause);
    const decisionId = options.newDecisionId();
    const [{ reason }] = refusal.violations;
    const lines = [
      refusal.text,
      `[${reason.code}] Your code is not the cause. Retry the job when the ledger is reachable again.`,
      `Decision ${decisionId}`,
    ];
    return rejected(refusal.violations, lines.join('\n'), decisionId);
  }

  /**
   * Decides about a job that could not be read. Without a project id the relay itself is at fault: neither a rule nor the
   * allowance rejects, since they would reject every job.
   */
  function answerUnread(projectId: number | undefined, cause: FallbackCause): FallbackAnswer {
    if (projectId === undefined) return operatorsChoice(cause);
    const [first, ...rest] = closed().map((rule) => failedClosed(rule, 'the request could not be read'));
    if (first !== undefined) return controllerError(cause, first.rule, [first, ...rest]);
    if (!isAllowed(String(projectId))) return controllerError(cause, 'unreadable-allowance');
    return operatorsChoice(cause);
  }

  /** Reads no other state and cannot fail. */
  function operatorsChoice(cause: FallbackCause): FallbackAnswer {
    if (options.costAndCapacity === 'reject') return controllerError(cause, 'fallback');
    return { answer: { outcome: 'admitted' } };
  }

  function byRules(request: AdmissionRequest, violations: Violations): FallbackAnswer {
    const decisionId = options.newDecisionId();
    const footer = footerOf(rules(), violations);
    const text = rejectionText({
      ...{ request, violations, decisionId, nowMs: clock.nowMs() },
      // The relay knows no numbers of limits, so there is nothing to disclose.
      disclosure: 'none',
      ...(footer !== undefined && { footer }),
    });
    return rejected(violations, text, decisionId);
  }

  function controllerError(
    cause: FallbackCause,
    rule: string,
    violations: Violations = [failedClosed({ id: rule, class: 'cost' }, cause)],
  ): FallbackAnswer {
    const decisionId = options.newDecisionId();
    const lines = [
      `CONTROLLER_ERROR: Tollgate could not decide about this job (${cause.replaceAll('_', ' ')}).`,
      'Your job is not the cause. Retry it later. If it fails again, contact the Tollgate team.',
      `Decision ${decisionId}`,
    ];
    return rejected(violations, lines.join('\n'), decisionId);
  }

  function rejected(
    violations: Violations,
    text: string,
    decisionId = options.newDecisionId(),
  ): FallbackAnswer {
    const reason = wireReason(text);
    return {
      answer: { outcome: 'rejected', reason },
      decision: { outcome: 'rejected', decisionId, violations, shadow: [], text: reason },
    };
  }

  return { noted: rejections.note, answer, answerUnread, operatorsChoice };
}

/** Unreadable requests admitted per project and hour: enough for an odd job, too few to run a pipeline on. */
export const UNREADABLE_PER_HOUR = 20;
const HOUR_MS = 3_600_000;
const PROJECTS_MAX = 10_000;

function unreadableAllowance(monotonicMs: () => number): (project: string) => boolean {
  const takenBy = new Map<string, number>();
  let hour = Number.NEGATIVE_INFINITY;
  return (project) => {
    const nowHour = Math.floor(monotonicMs() / HOUR_MS);
    if (nowHour !== hour) takenBy.clear();
    hour = nowHour;
    const taken = takenBy.get(project) ?? 0;
    if (taken >= UNREADABLE_PER_HOUR) return false;
    keepLatest(takenBy, project, taken + 1, PROJECTS_MAX);
    return true;
  };
}

/** The ledger gives a rejected job the same decision for this long. */
const REMEMBERED_MS = 60_000;
const SUBJECTS_MAX = 10_000;

interface RememberedRejection {
  readonly text: string;
  readonly violations: Violations;
  readonly atMs: number;
}

/**
 * Remembers the last rejection of each subject whose limit was used up. While the ledger does not decide, jobs of that subject
 * stay rejected for a minute, so no user gains from making the ledger unreachable. An admission of such a job ends it, unless its
 * limits were not checked (exempt, break glass).
 */
function createRecentRejections(monotonicMs: () => number, directory: () => Directory | undefined) {
  const bySubject = new Map<string, RememberedRejection>();

  function subjectsOf(request: AdmissionRequest): readonly string[] {
    const { namespaceId, rootNamespaceId, userId, runnerId } = request;
    const above = placementOf(request, directory()).ancestors.map(({ id }) => id);
    return [
      ...['instance', projectSubject(request), runnerSubject(request) ?? []].flat(),
      ...[namespaceId, rootNamespaceId, ...above].map((id) => `group/${id}`),
      ...[`user/${userId}`, `runner/${runnerId}`],
    ];
  }

  function note(request: AdmissionRequest, decision: LedgerDecision): void {
    if (decision.outcome === 'undecided') return;
    if (decision.outcome === 'admitted') {
      if (bySubject.size === 0 || decision.shadow.some(isUnchecked)) return;
      for (const subject of subjectsOf(request)) bySubject.delete(subject);
      return;
    }
    const { text, violations } = decision;
    const subjects = subjectsOf(request);
    for (const violation of violations) {
      if (!isUsedUp(violation)) continue;
      const subject = subjectOf(violation, request);
      const known = subjects.includes(subject) ? subject : projectSubject(request);
      keepLatest(bySubject, known, { text, violations, atMs: monotonicMs() }, SUBJECTS_MAX);
    }
  }

  function find(request: AdmissionRequest): RememberedRejection | undefined {
    if (bySubject.size === 0) return undefined;
    const oldestMs = monotonicMs() - REMEMBERED_MS;
    return subjectsOf(request)
      .flatMap((subject) => bySubject.get(subject) ?? [])
      .find(({ atMs }) => atMs > oldestMs);
  }

  return { note, find };
}

const isUnchecked = ({ exempt, reason }: Violation): boolean =>
  exempt === true || reason.code === 'BREAK_GLASS';

/**
 * The relay evaluates security rules itself. A cap of one pipeline or user says nothing about other jobs, and a job that is larger
 * than a limit nothing about smaller ones.
 */
const isUsedUp = ({ mode, class: ruleClass, reason }: Violation): boolean => {
  if (mode !== 'enforce' || ruleClass === 'security') return false;
  if (reason.code === 'GROUP_FROZEN') return true;
  if (!('limit' in reason) || isCap(reason.subject)) return false;
  return reason.code !== 'EXCEEDS_LIMIT_ALONE' || reason.limitAmount === 0;
};

/** Requests do not name runner classes, so the runner's tags stand for them. A freeze names its subject in words only. */
function subjectOf({ reason }: Violation, request: AdmissionRequest): string {
  if (!('limit' in reason)) return projectSubject(request);
  return reason.subject.startsWith('runner-class/')
    ? (runnerSubject(request) ?? projectSubject(request))
    : reason.subject;
}

const projectSubject = (request: AdmissionRequest): string => `project/${projectOf(request)}`;

/** Undefined if the tags are unknown: the jobs of all such runners have nothing in common. */
const runnerSubject = ({ runnerTags }: AdmissionRequest): string | undefined =>
  runnerTags && `runner-tags/${runnerTags.toSorted().join(',')}`;
