import type { Rules } from '../../../functions/core/admission/judge.ts';
import { type LedgerClock, silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import { createGitLab } from '../../../functions/core/gitlab/rest-gitlab.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import type { LedgerStore } from '../../../functions/core/ledger/store.ts';
import { type ConcludeTally, concludeAll } from '../../../functions/core/truth/conclude.ts';
import type { FindingKind, ProofFinding } from '../../../functions/core/truth/enforcement-proof.ts';
import { settleTruths } from '../../../functions/core/truth/settle-truths.ts';
import type { JobVerdict } from '../../../functions/core/truth/verdict.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { EXIT, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { orElse, text, toggle, type ValuesOf, whole } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { firstRows } from '../../terminal/table.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { openLedger, openToRepair, withOpened } from '../open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, readRules } from '../rules-flags.ts';
import { type Comparison, compareWithGitLab, type HoldComparison } from './compare-with-gitlab.ts';
import { agreedTo } from './confirm.ts';
import { callsTo, neededGitLab, readGitLabPlace } from './gitlab-flags.ts';
import { progressOf, watched } from './progress.ts';

const ASKED_MAX = 100_000;
/** Bounds the writing to some minutes; the command can run again for the rest. */
const ACT_MAX = 10_000;

const FLAGS = {
  ...neededGitLab(),
  since: orElse(
    text('<time>', `compares live jobs and those since then: 24h, 7d, a day or an instant. ${SPAN_HELP}`),
    '24h',
  ),
  max: orElse(text('<number>', 'jobs GitLab is asked about one by one, at most', whole(0, ASKED_MAX)), 5_000),
  ...TABLE_FLAGS,
};
const JSON_HELP = 'the comparison as one JSON object';
const AT = '--gitlab https://gitlab.example.com --token-file token --ledger tollgate-ledger';

const reconcileCommand = command({
  name: 'reconcile',
  about: `Compares live jobs and those that ended lately with GitLab, lists every difference with what the sweep would do about it, and
proves the enforcement like tollgate proof. Then it asks, and does what the sweep would do: settles, corrects, releases and expires, at
most ${shadowCount(ACT_MAX)} jobs. The sweep runs every minute and needs no help; use this for a longer time than the sweep looks
back, or if it does not run.`,
  flags: {
    'dry-run': toggle('writes nothing'),
    yes: toggle('does not ask before it writes'),
    'charge-bypass': toggle(
      'also charges jobs that ran and have no record, by --policy, --limits and --directory',
    ),
    'charge-unknown': toggle('an expired hold is charged what it held, instead of nothing'),
    ...RULES_FLAGS,
    ...FLAGS,
  },
  json: JSON_HELP,
  examples: [`tollgate reconcile ${AT} --dry-run`, `tollgate reconcile ${AT} --since 7d --yes`],
  exits: {
    0: 'no differences, or all of them repaired',
    1: 'GitLab or the ledger does not answer',
    2: 'differences are left',
  },
  run: async ({ flags: values }, io) => {
    if (values['dry-run'] && values.yes)
      throw new UsageError('--yes: there is nothing to agree to with --dry-run');
    // Validate before asking GitLab: an invalid document must not charge.
    const rules = values['charge-bypass']
      ? { ...readRules(values, io), estimator: timeoutEstimator }
      : undefined;
    const { comparison, verdicts } = await compare(values, io);
    const paint = paintWhen(io.colours);
    const differences = comparison.findings.filter(({ remedy }) => remedy !== 'none');
    if (!values.json)
      io.out(
        `${proofText(comparison, rollupZone(io), paint)}\n${findingsText(differences, paint, io.columns)}`,
      );
    const tell = (acted: ActReport | undefined): void => {
      if (values.json)
        io.out(`${JSON.stringify({ ...comparison, ...(acted !== undefined && { acted }) })}\n`);
      else if (acted !== undefined) io.out(`\n${actReportText(acted, paint)}`);
    };
    if (values['dry-run'] || verdicts.length === 0) {
      tell(undefined);
      return differences.length > 0 ? EXIT.wouldReject : EXIT.ok;
    }
    const question = `Write what the sweep would do about ${verdicts.length} jobs?`;
    const remedy =
      'reconcile: nobody can be asked here; add --dry-run to look only, or --yes to write without asking';
    if (!values.yes && !(await agreedTo(io, question, remedy))) {
      tell(undefined);
      return EXIT.wouldReject;
    }
    return withOpened(openToRepair, values, io, async ({ store }) => {
      const acted = await actOn(verdicts, {
        ...{ store, rules, clock: { ...systemClock, nowMs: io.nowMs } },
        chargeUnknown: values['charge-unknown'] ? 'hold' : 'nothing',
        seesAllJobs: comparison.runners !== 'refused',
      });
      tell(acted);
      return isComplete(acted) && verdicts.length === differences.length ? EXIT.ok : EXIT.wouldReject;
    });
  },
});

const proofCommand = command({
  name: 'proof',
  about: `Checks that Tollgate is enforced: rejected jobs really failed, admitted ones ran, and GitLab asked about every job that
ran.`,
  flags: FLAGS,
  json: JSON_HELP,
  examples: [`tollgate proof ${AT} --since 7d`],
  exits: {
    0: 'proven',
    1: 'GitLab or the ledger does not answer',
    2: 'a rejected job ran or one ran without an admission',
  },
  run: async ({ flags: values }, io) => {
    const { comparison } = await compare(values, io);
    const paint = paintWhen(io.colours);
    const breaches = comparison.findings.filter(({ kind }) => kind === 'rejected_ran' || kind === 'unseen');
    if (values.json) io.out(`${JSON.stringify({ ...comparison, findings: breaches })}\n`);
    else {
      const listed = breaches.length === 0 ? '' : `\n${findingsText(breaches, paint, io.columns)}`;
      io.out(`${proofText(comparison, rollupZone(io), paint)}${listed}`);
    }
    return comparison.figures.unadmitted > 0 ? EXIT.wouldReject : EXIT.ok;
  },
});

export const commands = [reconcileCommand, proofCommand];

async function compare(values: ValuesOf<typeof FLAGS>, io: TerminalIo): Promise<HoldComparison> {
  const place = readGitLabPlace(values, io);
  const { sinceMs } = readSpan(values.since, undefined, io.nowMs(), rollupZone(io));
  const gitlab = standIn(io, createGitLab)(callsTo(place));
  const calls = progressOf('calls to GitLab', io);
  return withOpened(openLedger, values, io, async ({ store, scope }) =>
    compareWithGitLab(watched(store, progressOf('items read', io)), gitlab, {
      ...{ sinceMs, nowMs: io.nowMs(), askedMax: values.max, scope: await scope?.() },
      ...{ sleep: place.clock.sleep, onCall: calls.step },
    }),
  ).finally(calls.done);
}

// Does the sweep's work now: the same decisions, by the same code.

interface ActOptions {
  readonly store: LedgerStore;
  readonly clock: LedgerClock;
  /** The rules by which jobs without a record are charged; absent: they are left to the sweep. */
  readonly rules: Rules | undefined;
  readonly chargeUnknown: 'hold' | 'nothing';
  /** True if the token sees all jobs; otherwise a job that GitLab does not show may exist. */
  readonly seesAllJobs: boolean;
}

/** `acted` in `--json`. */
type ActReport = Awaited<ReturnType<typeof actOn>>;

/** The ledger decides: jobs that ended meanwhile stay unchanged. */
async function actOn(verdicts: readonly JobVerdict[], options: ActOptions) {
  const { store, clock, rules, chargeUnknown, seesAllJobs } = options;
  const leaves = (verdict: JobVerdict): boolean =>
    (verdict.do === 'charge' && rules === undefined) || (verdict.do === 'expire' && !seesAllJobs);
  const left = verdicts.filter(leaves);
  const acting = verdicts.filter((verdict) => !leaves(verdict));
  const tally: ConcludeTally = {
    ...{ settled: 0, released: 0, admittedYetFailed: [], expired: 0, postponed: 0 },
    ...{ corrected: 0, unchanged: 0, undecided: 0, bypass: 0 },
  };
  const ledger = createLedger({ store, clock });
  await concludeAll(acting.slice(0, ACT_MAX), {
    ...{ ledger, tally, chargeUnknown },
    chargeBypass: async (truths) => {
      if (rules === undefined) return truths.map(() => 'undecided');
      return settleTruths(truths, { ledger, currentRules: async () => rules, clock, log: silentLog });
    },
  });
  const bypass = left.filter((verdict) => verdict.do === 'charge').length;
  const tooMany = Math.max(0, acting.length - ACT_MAX);
  return { tally, left: { bypass, expiry: left.length - bypass, tooMany } };
}

const isComplete = ({ tally, left }: ActReport): boolean =>
  tally.undecided + left.bypass + left.expiry + left.tooMany === 0;

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

/** A warning for each number that is not 0. */
const notesOf = (
  notes: readonly (readonly [count: number, what: string])[],
  paint: Paint,
): readonly string[] =>
  notes.flatMap(([count, what]) => (count > 0 ? [paint.warn(`${shadowCount(count)} ${what}`)] : []));

/** Says if rejections were enforced and all jobs had an admission request. @param zone - of the times */
function proofText(comparison: Comparison, zone: string, paint: Paint): string {
  const { figures, unadmittedShare, sinceMs, unasked, runners } = comparison;
  const { rejected, rejectedRan, admitted, admittedRan, ran, unadmitted, unseen } = figures;
  const judged = (bad: number, text: string): string => (bad === 0 ? paint.good(text) : paint.bad(text));
  const share = unadmittedShare === undefined ? '' : `, ${(unadmittedShare * 100).toFixed(2)} %`;
  const note = RUNNER_NOTES[runners];
  const lines = [
    paint.dim(
      `${shadowCount(figures.compared)} jobs compared with GitLab, since ${instantText(sinceMs, zone)}`,
    ),
    judged(
      rejectedRan,
      `${shadowCount(rejected - rejectedRan)} of ${shadowCount(rejected)} rejected jobs did not run.`,
    ),
    `${shadowCount(admittedRan)} of ${shadowCount(admitted)} admitted jobs have run or run.`,
    judged(
      unadmitted,
      `${shadowCount(unadmitted)} of ${shadowCount(ran)} jobs ran without an admission${share}; of ${shadowCount(unseen)} there is no record.`,
    ),
    ...notesOf(
      [
        [
          figures.outOfScope,
          "jobs ran on runners out of the controller's scope: GitLab asks nobody about them.",
        ],
        [unasked, 'jobs were not compared: their project is not known, or there were too many (--max).'],
      ],
      paint,
    ),
    ...(note === undefined ? [] : [paint.warn(note)]),
  ];
  return `${lines.join('\n')}\n`;
}

const RUNNER_NOTES: Readonly<Record<Comparison['runners'], string | undefined>> = {
  all: undefined,
  refused:
    "The token may not list runners (it takes an administrator's): jobs nobody asked about are not seen.",
};

function findingsText(findings: readonly ProofFinding[], paint: Paint, columns: number): string {
  if (findings.length === 0) return paint.good('No differences.\n');
  const rows = findings.map((finding) => [
    ...[String(finding.jobId), finding.state ?? 'no record', finding.status ?? 'unknown'],
    finding.remedy === 'none' ? 'charged already' : finding.remedy,
    ...[
      durations(finding),
      WORDS[finding.kind],
      printable(finding.projectPath ?? `${finding.projectId ?? ''}`),
    ],
  ]);
  const titles = ['job', 'ledger', 'GitLab', 'the sweep would', 'seconds', 'why', 'project'];
  return firstRows(titles, rows, { max: 100, width: columns, dim: paint.dim });
}

function actReportText({ tally, left }: ActReport, paint: Paint): string {
  const done = [
    [tally.settled, 'settled'],
    [tally.corrected, 'corrected'],
    [tally.released, 'released'],
    [tally.expired, 'expired'],
    [tally.bypass, 'charged as bypass'],
    [tally.unchanged, 'done by somebody else meanwhile'],
  ] as const;
  const told = done.filter(([jobs]) => jobs > 0).map(([jobs, what]) => `${shadowCount(jobs)} ${what}`);
  const lines = [
    paint.good(told.length === 0 ? 'Nothing was written.' : `${told.join(', ')}.`),
    ...notesOf(
      [
        [tally.undecided, 'could not be written: run it again.'],
        [
          left.bypass,
          'jobs without a record are left to the sweep, which charges them by the limits of now; --charge-bypass charges them by --policy, --limits and --directory.',
        ],
        [
          left.expiry,
          'holds of jobs GitLab does not know stay: the token may not list runners, so it may not see these jobs either.',
        ],
        [left.tooMany, 'more were not touched: run it again.'],
      ],
      paint,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const durations = ({ chargedSeconds, ranSeconds }: ProofFinding): string =>
  chargedSeconds === undefined && ranSeconds === undefined
    ? ''
    : `${chargedSeconds ?? '–'} → ${ranSeconds ?? '–'}`;
