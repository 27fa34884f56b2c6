import { moneyText } from '../../../policies/text/money-text.ts';
import type { ShadowReport } from './shadow-report.ts';

/** `9,102` */
export const count = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

export const money = (micros: number, currency: string): string =>
  `${moneyText(micros, 'nearest')} ${currency}`;

export const day = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The report in one sentence: `37 of 9,102 jobs would have failed`. */
export function verdictSentence({ totals, currency }: ShadowReport): string {
  const { jobs, wouldFail, costMicros } = totals;
  const share = jobs === 0 || wouldFail === 0 ? '' : ` (${shareText(wouldFail / jobs)})`;
  const cost = wouldFail === 0 ? '' : `, ${money(costMicros, currency)} of work`;
  return `${count(wouldFail)} of ${count(jobs)} jobs would have failed${share}${cost}`;
}

export function naiveSentence({ totals }: ShadowReport): string | undefined {
  if (totals.naive === undefined) return undefined;
  return `Counted naively it is ${count(totals.naive)}: there every job that ran uses up its limits, also one that would have failed.`;
}

/** What is in neither count. */
export function apartSentence({ totals }: ShadowReport): string | undefined {
  const parts = [
    totals.rejected > 0 ? `${count(totals.rejected)} rejected already` : undefined,
    totals.exempt > 0 ? `${count(totals.exempt)} exempt from a rule` : undefined,
    totals.softLimit > 0 ? `${count(totals.softLimit)} past a soft limit` : undefined,
    totals.missingPassed > 0 ? `${count(totals.missingPassed)} let pass without a field` : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : `Counted apart: ${parts.join(', ')}.`;
}

const shareText = (share: number): string =>
  share < 0.001 ? 'less than 0.1 %' : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
