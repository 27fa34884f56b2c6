import type { LimitFacts } from '../../limits/limit.ts';
import type { CodedReason } from '../../reason.ts';
import {
  amountText,
  bareAmountText,
  duringText,
  limitLabelOf,
  limitName,
  limitNameFirst,
  overdraftText,
  UNIT_TEXTS,
} from '../../unit-texts.ts';
import { instantText, relativeText, untilText } from '../edge-text.ts';
import { type Detail, fitted, oneLine, shortened } from '../plain-text.ts';
import type { AdviceContext, HeadlineContext, ReasonText } from '../reason-text.ts';

type Spent = CodedReason<'BUDGET_EXHAUSTED'>;

export const budgetExhausted: ReasonText<Spent> = {
  headline: (reason, context) =>
    fitted(
      reason.subjectLabel,
      (label, detail) => `${stateText(reason, label, context)}${resetText(reason, detail, context)}`,
    ),
  discreetHeadline: ({ unit }) =>
    `${UNIT_TEXTS[unit].budget?.unnamed ?? 'A CI limit'} has no room for this job.`,
  line: (reason, currency) => {
    const { committed, settled, asked, limitAmount, unit } = reason;
    const bare = (amount: number): string => bareAmountText(amount, unit);
    const spent = `${bare(settled)} spent + ${bare(Math.max(0, committed - settled))} held`;
    const short = amountText(committed + asked - limitAmount, unit, currency, 'up');
    const whole = amountText(limitAmount, unit, currency);
    return `${limitLabelOf(reason)}: ${spent} of ${whole}${duringText(reason)}${overdraftText(reason, currency)}; ${short} missing`;
  },
  advice,
  faultless: true,
};

function stateText(reason: Spent, label: string, { currency }: HeadlineContext): string {
  const { committed, limitAmount, asked, unit } = reason;
  const whole = amountText(limitAmount, unit, currency);
  const name = limitNameFirst(reason);
  const [is, has] = limitName(reason).endsWith('s') ? ['are', 'have'] : ['is', 'has'];
  if (committed >= limitAmount) {
    const used = bareAmountText(committed, unit);
    return `${name} of ${label} ${is} used up: ${used} of ${whole}${duringText(reason)}`;
  }
  // Round the remaining amount down and the needed amount up.
  const left = bareAmountText(limitAmount - committed, unit, 'down');
  const needs = bareAmountText(asked, unit, 'up');
  return `${name} of ${label} ${has} ${left} of ${whole} left${duringText(reason)}, this job needs ${needs}`;
}

function resetText({ resetsAtMs, zone }: LimitFacts, detail: Detail, { nowMs }: HeadlineContext): string {
  if (resetsAtMs === undefined || zone === undefined || detail === 'none') return '.';
  const relative = relativeText(nowMs, resetsAtMs);
  return ` (resets ${detail === 'instant' ? `${instantText(resetsAtMs, zone)}, ${relative}` : relative}).`;
}

function advice(reason: Spent, { disclosure, nowMs }: AdviceContext): readonly string[] {
  const { resetsAtMs, zone } = reason;
  if (resetsAtMs === undefined || zone === undefined) {
    return [
      'Retrying will fail again: this limit never resets, it has to be raised.',
      ...waysOut(reason, disclosure),
    ];
  }
  const after =
    disclosure === 'none' ? 'when the period starts anew' : `after ${untilText(resetsAtMs, zone, nowMs)}`;
  return [
    `Retrying now will fail again. It will work ${after}, or with a higher limit.`,
    ...waysOut(reason, disclosure),
  ];
}

/** Remedies before the period ends. Each reveals something about the numbers. */
function waysOut(reason: Spent, disclosure: AdviceContext['disclosure']): readonly string[] {
  if (disclosure === 'none') return [];
  const { committed, settled, asked, limitAmount, unit } = reason;
  const ways: string[] = [];
  if (committed < limitAmount) {
    const saver = UNIT_TEXTS[unit].budget?.saver ?? 'a shorter timeout';
    ways.push(`With ${saver} the job may fit into what is left.`);
  }
  // Holds are upper estimates: what is settled alone would leave room.
  if (committed > settled && settled + asked <= limitAmount) {
    ways.push('It may work earlier, if the jobs running now need less than is held for them.');
  }
  return ways;
}

const ID_CHARACTERS_MAX = 60;
const WHY_CHARACTERS_MAX = 200;

export const breakGlass: ReasonText<CodedReason<'BREAK_GLASS'>> = {
  headline: ({ why }) =>
    fitted(why.replace(/[.\s]+$/, ''), (short) => `Admitted by break-glass, past its limits: ${short}.`),
  discreetHeadline: () => 'Admitted by break-glass.',
  line: ({ breakGlass: id, why }) =>
    `admitted by break-glass ${shortened(oneLine(id), ID_CHARACTERS_MAX)}: ${shortened(oneLine(why), WHY_CHARACTERS_MAX)}`,
  advice: () => ['The job counts in all its limits, its owners are told, and somebody reviews it.'],
  faultless: true,
};
