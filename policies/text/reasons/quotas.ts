import type { LimitFacts } from '../../limits/limit.ts';
import type { CodedReason } from '../../reason.ts';
import { unitRow } from '../../unit.ts';
import {
  amountText,
  bareAmountText,
  duringText,
  limitLabelOf,
  limitName,
  overdraftText,
  UNIT_TEXTS,
} from '../../unit-texts.ts';
import { relativeText, untilText } from '../edge-text.ts';
import { type Detail, fitted } from '../plain-text.ts';
import type { AdviceContext, HeadlineContext, ReasonText } from '../reason-text.ts';

/** `retry:when` accepts every failure reason of GitLab's, the router's included. */
const AUTOMATIC_RETRY =
  'To have GitLab retry by itself, add to the job:  retry: {max: 2, when: job_router_failure}';
/** GitLab retries within seconds, twice at most: for a window that opens much later both would be in vain. */
const AUTOMATIC_RETRY_WITHIN_MS = 120_000;

export const concurrencyFull: ReasonText<CodedReason<'CONCURRENCY_FULL'>> = {
  headline: (reason) =>
    fitted(reason.subjectLabel, (label) => {
      const { limitAmount, unit } = reason;
      if (isLentOut(reason))
        return `Other groups run CI jobs on slots of ${label}: the next free one is not lent again.`;
      const borrowed = borrowedOf(reason);
      const wait = ': wait until a job there has finished';
      if (borrowed > 0)
        return `The ${bareAmountText(limitAmount, unit)} CI job slots of ${label} and ${bareAmountText(borrowed, unit)} borrowed are taken${wait}.`;
      if (reason.lentOut)
        return `All ${bareAmountText(limitAmount, unit)} CI job slots of ${label} are taken, and none can be borrowed now${wait}.`;
      return limitAmount === 1
        ? `The only CI job slot of ${label} is taken: wait until the job there has finished.`
        : `All ${bareAmountText(limitAmount, unit)} CI job slots of ${label} are taken${wait}.`;
    }),
  discreetHeadline: () => 'Too many CI jobs are running at once: wait until one has finished.',
  line: (reason) => {
    const own = reason.committed - borrowedOf(reason);
    return `${limitLabelOf(reason)}: ${bareAmountText(own, reason.unit)} of ${bareAmountText(reason.limitAmount, reason.unit)} jobs at once${borrowText(reason)}`;
  },
  advice: () => ['A retry will work as soon as one of the running jobs has finished.', AUTOMATIC_RETRY],
  faultless: true,
};

export const capacityFull: ReasonText<CodedReason<'CAPACITY_FULL'>> = {
  headline: (reason, { currency }) =>
    fitted(reason.subjectLabel, (label, detail) => {
      const { committed, limitAmount, asked, unit } = reason;
      const whole = wholeText({ limitAmount, unit }, currency);
      const wait = detail === 'none' ? '' : ': wait until a job there has finished';
      if (isLentOut(reason))
        return `Other groups use what ${label} lends of ${whole}: what comes free is not lent again.`;
      const borrowed = borrowedOf(reason);
      if (borrowed > 0)
        return `Running CI jobs of ${label} use all of their ${whole} and ${bareAmountText(borrowed, unit)} borrowed${wait}.`;
      if (committed >= limitAmount) return `Running CI jobs of ${label} use all of their ${whole}${wait}.`;
      const left = bareAmountText(limitAmount - committed, unit, 'down');
      const needs = bareAmountText(asked, unit, 'up');
      return `Running CI jobs of ${label} leave ${left} of ${whole} free, this job needs ${needs}${wait}.`;
    }),
  discreetHeadline: (reason) =>
    `Running CI jobs leave too little ${resourceText(reason)} for this job: wait until one has finished.`,
  line: (reason, currency) => {
    const { committed, asked, limitAmount, unit } = reason;
    const used = bareAmountText(committed - borrowedOf(reason), unit);
    const needs = amountText(asked, unit, currency, 'up');
    if (reason.borrow !== undefined || reason.lentOut)
      return `${limitLabelOf(reason)}: ${used} of ${wholeText(reason, currency)} in use${borrowText(reason)}, this job needs ${needs}`;
    const short = amountText(committed + asked - limitAmount, unit, currency, 'up');
    return `${limitLabelOf(reason)}: ${used} of ${wholeText(reason, currency)} in use, this job needs ${needs}; ${short} missing`;
  },
  advice: (reason) => [
    `A retry will work as soon as enough of the running jobs have finished, and sooner if this job asks for less ${resourceText(reason)}.`,
    AUTOMATIC_RETRY,
  ],
  faultless: true,
};

