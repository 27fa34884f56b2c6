import type { CodedReason } from '../../reason.ts';
import { unitRow } from '../../units/unit.ts';
import {
  amountText,
  bareAmountText,
  duringText,
  limitLabelOf,
  limitName,
  overdraftText,
  UNIT_TEXTS,
} from '../../units/unit-texts.ts';
import { untilText } from '../edge-text.ts';
import { type Detail, fitted } from '../plain-text.ts';
import type { AdviceContext, HeadlineContext, ReasonText } from '../reason-text.ts';

type Alone = CodedReason<'EXCEEDS_LIMIT_ALONE'>;

/** No wait helps, because not even the empty counter has room. */
export const exceedsLimitAlone: ReasonText<Alone> = {
  headline: (reason, context) =>
    fitted(reason.subjectLabel, (label, detail) => aloneText(reason, label, detail, context)),
  discreetHeadline: ({ limitAmount }) =>
    limitAmount === 0 ? 'A CI limit blocks this job.' : 'This job is larger than a CI limit allows.',
  line: (reason, currency) =>
    `${limitLabelOf(reason)}: ${limitName(reason)} ${amountText(reason.limitAmount, reason.unit, currency)}${duringText(reason)}${overdraftText(reason, currency)}`,
  advice: (reason, context) => {
    if (reason.limitAmount > 0)
      return [`Retrying will fail again. ${UNIT_TEXTS[reason.unit].lower} ask for a higher limit.`];
    return reason.overdrawn === undefined
      ? ['Retrying will fail again until the limit is raised.']
      : [`Retrying now will fail again. It will work ${anewText(reason, context)}, or with a grant.`];
  },
  faultless: true,
};

function aloneText(reason: Alone, label: string, detail: Detail, { currency }: HeadlineContext): string {
  const { asked, limitAmount, overdrawn, unit } = reason;
  const during = detail === 'none' ? '' : duringText(reason);
  const { guessed } = unitRow(unit);
  const { name, wholly } = UNIT_TEXTS[unit];
  // Not to be told as if somebody had set it so.
  if (limitAmount === 0 && overdrawn !== undefined) {
    const debt = amountText(overdrawn, unit, currency);
    return `CI jobs of ${label} are blocked: an overdraft of ${debt} takes ${wholly} ${name}${during}.`;
  }
  if (limitAmount === 0) return `CI jobs of ${label} are blocked: the ${name}${during} is set to 0.`;
  // Money and time are guessed before the job runs; the others are as the job asks for them.
  const about = guessed ? 'about ' : '';
  const whole = `${wholly} ${name} of ${label}: ${amountText(limitAmount, unit, currency)}${during}`;
  return `This job needs ${about}${amountText(asked, unit, currency, 'up')}, more than ${whole}.`;
}

/** An overdraft takes no more than one period: the next one begins with what was set. */
function anewText({ resetsAtMs, zone }: Alone, { disclosure, nowMs }: AdviceContext): string {
  return disclosure === 'none' || resetsAtMs === undefined || zone === undefined
    ? 'when the period starts anew'
    : `after ${untilText(resetsAtMs, zone, nowMs)}`;
}

/** Rejects nobody: for logs, reports and the owner. */
export const softLimit: ReasonText<CodedReason<'SOFT_LIMIT'>> = {
  headline: (reason, { currency }) =>
    fitted(reason.subjectLabel, (label, detail) => {
      const [used, adds, soft] = softAmounts(reason, currency);
      const during = detail === 'none' ? '' : duringText(reason);
      return `Soft limit passed: ${limitName(reason)} of ${label}${during} at ${used} + ${adds} of ${soft}.`;
    }),
  discreetHeadline: () => 'A CI limit is nearly used up. This job may run.',
  line: (reason, currency) => {
    const [used, adds, soft] = softAmounts(reason, currency);
    return `${limitLabelOf(reason)}: ${limitName(reason)} at ${used} + ${adds} for this job; soft limit ${soft}${duringText(reason)}`;
  },
  advice: () => ['A soft limit stops no job: it warns the owner that the limit itself is near.'],
  faultless: true,
};

const softAmounts = (
  { committed, asked, limitAmount, unit }: CodedReason<'SOFT_LIMIT'>,
  currency: string,
): readonly [used: string, adds: string, soft: string] => [
  bareAmountText(committed, unit),
  bareAmountText(asked, unit, 'up'),
  amountText(limitAmount, unit, currency),
];
