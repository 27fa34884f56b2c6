import { instantText } from '../../../policies/text/edge-text.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';
import type { AgreementCause, BudgetAgreement } from '../../core/usage/index.ts';

interface AgreementTold {
  /** `fits`: all comparable figures agree. `differs`: someone should investigate. */
  readonly tone: 'fits' | 'differs';
  /** One sentence or two. */
  readonly text: string;
}

/** For page and command line. @param zone - of the recount's time */
export function agreementText(
  { unit, counterAmount, usageAmount, cause, records }: BudgetAgreement,
  currency: string,
  zone: string,
): AgreementTold {
  const told = (whole: number): string => amountText(whole, unit, currency);
  const beyond = records?.counterBeyond;
  const when = records && instantText(records.recountedAtMs, zone);
  if (cause === undefined && beyond === 0)
    return { tone: 'fits', text: `Counter = usage = statement (recounted ${when}).` };
  const usage =
    cause === undefined
      ? 'Counter = usage.'
      : `The counter has ${told(Math.abs(counterAmount - usageAmount))} ${counterAmount > usageAmount ? 'more' : 'less'} than the days of usage: ${WHY[cause]}.`;
  const statement =
    records === undefined
      ? 'Not recounted in this period yet; that takes a day, and a week in a large table.'
      : beyond === undefined
        ? `The recount of ${when} found more differences than it lists: see tollgate rebuild.`
        : beyond === 0
          ? `Counter = statement (recounted ${when}).`
          : `It had ${told(Math.abs(beyond))} ${beyond > 0 ? 'more' : 'less'} than the records that statements are made of (recounted ${when}): see tollgate rebuild.`;
  const fits = cause === undefined && (records === undefined || beyond === 0);
  return { tone: fits ? 'fits' : 'differs', text: `${usage} ${statement}` };
}

const WHY: Readonly<Record<AgreementCause, string>> = {
  other_zone: 'the limit begins its days in another time zone than usage does',
  not_added_up: 'jobs that were decided just now, or corrections by hand',
  not_counted: 'jobs from before this limit counted, or from while it was off',
};
