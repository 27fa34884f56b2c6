import type { CounterSeen, LimitClaim } from './claim.ts';
import type { Limit } from './limits.ts';
import type { Mode, RuleClass } from './mode.ts';
import { type Period, periodAt } from './period.ts';
import type { LimitFacts, Reason, Violation } from './reason.ts';

/** What a rule finds about one limit: a question for its counter, or a violation that needs no counter. */
export type Finding =
  | { readonly claim: LimitClaim; readonly violation?: never }
  | { readonly violation: Violation; readonly claim?: never };

/** The rule that asks, with the mode in force for this limit. */
export interface Asking {
  readonly rule: string;
  readonly class: RuleClass;
  readonly mode: Exclude<Mode, 'off'>;
}

/** What one job asks of one limit. */
export interface Ask {
  readonly limit: Limit;
  /** Whole units of the limit, ≥ 0. */
  readonly asked: number;
  readonly subjectLabel: () => string;
  readonly nowMs: number;
  readonly code: 'BUDGET_EXHAUSTED' | 'CONCURRENCY_FULL';
}

/**
 * A limit the job fits into alone becomes a claim; one it never fits into, or that is 0, a violation at once. A job
 * that asks for nothing of a limit that is there takes nothing, so its counter is left alone.
 */
export function findingOf(ask: Ask, asking: Asking): Finding | undefined {
  const { limit, asked } = ask;
  if (limit.amount === 'unlimited') return undefined;
  if (limit.amount === 0 || asked > limit.amount) {
    const reason: Reason = { code: 'EXCEEDS_LIMIT_ALONE', ...limitFacts(ask, limit.amount) };
    return { violation: { ...asking, reason } };
  }
  return asked === 0 ? undefined : { claim: new CounterClaim(ask, asking, limit.amount) };
}

class CounterClaim implements LimitClaim {
  readonly counter: LimitClaim['counter'];
  readonly unit: LimitClaim['unit'];
  readonly amount: number;
  readonly bound: number;
  readonly mode: LimitClaim['mode'];
  readonly rule: string;
  readonly class: RuleClass;
  readonly #ask: Ask;

  constructor(ask: Ask, asking: Asking, bound: number) {
    const { limit } = ask;
    this.counter = { subject: limit.subject, limit: limit.id, period: periodOf(ask)?.key ?? 'now' };
    this.unit = limit.unit;
    this.amount = ask.asked;
    this.bound = bound;
    this.mode = asking.mode;
    this.rule = asking.rule;
    this.class = asking.class;
    this.#ask = ask;
  }

  refusal({ committed, settled }: CounterSeen): Reason {
    return { code: this.#ask.code, committed, settled, ...limitFacts(this.#ask, this.bound) };
  }
}

function limitFacts(ask: Ask, limitAmount: number): LimitFacts {
  const { limit, asked } = ask;
  const period = periodOf(ask);
  return {
    limit: limit.id,
    subject: limit.subject,
    subjectLabel: ask.subjectLabel(),
    unit: limit.unit,
    limitAmount,
    asked,
    ...(period !== undefined && { periodLabel: period.label, resetsAtMs: period.endMs, zone: limit.zone }),
    ...(limit.owner !== undefined && { owner: limit.owner }),
  };
}

const periodOf = ({ limit, nowMs }: Ask): Period | undefined =>
  limit.per === undefined ? undefined : periodAt(limit.per, limit.zone, nowMs);