type Full = CodedReason<'CONCURRENCY_FULL' | 'CAPACITY_FULL'>;

/** Above its own, by a limit that may borrow. */
const borrowedOf = ({ borrow, committed, limitAmount }: Full): number =>
  borrow === undefined ? 0 : Math.max(0, committed - limitAmount);

/** It has not used up its own: the rest runs elsewhere. */
const isLentOut = ({ lentOut, committed, limitAmount }: Full): boolean =>
  lentOut === true && committed < limitAmount;

function borrowText(reason: Full): string {
  if (isLentOut(reason)) return ', others are lent out';
  const borrowed = borrowedOf(reason);
  const more = borrowed > 0 ? ` and ${bareAmountText(borrowed, reason.unit)} borrowed` : '';
  return reason.lentOut ? `${more}, no more to borrow now` : more;
}

/** `12 CPU`, `6 GiB memory`. */
function wholeText(
  { limitAmount, unit }: Pick<LimitFacts, 'limitAmount' | 'unit'>,
  currency: string,
): string {
  const whole = amountText(limitAmount, unit, currency);
  const { resource = '' } = UNIT_TEXTS[unit];
  return whole.endsWith(resource) ? whole : `${whole} ${resource}`;
}

const resourceText = ({ unit }: CodedReason<'CAPACITY_FULL'>): string => UNIT_TEXTS[unit].resource ?? 'room';

type Starts = CodedReason<'WINDOW_FULL'>;

export const windowFull: ReasonText<Starts> = {
  headline: (reason, { nowMs, currency }) =>
    fitted(reason.subjectLabel, (label, detail) => {
      const opens = opensText(reason, detail, nowMs);
      return reason.limitAmount === 1
        ? `The only job start of ${label} is used up${opens}.`
        : `All ${amountText(reason.limitAmount, reason.unit, currency)} of ${label} are used up${opens}.`;
    }),
  discreetHeadline: () => 'Too many CI jobs were started lately: wait until more may start.',
  line: (reason, currency) => {
    const used = bareAmountText(reason.committed, reason.unit);
    return `${limitLabelOf(reason)}: ${used} of ${amountText(reason.limitAmount, reason.unit, currency)}${duringText(reason)}`;
  },
  advice: windowAdvice,
  faultless: true,
};

function opensText({ resetsAtMs, zone }: Starts, detail: Detail, nowMs: number): string {
  if (resetsAtMs === undefined || zone === undefined || detail === 'none') return '';
  return detail === 'instant'
    ? `: more from ${untilText(resetsAtMs, zone, nowMs)}`
    : `: more ${relativeText(nowMs, resetsAtMs)}`;
}

function windowAdvice({ resetsAtMs, zone }: Starts, { disclosure, nowMs }: AdviceContext): readonly string[] {
  if (resetsAtMs === undefined || zone === undefined) {
    return ['Retrying will fail again: this limit never resets, it has to be raised.'];
  }
  const when =
    disclosure === 'none' ? 'when the next window opens' : `after ${untilText(resetsAtMs, zone, nowMs)}`;
  const advice = [`Retrying now will fail again. It will work ${when}, or with a higher limit.`];
  return resetsAtMs - nowMs > AUTOMATIC_RETRY_WITHIN_MS ? advice : [...advice, AUTOMATIC_RETRY];
}

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
  // An overdraft of the last period set this to 0, not an edit.
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
