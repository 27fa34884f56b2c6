import type { LimitFacts } from '../limits/limit.ts';
import type { CodedReason } from '../reason.ts';
import { unitRow } from '../unit.ts';
import {
  amountText,
  bareAmountText,
  duringText,
  limitLabelOf,
  limitName,
  limitNameFirst,
  overdraftText,
  UNIT_TEXTS,
} from '../unit-texts.ts';
import { relativeText, untilText } from './edge-text.ts';
import { fitted, oneLine, shortened } from './plain-text.ts';
import type { AdviceContext, ReasonText } from './reason-text.ts';

type Resetting = Pick<LimitFacts, 'resetsAtMs' | 'zone'>;

function waitAdvice({ resetsAtMs, zone }: Resetting, { disclosure, nowMs }: AdviceContext): string {
  if (resetsAtMs === undefined || zone === undefined)
    return 'Retrying will fail again: this limit never resets, it has to be raised.';
  const when = disclosure === 'none' ? 'in the next period' : `after ${untilText(resetsAtMs, zone, nowMs)}`;
  return `Retrying now will fail again. It will work ${when}, or with a higher limit.`;
}

const lowerAdvice = ({ unit }: Pick<LimitFacts, 'unit'>): string =>
  `${UNIT_TEXTS[unit].lower} ask for a higher limit.`;

export const budgetExhausted: ReasonText<CodedReason<'BUDGET_EXHAUSTED'>> = {
  headline: (reason, { currency, nowMs }) =>
    fitted(reason.subjectLabel, (label) => {
      const { committed, limitAmount, asked, unit, resetsAtMs } = reason;
      const name = limitNameFirst(reason);
      const [is, has] = name.endsWith('s') ? ['are', 'have'] : ['is', 'has'];
      const whole = `${amountText(limitAmount, unit, currency)}`;
      const resets = resetsAtMs === undefined ? '' : ` (resets ${relativeText(nowMs, resetsAtMs)})`;
      if (committed >= limitAmount)
        return `${name} of ${label} ${is} used up: ${bareAmountText(committed, unit)} of ${whole}${duringText(reason)}${resets}.`;
      // Round the remaining amount down and the needed amount up.
      const left = bareAmountText(limitAmount - committed, unit, 'down');
      const needs = bareAmountText(asked, unit, 'up');
      return `${name} of ${label} ${has} ${left} of ${whole} left${duringText(reason)}, this job needs ${needs}${resets}.`;
    }),
  discreetHeadline: () => 'A CI budget has no room for this job.',
  line: (reason, currency) => {
    const { committed, settled, asked, limitAmount, unit } = reason;
    const held = bareAmountText(Math.max(0, committed - settled), unit);
    const short = amountText(committed + asked - limitAmount, unit, currency, 'up');
    return `${limitLabelOf(reason)}: ${bareAmountText(settled, unit)} spent + ${held} held of ${wholeText(reason, currency)}; ${short} missing`;
  },
  advice: (reason, context) => {
    const isLeft = context.disclosure !== 'none' && reason.committed < reason.limitAmount;
    return [waitAdvice(reason, context), ...(isLeft ? [lowerAdvice(reason)] : [])];
  },
  faultless: true,
};

const wholeText = (
  facts: Pick<LimitFacts, 'limitAmount' | 'unit' | 'periodLabel' | 'overdrawn'>,
  currency: string,
): string =>
  `${amountText(facts.limitAmount, facts.unit, currency)}${duringText(facts)}${overdraftText(facts, currency)}`;

/** `retry:when` accepts every failure reason of GitLab's, the router's included. */
const AUTOMATIC_RETRY =
  'To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}';
/** GitLab retries within seconds, twice at most: for a window that opens much later both would be in vain. */
const AUTOMATIC_RETRY_WITHIN_MS = 120_000;

type Full = CodedReason<'CONCURRENCY_FULL' | 'CAPACITY_FULL'>;

/** It has not used up its own: the rest runs elsewhere. */
const isLentOut = ({ lentOut, committed, limitAmount }: Full): boolean =>
  lentOut === true && committed < limitAmount;

function borrowText(reason: Full): string {
  if (isLentOut(reason)) return ', others are lent out';
  return reason.borrow === undefined ? '' : `, may borrow ${bareAmountText(reason.borrow, reason.unit)}`;
}

export const concurrencyFull: ReasonText<CodedReason<'CONCURRENCY_FULL'>> = {
  headline: (reason) =>
    fitted(reason.subjectLabel, (label) =>
      isLentOut(reason)
        ? `Other groups use the CI job slots that ${label} lends: wait until one is free.`
        : `All CI job slots of ${label} (${bareAmountText(reason.limitAmount, reason.unit)}) are taken: wait until a job there has finished.`,
    ),
  discreetHeadline: () => 'Too many CI jobs are running at once: wait until one has finished.',
  line: (reason) => {
    const { committed, limitAmount, unit } = reason;
    return `${limitLabelOf(reason)}: ${bareAmountText(committed, unit)} of ${bareAmountText(limitAmount, unit)} jobs at once${borrowText(reason)}`;
  },
  advice: () => ['A retry will work as soon as one of the running jobs has finished.', AUTOMATIC_RETRY],
  faultless: true,
};

