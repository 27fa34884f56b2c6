import type { Decision } from '../policies/decision.ts';
import type { Violation } from '../policies/reason.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import { rejectionText } from '../policies/text/rejection-text.ts';
import type { Answer, RelayClock } from './exchange.ts';
import { controllerErrorText, repeatedText } from './fallback-text.ts';
import { reasonText } from './reason-text.ts';
import { RecentRejections } from './recent-rejections.ts';
import type { StatelessCheck } from './stateless-check.ts';
import { UNREADABLE_PER_HOUR, UnreadableAllowance } from './unreadable-allowance.ts';
import type { FallbackCause, Verdict } from './verdict.ts';

export interface FallbackDeps {
  readonly clock: RelayClock;
  readonly stateless: StatelessCheck;
  /** What cost and capacity rules do. A rejection fails the job for good, so `reject` is the operator's word, not ours. */
  readonly costAndCapacity: 'admit' | 'reject';
  /** Whether what is read can be relied on. While it cannot, nothing is taken from a project's allowance. */
  readonly schemaProven: () => boolean;
  /** Makes the id by which people and logs find a fallback's rejection again. */
  readonly newDecisionId: () => string;
  /** Ids of the groups a job is in, as far as they are known. @default those that its request names */
  readonly groupsAbove?: (request: AdmissionRequest) => readonly number[];
  /** @default 20 */
  readonly unreadablePerHour?: number;
}

export interface FallbackAnswer {
  readonly answer: Answer;
  /** Present when it rejects: the log has the same numbers as the user's message. */
  readonly decision?: Decision;
}

/** Answers when the ledger did not: rules that need no counter decide as always, limits fall open with two brakes. */
export interface Fallback {
  /** Told of every answer of the ledger: what it said last is what the brakes go by. */
  noted(request: AdmissionRequest, verdict: Verdict): void;
  answer(request: AdmissionRequest, cause: FallbackCause): FallbackAnswer;
  /**
   * For a question that names no job. One without a project is nobody's doing but ours: neither a rule nor an allowance
   * rejects it, for they would reject everybody.
   */
  answerUnread(projectId: number | undefined, cause: FallbackCause): FallbackAnswer;
  /** What the operator wants when nothing else can be said. Asks nobody and cannot fail. */
  operatorsWord(cause: FallbackCause): FallbackAnswer;
}

/** Causes that somebody could bring about from inside a job definition: only so many of them pass. */
const BRAKED: ReadonlySet<FallbackCause> = new Set(['unreadable', 'oversized', 'invalid']);

export function createFallback(deps: FallbackDeps): Fallback {
  const { clock, stateless } = deps;
  const monotonicMs = (): number => clock.monotonicMs();
  const rejections = new RecentRejections(monotonicMs, deps.groupsAbove);
  const allowance = new UnreadableAllowance(monotonicMs, deps.unreadablePerHour ?? UNREADABLE_PER_HOUR);

  function answer(request: AdmissionRequest, cause: FallbackCause): FallbackAnswer {
    const [first, ...rest] = stateless.violations(request);
    if (first !== undefined) return byRules(request, [first, ...rest]);
    const earlier = rejections.find(request);
    if (earlier !== undefined) {
      return rejected(earlier.violations, repeatedText(earlier.text, clock.monotonicMs() - earlier.atMs));
    }
    if (BRAKED.has(cause) && !isAllowed(request.projectId ?? request.projectPath?.toLowerCase()))
      return controllerError(cause, 'unreadable-allowance');
    return operatorsWord(cause);
  }

  function answerUnread(projectId: number | undefined, cause: FallbackCause): FallbackAnswer {
    if (projectId === undefined) return operatorsWord(cause);
    const [first, ...rest] = stateless.violationsUnread;
    if (first !== undefined) return controllerError(cause, first.rule, [first, ...rest]);
    if (!isAllowed(projectId)) return controllerError(cause, 'unreadable-allowance');
    return operatorsWord(cause);
  }

  /** Within what a project may have; without a project there is no count that would not be everybody's. */
  const isAllowed = (project: number | string | undefined): boolean =>
    project === undefined || !deps.schemaProven() || allowance.take(String(project));

  function operatorsWord(cause: FallbackCause): FallbackAnswer {
    if (deps.costAndCapacity === 'reject') return controllerError(cause, 'fallback');
    return { answer: { outcome: 'admitted' } };
  }

  function byRules(
    request: AdmissionRequest,
    violations: readonly [Violation, ...Violation[]],
  ): FallbackAnswer {
    const decisionId = deps.newDecisionId();
    // No numbers of limits are known here, so nothing can be disclosed that should not be.
    const said = { request, violations, decisionId, nowMs: clock.nowMs(), disclosure: 'none' } as const;
    const footer = stateless.footer(violations);
    return rejected(
      violations,
      rejectionText({ ...said, ...(footer !== undefined && { footer }) }),
      decisionId,
    );
  }

  function controllerError(
    cause: FallbackCause,
    rule: string,
    violations: readonly [Violation, ...Violation[]] = [
      { rule, class: 'cost', mode: 'enforce', reason: { code: 'CONTROLLER_ERROR', cause } },
    ],
  ): FallbackAnswer {
    const decisionId = deps.newDecisionId();
    return rejected(violations, controllerErrorText(cause, decisionId), decisionId);
  }

  function rejected(
    violations: readonly [Violation, ...Violation[]],
    text: string,
    decisionId = deps.newDecisionId(),
  ): FallbackAnswer {
    const reason = reasonText(text);
    return {
      answer: { outcome: 'rejected', reason },
      decision: { outcome: 'rejected', decisionId, violations, shadow: [], text: reason },
    };
  }

  return {
    noted: (request, verdict) => rejections.note(request, verdict),
    answer,
    answerUnread,
    operatorsWord,
  };
}
