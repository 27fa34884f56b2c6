import type { LimitFacts, Reason } from '../reason.ts';
import { amountText, bareAmountText } from './amount-text.ts';
import { relativeText } from './duration-text.ts';
import { instantText } from './instant-text.ts';
import { oneLine, shortened } from './plain-text.ts';

/** Job lists and chat previews show about this much. */
export const HEADLINE_CHARACTERS_MAX = 120;
const LABEL_CHARACTERS_MIN = 12;

export interface HeadlineContext {
  readonly currency: string;
  readonly nowMs: number;
}

/** The first line: what stopped the job, complete on its own. */
export function headline(reason: Reason, context: HeadlineContext): string {
  switch (reason.code) {
    case 'BUDGET_EXHAUSTED':
      return within(
        reason,
        (label, detail) => `${budgetLine(reason, label, context)}${reset(reason, detail, context)}`,
      );
    case 'CONCURRENCY_FULL':
      return within(
        reason,
        (label) =>
          `All ${reason.limitAmount} CI job slots of ${label} are taken: wait until a job there has finished.`,
      );
    case 'EXCEEDS_LIMIT_ALONE':
      return within(reason, (label, detail) => aloneLine(reason, label, detail, context));
    case 'IMAGE_NOT_ALLOWED': {
      const image = shortened(oneLine(reason.image), 70);
      return `Container image "${image}" is not allowed here.`;
    }
    case 'FIELD_MISSING':
      return `GitLab did not tell the job's ${oneLine(reason.field).slice(0, 40)}, and a rule needs it.`;
    case 'CONTROLLER_ERROR':
      return 'The system that admits CI jobs failed on this job. The job is not the cause.';
  }
}

/** The same where no level and no number may be told. */
export function discreetHeadline(reason: Reason): string {
  switch (reason.code) {
    case 'BUDGET_EXHAUSTED':
      return reason.unit === 'micros'
        ? 'A CI budget has no room for this job.'
        : 'A CI minutes quota has no room for this job.';
    case 'CONCURRENCY_FULL':
      return 'Too many CI jobs are running at once: wait until one has finished.';
    case 'EXCEEDS_LIMIT_ALONE':
      return 'This job is larger than a CI limit allows.';
    case 'IMAGE_NOT_ALLOWED':
    case 'FIELD_MISSING':
    case 'CONTROLLER_ERROR':
      return headline(reason, { currency: '', nowMs: 0 });
  }
}

type Spent = Extract<Reason, { code: 'BUDGET_EXHAUSTED' }>;
type Alone = Extract<Reason, { code: 'EXCEEDS_LIMIT_ALONE' }>;
type Detail = 'instant' | 'relative' | 'none';

export const budgetName = ({ unit }: LimitFacts): string =>
  unit === 'micros' ? 'CI budget' : unit === 'seconds' ? 'CI minutes' : 'limit of CI jobs at once';

function budgetLine(reason: Spent, label: string, { currency }: HeadlineContext): string {
  const { committed, limitAmount, asked, unit, periodLabel } = reason;
  const whole = amountText(limitAmount, unit, currency);
  const during = periodLabel === undefined ? '' : ` for ${oneLine(periodLabel)}`;
  if (committed >= limitAmount) {
    const are = unit === 'micros' ? 'is' : 'are';
    return `${budgetName(reason)} of ${label} ${are} used up: ${bareAmountText(committed, unit, 'nearest')} of ${whole}${during}`;
  }
  const have = unit === 'micros' ? 'has' : 'have';
  // What is left is never told as more than it is, nor what is needed as less.
  const left = `${bareAmountText(limitAmount - committed, unit, 'down')} of ${whole} left${during}`;
  return `${budgetName(reason)} of ${label} ${have} ${left}, this job needs ${bareAmountText(asked, unit, 'up')}`;
}

function reset({ resetsAtMs, zone }: LimitFacts, detail: Detail, { nowMs }: HeadlineContext): string {
  if (resetsAtMs === undefined || zone === undefined || detail === 'none') return '.';
  const relative = relativeText(nowMs, resetsAtMs);
  return ` (resets ${detail === 'instant' ? `${instantText(resetsAtMs, zone)}, ${relative}` : relative}).`;
}

function aloneLine(reason: Alone, label: string, detail: Detail, context: HeadlineContext): string {
  const { asked, limitAmount, unit, periodLabel } = reason;
  const during = periodLabel === undefined || detail === 'none' ? '' : ` for ${periodLabel}`;
  if (limitAmount === 0)
    return `CI jobs of ${label} are blocked: the ${budgetName(reason)}${during} is set to 0.`;
  const needs = amountText(asked, unit, context.currency, 'up');
  return `This job needs about ${needs}, more than the whole ${budgetName(reason)} of ${label}: ${amountText(limitAmount, unit, context.currency)}${during}.`;
}

/** Says as much as fits; at last the subject's name is shortened, because the numbers matter more. */
function within({ subjectLabel }: LimitFacts, line: (label: string, detail: Detail) => string): string {
  const label = oneLine(subjectLabel);
  for (const detail of ['instant', 'relative', 'none'] as const) {
    const text = line(label, detail);
    if (text.length <= HEADLINE_CHARACTERS_MAX) return text;
  }
  const over = line(label, 'none').length - HEADLINE_CHARACTERS_MAX;
  const text = line(shortened(label, Math.max(LABEL_CHARACTERS_MIN, label.length - over)), 'none');
  return text.length <= HEADLINE_CHARACTERS_MAX ? text : `${text.slice(0, HEADLINE_CHARACTERS_MAX - 1)}…`;
}
