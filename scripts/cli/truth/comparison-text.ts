import type { FindingKind, ProofFinding } from '../../../functions/core/truth/index.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { type Paint, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { shadowCount } from '../report/shadow-words.ts';
import type { ActReport } from './act-on-verdicts.ts';
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

/** Says if rejections were enforced and all jobs had an admission request. @param zone - of the times */
export function proofText(comparison: Comparison, zone: string, paint: Paint): string {
  const { figures, unadmittedShare, sinceMs, unasked, runners } = comparison;
  const { compared, rejected, rejectedRan, admitted, admittedRan, ran, unadmitted, unseen } = figures;
  const judged = (bad: number, text: string): string => (bad === 0 ? paint.good(text) : paint.bad(text));
  const share =
    unadmittedShare === undefined ? '' : `, ${(unadmittedShare * 100).toFixed(unadmitted === 0 ? 0 : 2)} %`;
  const notes = [
    figures.outOfScope > 0
      ? `${shadowCount(figures.outOfScope)} jobs ran on runners out of the controller's scope: GitLab asks nobody about them.`
      : undefined,
    unasked > 0
      ? `${shadowCount(unasked)} jobs were not compared: their project is not known, or there were too many (--max).`
      : undefined,
    RUNNER_NOTES[runners],
  ];
  return [
    paint.dim(`${shadowCount(compared)} jobs compared with GitLab, since ${instantText(sinceMs, zone)}`),
    judged(
      rejectedRan,
      `${shadowCount(rejected - rejectedRan)} of ${shadowCount(rejected)} rejected jobs did not run.`,
    ),
    `${shadowCount(admittedRan)} of ${shadowCount(admitted)} admitted jobs have run or run.`,
    judged(
      unadmitted,
      `${shadowCount(unadmitted)} of ${shadowCount(ran)} jobs ran without an admission${share}; of ${shadowCount(unseen)} there is no record.`,
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

export function findingsText(findings: readonly ProofFinding[], paint: Paint, columns: number): string {
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
  return more > 0 ? `${text}${paint.dim(`… and ${shadowCount(more)} more: --json has them all`)}\n` : text;
}

export function actReportText({ tally, left }: ActReport, paint: Paint): string {
  const { settled, corrected, released, expired, bypass, unchanged, undecided } = tally;
  const done = [
    [settled, 'settled'],
    [corrected, 'corrected'],
    [released, 'released'],
    [expired, 'expired'],
    [bypass, 'charged as bypass'],
    [unchanged, 'done by somebody else meanwhile'],
  ] as const;
  const told = done.filter(([jobs]) => jobs > 0).map(([jobs, what]) => `${shadowCount(jobs)} ${what}`);
  const notes = [
    undecided > 0 ? `${shadowCount(undecided)} could not be written: run it again.` : undefined,
    left.bypass > 0
      ? `${shadowCount(left.bypass)} jobs without a record are left to the sweep, which charges them by the limits of now; --charge-bypass charges them by --policy, --limits and --directory.`
      : undefined,
    left.expiry > 0
      ? `${shadowCount(left.expiry)} holds of jobs GitLab does not know stay: the token may not list runners, so it may not see these jobs either.`
      : undefined,
    left.tooMany > 0 ? `${shadowCount(left.tooMany)} more were not touched: run it again.` : undefined,
  ];
  return [
    paint.good(told.length === 0 ? 'Nothing was written.' : `${told.join(', ')}.`),
    ...notes.filter((note) => note !== undefined).map(paint.warn),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

const durations = ({ chargedSeconds, ranSeconds }: ProofFinding): string =>
  chargedSeconds === undefined && ranSeconds === undefined
    ? ''
    : `${chargedSeconds ?? '–'} → ${ranSeconds ?? '–'}`;