const resourceText = ({ unit }: Pick<LimitFacts, 'unit'>): string => UNIT_TEXTS[unit].resource ?? 'room';

export const capacityFull: ReasonText<CodedReason<'CAPACITY_FULL'>> = {
  headline: (reason, { currency }) =>
    fitted(reason.subjectLabel, (label) => {
      const { committed, limitAmount, asked, unit } = reason;
      const resource = resourceText(reason);
      if (isLentOut(reason))
        return `Other groups use the ${resource} that ${label} lends: wait until it is free.`;
      const left = bareAmountText(Math.max(0, limitAmount - committed), unit, 'down');
      const whole = amountText(limitAmount, unit, currency);
      return `Running CI jobs of ${label} leave ${left} of ${whole}${whole.endsWith(resource) ? '' : ` ${resource}`} free, this job needs ${bareAmountText(asked, unit, 'up')}.`;
    }),
  discreetHeadline: (reason) =>
    `Running CI jobs leave too little ${resourceText(reason)} for this job: wait until one has finished.`,
  line: (reason, currency) => {
    const { committed, asked, limitAmount, unit } = reason;
    const needs = amountText(asked, unit, currency, 'up');
    return `${limitLabelOf(reason)}: ${bareAmountText(committed, unit)} of ${amountText(limitAmount, unit, currency)} in use${borrowText(reason)}, this job needs ${needs}`;
  },
  advice: (reason) => [
    `A retry will work as soon as enough of the running jobs have finished, and sooner if this job asks for less ${resourceText(reason)}.`,
    AUTOMATIC_RETRY,
  ],
  faultless: true,
};

export const windowFull: ReasonText<CodedReason<'WINDOW_FULL'>> = {
  headline: ({ limitAmount, unit, resetsAtMs, subjectLabel }, { nowMs }) =>
    fitted(subjectLabel, (label) => {
      const more = resetsAtMs === undefined ? '' : `: more ${relativeText(nowMs, resetsAtMs)}`;
      return `All job starts of ${label} (${bareAmountText(limitAmount, unit)}) are used up${more}.`;
    }),
  discreetHeadline: () => 'Too many CI jobs were started lately: wait until more may start.',
  line: (reason, currency) =>
    `${limitLabelOf(reason)}: ${bareAmountText(reason.committed, reason.unit)} of ${wholeText(reason, currency)}`,
  advice: (reason, context) => {
    const { resetsAtMs = Number.POSITIVE_INFINITY } = reason;
    const isSoon = resetsAtMs - context.nowMs <= AUTOMATIC_RETRY_WITHIN_MS;
    return [waitAdvice(reason, context), ...(isSoon ? [AUTOMATIC_RETRY] : [])];
  },
  faultless: true,
};

/** No wait helps, because not even the empty counter has room. */
export const exceedsLimitAlone: ReasonText<CodedReason<'EXCEEDS_LIMIT_ALONE'>> = {
  headline: (reason, { currency }) =>
    fitted(reason.subjectLabel, (label) => {
      const { asked, limitAmount, unit } = reason;
      const name = limitName(reason);
      const whole = wholeText(reason, currency);
      if (limitAmount === 0) return `CI jobs of ${label} are blocked: ${name} ${whole}.`;
      // Money and time are guessed before the job runs; the others are as the job asks for them.
      const about = unitRow(unit).guessed ? 'about ' : '';
      return `This job needs ${about}${amountText(asked, unit, currency, 'up')}, more than the ${name} of ${label}: ${whole}.`;
    }),
  discreetHeadline: ({ limitAmount }) =>
    limitAmount === 0 ? 'A CI limit blocks this job.' : 'This job is larger than a CI limit allows.',
  line: (reason, currency) => `${limitLabelOf(reason)}: ${limitName(reason)} ${wholeText(reason, currency)}`,
  advice: (reason, context) => {
    if (reason.limitAmount > 0) return [`Retrying will fail again. ${lowerAdvice(reason)}`];
    // An overdraft takes no more than one period: the next one begins with what was set.
    return [
      reason.overdrawn === undefined
        ? 'Retrying will fail again until the limit is raised.'
        : waitAdvice(reason, context),
    ];
  },
  faultless: true,
};

export const softLimit: ReasonText<CodedReason<'SOFT_LIMIT'>> = {
  headline: (reason, { currency }) =>
    fitted(
      reason.subjectLabel,
      (label) => `Soft limit passed: ${limitName(reason)} of ${label} at ${softText(reason, currency)}.`,
    ),
  discreetHeadline: () => 'A CI limit is nearly used up. This job may run.',
  line: (reason, currency) =>
    `${limitLabelOf(reason)}: ${limitName(reason)} at ${softText(reason, currency)}`,
  advice: () => ['A soft limit stops no job: it warns the owner that the limit itself is near.'],
  faultless: true,
};

const softText = (reason: CodedReason<'SOFT_LIMIT'>, currency: string): string =>
  `${bareAmountText(reason.committed, reason.unit)} + ${bareAmountText(reason.asked, reason.unit, 'up')} of ${wholeText(reason, currency)}`;

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
