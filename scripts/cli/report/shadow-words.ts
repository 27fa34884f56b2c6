import type {
  ArmedFigures,
  ShadowReport,
  ZonedSpan,
} from '../../../functions/answers/rollout/shadow-report.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { moneyText } from '../../../policies/unit-texts.ts';

/** `9,102` */
export const shadowCount = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

export const money = (micros: number, currency: string): string => `${moneyText(micros)} ${currency}`;

/** `1 Nov 2026 00:00 Europe/Berlin to 21 Nov 2026 13:07 Europe/Berlin` */
export const spanText = ({ sinceMs, untilMs, zone }: ZonedSpan): string =>
  `${instantText(sinceMs, zone)} to ${instantText(untilMs, zone)}`;

/** Rules and limits that only watch, in one sentence: `37 of 9,102 jobs would have failed by what only watches`. */
export function verdictSentence({ totals, currency }: ShadowReport): string {
  const { jobs, wouldFail, costMicros } = totals;
  const share = jobs === 0 || wouldFail === 0 ? '' : ` (${shareText(wouldFail / jobs)})`;
  const cost = wouldFail === 0 ? '' : `, ${money(costMicros, currency)} of work`;
  return `${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed by what only watches${share}${cost}`;
}

/** Enforced rejections, and whether GitLab obeyed. */
export function rejectedSentences({ totals }: ShadowReport): readonly string[] {
  const { rejected, ranRejected } = totals;
  const failed = rejected - ranRejected;
  return [
    ...(ranRejected > 0
      ? [
          `${shadowCount(ranRejected)} ${ranRejected === 1 ? 'job' : 'jobs'} ran although rejected: the controller was in dry_run and GitLab followed no answer, or they passed it by.`,
        ]
      : []),
    ...(failed > 0
      ? [
          `${jobsText(failed)} rejected and not known to have run: GitLab failed them, or these are the books of a pilot, which hears of no end.`,
        ]
      : []),
  ];
}

const jobsText = (jobs: number): string => (jobs === 1 ? '1 job was' : `${shadowCount(jobs)} jobs were`);

/** Jobs in neither count. */
export function apartSentence({ totals }: ShadowReport): string | undefined {
  const parts = [
    totals.unasked > 0 ? `${shadowCount(totals.unasked)} never asked about (bypass)` : undefined,
    totals.exempt > 0 ? `${shadowCount(totals.exempt)} exempt from a rule` : undefined,
    totals.softLimit > 0 ? `${shadowCount(totals.softLimit)} past a soft limit` : undefined,
    totals.missingPassed > 0 ? `${shadowCount(totals.missingPassed)} let pass without a field` : undefined,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : `Counted apart: ${parts.join(', ')}.`;
}

const shareText = (share: number): string =>
  share < 0.001 ? 'less than 0.1 %' : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

// Text of the result with an enabled controller.

/** `If armed now: 2 of 14 jobs would have failed (14 %)`, and the number of retries among them. */
export function armedSentence({ jobs, wouldFail, repeats }: Omit<ArmedFigures, 'rows'>): string {
  const share = jobs === 0 || wouldFail === 0 ? '' : ` (${shareText(wouldFail / jobs)})`;
  const again =
    repeats === 0
      ? ''
      : `; ${shadowCount(repeats)} of them ${repeats === 1 ? 'is' : 'are'} a job tried again`;
  return `If armed now: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed${share}${again}, by the rules and limits of now.`;
}

/** Limits of recorded runs; empty if nothing would fail. */
export const retrySentence = ({ wouldFail }: Pick<ArmedFigures, 'wouldFail'>): string | undefined =>
  wouldFail === 0
    ? undefined
    : 'GitLab tries a rejected job again where its "retry:" allows it: one rejection may become up to three jobs.';
