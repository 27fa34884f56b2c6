import type {
  ArmedFigures,
  ArmedReport,
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

/** The report in sentences, the verdict first: with an enabled controller, and by rules and limits that only watch. */
export function shadowSentences({ ifArmed, totals, currency, notes }: ShadowReport) {
  const { jobs, wouldFail, costMicros, rejected, ranRejected } = totals;
  const failed = rejected - ranRejected;
  const count = shadowCount;
  const apart = [
    [totals.unasked, 'never asked about (bypass)'],
    [totals.exempt, 'exempt from a rule'],
    [totals.softLimit, 'past a soft limit'],
    [totals.missingPassed, 'let pass without a field'],
  ] as const;
  const parts = apart.flatMap(([number, what]) => (number > 0 ? [`${count(number)} ${what}`] : []));
  const cost = wouldFail === 0 ? '' : `, ${money(costMicros, currency)} of work`;
  const armed = [
    armedSentence(ifArmed),
    retrySentence(ifArmed),
    ranRejected > 0 &&
      `${count(ranRejected)} ${ranRejected === 1 ? 'job' : 'jobs'} ran although rejected: the controller was in dry_run and GitLab followed no answer, or they passed it by.`,
    failed > 0 &&
      `Rejected and not known to have run: ${count(failed)}. GitLab failed them, or these are the books of a pilot, which hears of no end.`,
  ];
  const watched = [
    `${count(wouldFail)} of ${count(jobs)} jobs would have failed by what only watches${shareText(wouldFail, jobs)}${cost}.`,
    parts.length > 0 && `Counted apart: ${parts.join(', ')}.`,
    ...notes,
  ];
  const isText = (line: unknown): line is string => typeof line === 'string';
  return { armed: armed.filter(isText), watched: watched.filter(isText) };
}

/** ` (14 %)` */
const shareText = (wouldFail: number, jobs: number): string => {
  if (jobs === 0 || wouldFail === 0) return '';
  const share = wouldFail / jobs;
  return ` (${share < 0.001 ? 'less than 0.1' : (share * 100).toFixed(share < 0.1 ? 1 : 0)} %)`;
};

// Text of the result with an enabled controller.

/** `If armed now: 2 of 14 jobs would have failed (14 %)`, and the number of retries among them. */
export function armedSentence({ jobs, wouldFail, repeats }: Omit<ArmedFigures, 'rows'>): string {
  const again =
    repeats === 0
      ? ''
      : `; ${shadowCount(repeats)} of them ${repeats === 1 ? 'is' : 'are'} a job tried again`;
  return `If armed now: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs would have failed${shareText(wouldFail, jobs)}${again}, by the rules and limits of now.`;
}

/** Limits of recorded runs; empty if nothing would fail. */
export const retrySentence = ({ wouldFail }: Pick<ArmedFigures, 'wouldFail'>): string | undefined =>
  wouldFail === 0
    ? undefined
    : 'GitLab tries a rejected job again where its "retry:" allows it: one rejection may become up to three jobs.';

/** A line for each group and rule, below the titles. */
export const armedCells = (rows: ArmedReport['rows']): readonly (readonly string[])[] => [
  ['group', 'rule', 'limit', 'would fail', 'tried again', 'code'],
  ...rows.map((row) => [
    ...[row.group, row.rule, row.limit ?? '', shadowCount(row.jobs), shadowCount(row.repeats), row.code],
  ]),
];
