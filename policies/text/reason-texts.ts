import { STATELESS_TEXTS } from '../kinds/kinds.ts';
import type { LimitFacts } from '../limits/limit.ts';
import type { CodedReason, Reason, Violation } from '../reason.ts';
import { unitRow } from '../unit.ts';
import {
  amountText,
  bareAmountText,
  limitLabelOf,
  limitName,
  limitNameFirst,
  UNIT_TEXTS,
} from '../unit-texts.ts';
import { variableOfField } from '../variables/compared-value.ts';
import { relativeText, untilText } from './edge-text.ts';
import { cutLine, fitted, oneLine, plain, shortened } from './plain-text.ts';
import type { AdviceContext, Disclosure, HeadlineContext, ReasonText } from './reason-text.ts';

/** Texts about limits, break-glasses and the system itself; those of rules are with their kinds. */
const OWN_TEXTS: {
  readonly [Code in Exclude<Reason['code'], keyof typeof STATELESS_TEXTS>]: ReasonText<CodedReason<Code>>;
} = {
  BUDGET_EXHAUSTED: {
    headline: (reason, { currency, nowMs }) =>
      fitted(reason.subjectLabel, (label) => {
        const { committed, limitAmount, asked, unit, resetsAtMs } = reason;
        const name = limitNameFirst(reason);
        const [is, has] = name.endsWith('s') ? ['are', 'have'] : ['is', 'has'];
        const whole = amountText(limitAmount, unit, currency);
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
  },
  CONCURRENCY_FULL: {
    headline: (reason) =>
      fitted(reason.subjectLabel, (label) =>
        isLentOut(reason)
          ? `Other groups use the CI job slots that ${label} lends: wait until one is free.`
          : `All CI job slots of ${label} (${bareAmountText(reason.limitAmount, reason.unit)}) are taken: wait until a job there has finished.`,
      ),
    discreetHeadline: () => 'Too many CI jobs are running: wait until one has finished.',
    line: (reason) => {
      const { committed, limitAmount, unit } = reason;
      return `${limitLabelOf(reason)}: ${bareAmountText(committed, unit)} of ${bareAmountText(limitAmount, unit)} concurrent jobs${borrowText(reason)}`;
    },
    advice: () => ['A retry will work as soon as one of the running jobs has finished.', AUTOMATIC_RETRY],
    faultless: true,
  },
  CAPACITY_FULL: {
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
  },
  WINDOW_FULL: {
    headline: ({ limitAmount, unit, resetsAtMs, subjectLabel }, { nowMs }) =>
      fitted(subjectLabel, (label) => {
        const more =
          resetsAtMs === undefined ? '' : `; more are available ${relativeText(nowMs, resetsAtMs)}`;
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
  },
  EXCEEDS_LIMIT_ALONE: {
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
    line: (reason, currency) =>
      `${limitLabelOf(reason)}: ${limitName(reason)} ${wholeText(reason, currency)}`,
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
  },
  SOFT_LIMIT: {
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
  },
  BREAK_GLASS: {
    headline: ({ why }) =>
      fitted(why.replace(/[.\s]+$/, ''), (short) => `Admitted by break-glass, past its limits: ${short}.`),
    discreetHeadline: () => 'Admitted by break-glass.',
    line: ({ breakGlass: id, why }) =>
      `admitted by break-glass ${shortened(oneLine(id), ID_CHARACTERS_MAX)}: ${shortened(oneLine(why), WHY_CHARACTERS_MAX)}`,
    advice: () => ['The job counts in all its limits, its owners are notified, and its use is reviewed.'],
    faultless: true,
  },
  FIELD_MISSING: {
    headline: ({ field }) =>
      isVariable(field)
        ? `Variable ${fieldName(field)} has no readable value, and a rule needs it.`
        : `GitLab did not send the job's ${fieldName(field).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}, and a rule needs it.`,
    line: ({ field }) =>
      isVariable(field)
        ? `variable ${fieldName(field)}: not set, not sent, masked, a file, or not a quantity`
        : `${fieldName(field)}: not sent by GitLab`,
    advice: ({ field }) => {
      const remedy = isVariable(field)
        ? `Set the variable ${fieldName(field)} to plain text: not masked, and not of type file.`
        : FIELD_REMEDIES.get(field);
      return remedy === undefined
        ? [`Retrying will fail again: ${SHOW_IT}`]
        : [`Retrying will fail again. ${remedy}`, `If it is there already, ${SHOW_IT}`];
    },
    faultless: true,
  },
  CONTROLLER_ERROR: {
    headline: () => 'The system that admits CI jobs failed on this job. The job is not the cause.',
    line: () => 'a rule could not be evaluated, and its on_error rejects such jobs',
    advice: () => [`A retry may work once the system has recovered. If it does not, ${SHOW_IT}`],
    faultless: true,
  },
};

/** Marked as pure, so that bundles without texts leave it out. */
export const REASON_TEXTS: { readonly [Code in Reason['code']]: ReasonText<CodedReason<Code>> } =
  /* @__PURE__ */ Object.assign({}, OWN_TEXTS, STATELESS_TEXTS);

export const textsFor = (reason: Reason): ReasonText<Reason> => REASON_TEXTS[reason.code];

export const headline = (reason: Reason, context: HeadlineContext): string =>
  cutLine(textsFor(reason).headline(reason, context));

export const discreetHeadline = (reason: Reason): string => {
  const texts = textsFor(reason);
  return cutLine(texts.discreetHeadline?.(reason) ?? texts.headline(reason, { currency: '', nowMs: 0 }));
};

export const reasonLine = (reason: Reason, currency: string): string =>
  plain(textsFor(reason).line(reason, currency));

export const discreetReasonLine = (reason: Reason, currency: string): string =>
  'limitAmount' in reason ? `${limitLabelOf(reason)}: ${limitName(reason)}` : reasonLine(reason, currency);

export const retryAdvice = (reason: Reason, disclosure: Disclosure, nowMs: number): readonly string[] =>
  textsFor(reason).advice(reason, { disclosure, nowMs }).map(plain);

const HARDNESS: Readonly<Partial<Record<Reason['code'], number>>> = {
  FIELD_MISSING: 5,
  EXCEEDS_LIMIT_ALONE: 4,
  // These open at a time; the one that opens last binds.
  GROUP_FROZEN: 3,
  BUDGET_EXHAUSTED: 3,
  WINDOW_FULL: 3,
  CONTROLLER_ERROR: 2,
  CAPACITY_FULL: 1,
  CONCURRENCY_FULL: 1,
  SOFT_LIMIT: 0,
  BREAK_GLASS: 0,
};
/** No wait helps against any other reason: the job has to be changed. */
const HARDEST = 6;

const rankHardness = ({ code }: Reason): number => HARDNESS[code] ?? HARDEST;

export function bindingFirst(violations: readonly [Violation, ...Violation[]]): {
  readonly binding: Violation;
  readonly others: readonly Violation[];
} {
  let [binding] = violations;
  for (const each of violations) if (isHarder(each.reason, binding.reason)) binding = each;
  return { binding, others: violations.filter((each) => each !== binding) };
}

const isHarder = (one: Reason, other: Reason): boolean =>
  (rankHardness(one) - rankHardness(other) || opensAtMs(one) - opensAtMs(other)) > 0;

/** A reason without a time does not end on its own. */
function opensAtMs(reason: Reason): number {
  if (reason.code === 'GROUP_FROZEN') return reason.untilMs ?? Number.POSITIVE_INFINITY;
  return 'limitAmount' in reason ? (reason.resetsAtMs ?? Number.POSITIVE_INFINITY) : 0;
}

function waitAdvice({ resetsAtMs, zone = 'UTC' }: LimitFacts, { disclosure, nowMs }: AdviceContext): string {
  if (resetsAtMs === undefined)
    return 'Retrying will fail again: this limit never resets, it has to be raised.';
  const when = disclosure === 'none' ? 'in the next period' : `after ${untilText(resetsAtMs, zone, nowMs)}`;
  return `Retrying now will fail again. It will work ${when}, or with a higher limit.`;
}

const lowerAdvice = ({ unit }: LimitFacts): string => `${UNIT_TEXTS[unit].lower} ask for a higher limit.`;

const duringText = ({ periodLabel }: Pick<LimitFacts, 'periodLabel'>): string =>
  periodLabel === undefined ? '' : ` for ${oneLine(periodLabel)}`;

function wholeText({ limitAmount, unit, overdrawn, ...facts }: LimitFacts, currency: string): string {
  const whole = `${amountText(limitAmount, unit, currency)}${duringText(facts)}`;
  if (overdrawn === undefined) return whole;
  return `${whole}, after an overdraft of ${amountText(overdrawn, unit, currency)}`;
}

/** `retry:when` accepts every failure reason of GitLab's, the router's included. */
const AUTOMATIC_RETRY = 'To let GitLab retry it, add to the job:  retry: {max: 2, when: job_router_failure}';
/** GitLab retries within seconds, twice at most: for a window that opens much later both would be in vain. */
const AUTOMATIC_RETRY_WITHIN_MS = 120_000;

type Full = CodedReason<'CONCURRENCY_FULL' | 'CAPACITY_FULL'>;

const isLentOut = ({ lentOut, committed, limitAmount }: Full): boolean =>
  lentOut === true && committed < limitAmount;

function borrowText(reason: Full): string {
  if (isLentOut(reason)) return ', others are lent out';
  return reason.borrow === undefined ? '' : `, may borrow ${bareAmountText(reason.borrow, reason.unit)}`;
}

const resourceText = ({ unit }: LimitFacts): string => UNIT_TEXTS[unit].resource ?? 'room';

const softText = (reason: CodedReason<'SOFT_LIMIT'>, currency: string): string =>
  `${bareAmountText(reason.committed, reason.unit)} + ${bareAmountText(reason.asked, reason.unit, 'up')} of ${wholeText(reason, currency)}`;

const ID_CHARACTERS_MAX = 60;
const WHY_CHARACTERS_MAX = 200;

const FIELD_CHARACTERS_MAX = 40;
const SHOW_IT = 'show this message to the team that runs CI.';

const FIELD_REMEDIES = new Map(
  Object.entries({
    image: 'Name an image in the job.',
    pullPolicies: 'Name a pull policy in the job (image:pull_policy).',
    dockerUser: 'Name a user in the job (image:docker:user).',
    kubernetesUser: 'Name a user in the job (image:kubernetes:user).',
  }),
);

const isVariable = (field: string): boolean =>
  field.startsWith('KUBERNETES_') || variableOfField(field) !== undefined;

const fieldName = (field: string): string =>
  shortened(oneLine(variableOfField(field) ?? field), FIELD_CHARACTERS_MAX);
