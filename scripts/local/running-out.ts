import type { Reason } from '../../policies/reason.ts';
import { oneLine } from '../../policies/text/plain-text.ts';
import { isInFlight } from '../../policies/units/unit.ts';
import { limitLabelOf } from '../../policies/units/unit-texts.ts';
import { limitAmountText, numberText } from './amount-text.ts';
import type { AnsweredEvent } from './decision-line.ts';

/** A limit that rejected for the first time: in this run, and in its period. */
export interface ExhaustedLimit {
  readonly subject: string;
  readonly limit: string;
  /** For people. */
  readonly text: string;
}

type OfLimit = Extract<Reason, { readonly committed: number }>;

/** Notices the moments at which limits begin to reject. */
export class ExhaustionWatch {
  readonly #known = new Set<string>();
  readonly #currency: string;

  constructor(currency: string) {
    this.#currency = currency;
  }

  /** The limits whose first rejection this is. */
  newIn({ decision }: AnsweredEvent): readonly ExhaustedLimit[] {
    if (decision?.outcome !== 'rejected') return [];
    return decision.violations.flatMap(({ reason }) => {
      if (!('committed' in reason) || reason.code === 'SOFT_LIMIT') return [];
      const { limit, subjectLabel, periodLabel } = reason;
      const key = `${subjectLabel} ${limit} ${periodLabel ?? ''}`;
      if (this.#known.has(key)) return [];
      this.#known.add(key);
      return [{ subject: subjectOf(reason), limit, text: ranOutText(reason, this.#currency) }];
    });
  }
}

/** `acme/payments` of `group acme/payments`: the decisions above it say so, too. */
const subjectOf = (reason: OfLimit): string => limitLabelOf(reason).replace(/^(group|project) /, '');

function ranOutText(reason: OfLimit, currency: string): string {
  const { committed, settled, limitAmount, asked, unit, periodLabel } = reason;
  const subject = subjectOf(reason);
  if (periodLabel === undefined && isInFlight(unit)) {
    return `${subject} is full: ${numberText(committed, unit)} of ${limitAmountText(limitAmount, unit, currency)} at once, the job needs ${numberText(asked, unit)}`;
  }
  const period = periodLabel === undefined ? '' : ` for ${oneLine(periodLabel)}`;
  const held = committed - settled;
  return `${subject} has run out: ${numberText(settled, unit)} spent + ${numberText(held, unit)} held of ${limitAmountText(limitAmount, unit, currency)}${period}, the job needs ${numberText(asked, unit)}`;
}
