import type { Finding, FindingKind } from '../../../functions/core/truth/enforcement-proof.ts';
import { instantText } from '../../../policies/text/instant-text.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { count } from '../report/shadow-words.ts';
import type { Acted } from './act-on-verdicts.ts';
import type { Comparison } from './compare-with-gitlab.ts';

/** A screen or two; --json has all. */
const ROWS_SHOWN = 100;

const WORDS: Readonly<Record<FindingKind, string>> = {
  rejected_ran: 'rejected, and it ran',
  unseen: 'ran, and nobody asked us',
  admitted_rejected: 'admitted, and the router let it fail',
  never_started: 'held for, and it never began',
  ended: 'held for, and it is over',
  gone: 'held for, and GitLab does not know it',
  released_ran: 'given back, and it ran',
  duration: 'charged for another duration',
};

/** Whether rejections were enforced and every job that ran was asked about. @param zone - in which times are told */
export function proofText(comparison: Comparison, zone: string, paint: Paint): string {
  const { figures, unadmittedShare, sinceMs, unasked, runners } = comparison;
  const { compared, rejected, rejectedRan, admitted, admittedRan, ran, unadmitted, unseen } = figures;
  const judged = (bad: number, text: string): string => (bad === 0 ? paint.good(text) : paint.bad(text));
  const share =
    unadmittedShare === undefined ? '' : `, ${(unadmittedShare * 100).toFixed(unadmitted === 0 ? 0 : 2)} %`;
  const notes = [
    figures.outOfScope > 0
      ? `${count(figures.outOfScope)} jobs ran on runners out of the controller's scope: GitLab asks nobody about them.`
      : undefined,
    unasked > 0
      ? `${count(unasked)} jobs were not compared: their project is not known, or there were too many (--max).`
      : undefined,
    RUNNER_NOTES[runners],
  ];
  return [
    paint.dim(`${count(compared)} jobs compared with GitLab, since ${instantText(sinceMs, zone)}`),
    judged(rejectedRan, `${count(rejected - rejectedRan)} of ${count(rejected)} rejected jobs did not run.`),
    `${count(admittedRan)} of ${count(admitted)} admitted jobs have run or run.`,
    judged(
      unadmitted,
      `${count(unadmitted)} of ${count(ran)} jobs ran without an admission${share}; of ${count(unseen)} there is no record.`,
    ),
    ...notes.filter((note) => note !== undefined).map(paint.warn),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

const RUNNER_NOTES: Readonly<Record<Comparison['runners'], string | undefined>> = {
  all: undefined,
  some: 'Not all jobs of all runners could be listed: more may have run without an admission.',
  refused:
    "The token may not list runners (it takes an administrator's): jobs nobody asked about are not seen.",
};

export function findingsText(findings: readonly Finding[], paint: Paint, columns: number): string {
  if (findings.length === 0) return paint.good('No differences.\n');
  const rows = findings
    .slice(0, ROWS_SHOWN)
    .map((finding) => [
      String(finding.jobId),
      finding.state ?? 'no record',
      finding.status ?? 'unknown',
      finding.remedy === 'none' ? 'charged already' : finding.remedy,
      durations(finding),
      WORDS[finding.kind],
      printable(
        finding.projectPath ?? (finding.projectId === undefined ? '' : `project ${finding.projectId}`),
      ),
    ]);
  const titles = ['job', 'ledger', 'GitLab', 'the sweep would', 'seconds', 'why', 'project'];
  const text = table(
    titles.map((title) => ({ title })),
    rows,
    columns,
    paint.dim,
  );
  const more = findings.length - ROWS_SHOWN;
  return more > 0 ? `${text}${paint.dim(`… and ${count(more)} more: --json has them all`)}\n` : text;
}

export function actedText({ tally, left }: Acted, paint: Paint): string {
  const { settled, corrected, released, expired, bypass, unchanged, undecided } = tally;
  const done = [
    [settled, 'settled'],
    [corrected, 'corrected'],
    [released, 'released'],
    [expired, 'expired'],
    [bypass, 'charged as bypass'],
    [unchanged, 'done by somebody else meanwhile'],
  ] as const;
  const told = done.filter(([jobs]) => jobs > 0).map(([jobs, what]) => `${count(jobs)} ${what}`);
  const notes = [
    undecided > 0 ? `${count(undecided)} could not be written: run it again.` : undefined,
    left.bypass > 0
      ? `${count(left.bypass)} jobs without a record are left to the sweep, which charges them by the limits of now; --charge-bypass charges them by --policy, --limits and --directory.`
      : undefined,
    left.expiry > 0
      ? `${count(left.expiry)} holds of jobs GitLab does not know stay: the token may not list runners, so it may not see these jobs either.`
      : undefined,
    left.tooMany > 0 ? `${count(left.tooMany)} more were not touched: run it again.` : undefined,
  ];
  return [
    paint.good(told.length === 0 ? 'Nothing was written.' : `${told.join(', ')}.`),
    ...notes.filter((note) => note !== undefined).map(paint.warn),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

const durations = ({ chargedSeconds, ranSeconds }: Finding): string =>
  chargedSeconds === undefined && ranSeconds === undefined
    ? ''
    : `${chargedSeconds ?? '–'} → ${ranSeconds ?? '–'}`;
