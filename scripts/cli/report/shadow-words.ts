import type {
  ArmedReport,
  ShadowReport,
  ZonedSpan,
} from '../../../functions/answers/rollout/shadow-report.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { moneyText } from '../../../policies/unit-texts.ts';

export const shadowCount = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

export const money = (micros: number, currency: string): string => `${moneyText(micros)} ${currency}`;

export const spanText = ({ sinceMs, untilMs, zone }: ZonedSpan): string =>
  `${instantText(sinceMs, zone)} to ${instantText(untilMs, zone)}`;

export function watchedSentence({ totals, currency }: ShadowReport): string {
  const { jobs, wouldFail, costMicros } = totals;
  const cost = wouldFail === 0 ? '' : `, ${money(costMicros, currency)} of work`;
  return `${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed by what only watches${shareText(wouldFail, jobs)}${cost}.`;
}

const shareText = (wouldFail: number, jobs: number): string => {
  if (jobs === 0 || wouldFail === 0) return '';
  const share = wouldFail / jobs;
  return ` (${share < 0.001 ? 'less than 0.1' : (share * 100).toFixed(share < 0.1 ? 1 : 0)} %)`;
};

export const armedSentence = ({ jobs, wouldFail }: Pick<ArmedReport, 'jobs' | 'wouldFail'>): string =>
  `If armed now: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed${shareText(wouldFail, jobs)}, by the rules and limits of now.`;
