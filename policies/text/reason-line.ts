import type { Reason } from '../reason.ts';
import { amountText, bareAmountText } from './amount-text.ts';
import { budgetName } from './headline.ts';
import { oneLine, shortened } from './plain-text.ts';

const LABEL_CHARACTERS_MAX = 100;
const IMAGE_CHARACTERS_MAX = 200;

/** One reason with its numbers, for the lines under the first. */
export function reasonLine(reason: Reason, currency: string): string {
  switch (reason.code) {
    case 'BUDGET_EXHAUSTED': {
      const { committed, settled, asked, limitAmount, unit, periodLabel } = reason;
      const bare = (amount: number): string => bareAmountText(amount, unit, 'nearest');
      const spent = `${bare(settled)} spent + ${bare(Math.max(0, committed - settled))} held`;
      const short = amountText(committed + asked - limitAmount, unit, currency, 'up');
      const during = periodLabel === undefined ? '' : ` for ${periodLabel}`;
      return `${labelOf(reason)}: ${spent} of ${amountText(limitAmount, unit, currency)}${during}; ${short} missing`;
    }
    case 'CONCURRENCY_FULL':
      return `${labelOf(reason)}: ${reason.committed} of ${reason.limitAmount} jobs at once`;
    case 'EXCEEDS_LIMIT_ALONE': {
      const limit = amountText(reason.limitAmount, reason.unit, currency);
      return `${labelOf(reason)}: ${budgetName(reason)} ${limit}${reason.periodLabel === undefined ? '' : ` for ${reason.periodLabel}`}`;
    }
    case 'IMAGE_NOT_ALLOWED':
      return imageLine(reason);
    case 'FIELD_MISSING':
      return `${oneLine(reason.field)}: not sent by GitLab`;
    case 'CONTROLLER_ERROR':
      return 'a rule failed and is set to reject then';
  }
}

/** Only whose limit it is. */
export const discreetReasonLine = (reason: Reason): string =>
  'subjectLabel' in reason ? `${labelOf(reason)}: ${budgetName(reason)}` : '';

function imageLine({ image, denied }: Extract<Reason, { code: 'IMAGE_NOT_ALLOWED' }>): string {
  const name = `image "${shortened(oneLine(image), IMAGE_CHARACTERS_MAX)}"`;
  const why =
    denied === undefined
      ? 'matches no allowed pattern'
      : `is denied by ${shortened(oneLine(denied), LABEL_CHARACTERS_MAX)}`;
  // Variables are expanded by the runner, after the decision.
  return `${name} ${why}${image.includes('$') ? '; it was compared as written, with its variable not yet expanded' : ''}`;
}

const labelOf = ({ subjectLabel }: { readonly subjectLabel: string }): string =>
  shortened(oneLine(subjectLabel), LABEL_CHARACTERS_MAX);
