import type { Decision } from '../policies/decision.ts';
import { keepLatest } from '../policies/keep-latest.ts';
import type { Violation } from '../policies/reason.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import { rejectionText } from '../policies/text/rejection-text.ts';
import type { RelayClock, RouterAnswer } from './exchange.ts';
import { RecentRejections } from './recent-rejections.ts';
import type { RelayRoom, RoomRefusal } from './room.ts';
import type { StatelessCheck } from './stateless-check.ts';
import type { FallbackCause, LedgerVerdict } from './verdict.ts';
import { wireReason } from './wire/reason.ts';

interface FallbackDeps {
  readonly clock: RelayClock;
  readonly stateless: StatelessCheck;
  /** What cost and capacity rules do. A rejection fails the job for good, so `reject` is the operator's word, not ours. */
  readonly costAndCapacity: 'admit' | 'reject';
  /** Makes the id by which people and logs find a fallback's rejection again. */
  readonly newDecisionId: () => string;
  /** What was last known to be left of the limits. @default nothing is known, and all that limits ask is admitted */
  readonly room?: Pick<RelayRoom, 'take'>;
  /** Ids of the groups a job is in, as far as they are known. @default those that its request names */
  readonly groupsAbove?: (request: AdmissionRequest) => readonly number[];
  /** @default 20 */
  readonly unreadablePerHour?: number;
}

export interface FallbackAnswer {
  readonly answer: RouterAnswer;
  /** Present when it rejects: the log has the same numbers as the user's message. */
  readonly decision?: Decision;
}

/**
 * Answers when the ledger did not: rules that need no counter decide as always, limits fall open within what was last
 * known to be left of them, with two brakes.
 */
export interface Fallback {
  /** Told of every answer of the ledger: what it said last is what the brakes go by. */
  noted(request: AdmissionRequest, verdict: LedgerVerdict): void;
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
    const refusal = deps.costAndCapacity === 'admit' ? deps.room?.take(request) : undefined;
    return refusal === undefined ? operatorsWord(cause) : byRoom(refusal);
  }

  function byRoom({ violations, text }: RoomRefusal): FallbackAnswer {
    const decisionId = deps.newDecisionId();
    const [{ reason }] = violations;
    const lines = [
      text,
      `[${reason.code}] Nothing is wrong with your code. Retry the job later: once the limit can be asked, it is decided anew.`,
      `Decision ${decisionId}`,
    ];
    return rejected(violations, lines.join('\n'), decisionId);
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
    project === undefined || allowance.take(String(project));

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
    const reason = wireReason(text);
    return {
      answer: { outcome: 'rejected', reason },
      decision: { outcome: 'rejected', decisionId, violations, shadow: [], text: reason },
    };
  }

  return {
    noted: rejections.note,
    answer,
    answerUnread,
    operatorsWord,
  };
}

/** What an operator's `fallback: reject`, or the brake on unreadable questions, tells the user. Never the user's fault. */
function controllerErrorText(cause: FallbackCause, decisionId: string): string {
  return [
    `CONTROLLER_ERROR: Tollgate could not decide about this job (${EXPLAINED[cause]}).`,
    'This is not the fault of the job. Retry it later; if it fails again, tell whoever runs Tollgate.',
    `Decision ${decisionId}`,
  ].join('\n');
}

/** An earlier answer used again. */
const repeatedText = (text: string, ageMs: number): string =>
  `${text}\n(Decided ${Math.max(1, Math.round(ageMs / 1000))} s ago for an earlier job: the ledger cannot be asked right now.)`;

const EXPLAINED: Readonly<Record<FallbackCause, string>> = {
  invalid: 'its admission request was not understood',
  deadline: 'the decision took too long',
  contended: 'too many jobs asked at the same moment',
  unavailable: 'the ledger did not answer',
  error: 'a part of it failed',
  circuit_open: 'the deciding service is out of reach',
  unreachable: 'the deciding service is out of reach',
  refused: 'the deciding service refused the request',
  malformed: 'the deciding service gave no proper answer',
  queue_full: 'too many jobs were waiting',
  unreadable: 'its admission request could not be read',
  oversized: 'its admission request is too large',
  stopping: 'it is being restarted',
  abandoned: 'nobody waits for the answer any more',
  schema_unproven: 'the schema of the router is not certain',
};

/** Unreadable questions admitted per project and hour: enough for an odd job, too few to live on. */
export const UNREADABLE_PER_HOUR = 20;
const HOUR_MS = 3_600_000;
/** Projects counted in one hour; beyond, the first ones are forgotten. */
const PROJECTS_MAX = 10_000;

/**
 * How many questions that nobody can judge may still be admitted: a job made unreadable on purpose must not be a free
 * job. Each project has its own number: nobody pays for a neighbour.
 */
class UnreadableAllowance {
  readonly #monotonicMs: () => number;
  readonly #perHour: number;
  readonly #taken = new Map<string, number>();
  #hour = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number, perHour: number = UNREADABLE_PER_HOUR) {
    this.#monotonicMs = monotonicMs;
    this.#perHour = perHour;
  }

  /** Takes one of the project's hour; false when there is none left. */
  take(project: string): boolean {
    const hour = Math.floor(this.#monotonicMs() / HOUR_MS);
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#taken.clear();
    }
    const taken = this.#taken.get(project) ?? 0;
    if (taken >= this.#perHour) return false;
    keepLatest(this.#taken, project, taken + 1, PROJECTS_MAX);
    return true;
  }
}
