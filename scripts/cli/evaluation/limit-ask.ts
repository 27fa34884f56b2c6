import type { CounterKey, LimitClaim } from '../../../policies/claim.ts';
import type { Unit } from '../../../policies/units/unit.ts';
import { amountText, bareAmountText } from '../../../policies/units/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';

/** A job's claim on one limit, for people and scripts. */
export interface LimitAsk {
  readonly rule: string;
  /** The limit's id on its subject. */
  readonly limit: string;
  readonly subject: string;
  /** `group acme/payments`. */
  readonly subjectLabel: string;
  readonly counter: CounterKey;
  readonly mode: LimitClaim['mode'];
  readonly unit: Unit;
  /** Whole units. */
  readonly asked: number;
  /** The limit in force, whole units; absent: it takes its amount without asking (exempt). */
  readonly bound?: number;
  /** `November 2026`; absent for what is given back when the job ends. */
  readonly periodLabel?: string;
}

const EMPTY = { committed: 0, settled: 0 } as const;

export function limitAskOf(claim: LimitClaim): LimitAsk {
  // Only a claim's refusal knows its limit by name; an empty counter's has the same facts.
  const facts = claim.refusal(EMPTY);
  const { limit, subject } = claim.counter;
  const subjectLabel = 'subjectLabel' in facts ? facts.subjectLabel : subject;
  const periodLabel = 'periodLabel' in facts ? facts.periodLabel : undefined;
  return {
    rule: claim.rule,
    limit,
    subject,
    subjectLabel,
    counter: claim.counter,
    mode: claim.mode,
    unit: claim.unit,
    asked: claim.amount,
    ...withoutAbsent({ bound: claim.bound, periodLabel }),
  };
}

/** `0.24 of 7.50 EUR for November 2026`; without a bound only the amount. */
export function askText(ask: LimitAsk, currency: string): string {
  if (ask.bound === undefined) return `${amountText(ask.asked, ask.unit, currency, 'up')}, without asking`;
  const asked = bareAmountText(ask.asked, ask.unit, 'up');
  const during = ask.periodLabel === undefined ? ' at once' : ` for ${ask.periodLabel}`;
  return `${asked} of ${amountText(ask.bound, ask.unit, currency)}${during}`;
}
