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
import { EXIT, type ExitCode, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { orElse, text, toggle, type ValuesOf, whole } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { openLedger, openToRepair } from '../open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, type RulesFlags, readRules } from '../rules-flags.ts';
import { type Comparison, compareWithGitLab, type HoldComparison } from './compare-with-gitlab.ts';
import { confirmed } from './confirm.ts';
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
  run: async ({ flags }, io) => reconcile(flags, io),
});

interface ReconcileFlags extends ValuesOf<typeof FLAGS>, RulesFlags {
  readonly 'dry-run': boolean;
  readonly yes: boolean;
  readonly 'charge-bypass': boolean;
  readonly 'charge-unknown': boolean;
  readonly json: boolean;
}

async function reconcile(values: ReconcileFlags, io: TerminalIo): Promise<ExitCode> {
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
    if (values.json) io.out(`${JSON.stringify({ ...comparison, ...(acted !== undefined && { acted }) })}\n`);
    else if (acted !== undefined) io.out(`\n${actReportText(acted, paint)}`);
  };
  if (values['dry-run'] || verdicts.length === 0) {
    tell(undefined);
    return differences.length > 0 ? EXIT.wouldReject : EXIT.ok;
  }
  if (!values.yes) {
    const agreed = await confirmed(io, `Write what the sweep would do about ${verdicts.length} jobs?`);
    if (agreed === undefined)
      throw new UsageError(
        'reconcile: nobody can be asked here; add --dry-run to look only, or --yes to write without asking',
      );
    if (!agreed) {
      tell(undefined);
      io.err('Nothing was written.\n');
      return EXIT.wouldReject;
    }
  }
  const ledger = await standIn(io, openToRepair)(values, io);
  try {
    const acted = await actOn(verdicts, {
      store: ledger.store,
      clock: { ...systemClock, nowMs: io.nowMs },
      rules,
      chargeUnknown: values['charge-unknown'] ? 'hold' : 'nothing',
      seesAllJobs: comparison.runners !== 'refused',
    });
    tell(acted);
    return isComplete(acted) && verdicts.length === differences.length ? EXIT.ok : EXIT.wouldReject;
  } finally {
    await ledger.close();
  }
}

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
  const ledger = await standIn(io, openLedger)(values, io);
  const calls = progressOf('calls to GitLab', io);
  try {
    const store = watched(ledger.store, progressOf('items read', io));
    return await compareWithGitLab(store, gitlab, {
      sinceMs,
      nowMs: io.nowMs(),
      askedMax: values.max,
      scope: await ledger.scope?.(),
      sleep: place.clock.sleep,
      onCall: calls.step,
    });
  } finally {
    calls.done();
    await ledger.close();
  }
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
interface ActReport {
  readonly tally: ConcludeTally;
  readonly left: { readonly bypass: number; readonly expiry: number; readonly tooMany: number };
}

/** The ledger decides: jobs that ended meanwhile stay unchanged. */
async function actOn(verdicts: readonly JobVerdict[], options: ActOptions): Promise<ActReport> {
  const { store, clock, rules, chargeUnknown, seesAllJobs } = options;
  const bypass = rules === undefined ? verdicts.filter((verdict) => verdict.do === 'charge') : [];
  const expiry = seesAllJobs ? [] : verdicts.filter((verdict) => verdict.do === 'expire');
  const left = new Set<JobVerdict>([...bypass, ...expiry]);
  const acting = verdicts.filter((verdict) => !left.has(verdict));
  const tally: ConcludeTally = {
    settled: 0,
    released: 0,
    admittedYetFailed: [],
    expired: 0,
    postponed: 0,
    corrected: 0,
    unchanged: 0,
    undecided: 0,
    bypass: 0,
  };
  const ledger = createLedger({ store, clock });
  await concludeAll(acting.slice(0, ACT_MAX), {
    ledger,
    tally,
    chargeUnknown,
    chargeBypass: async (truths) => {
      if (rules === undefined) return truths.map(() => 'undecided');
      return settleTruths(truths, { ledger, currentRules: async () => rules, clock, log: silentLog });
    },
  });
  const tooMany = Math.max(0, acting.length - ACT_MAX);
  return { tally, left: { bypass: bypass.length, expiry: expiry.length, tooMany } };
}

const isComplete = ({ tally, left }: ActReport): boolean =>
  tally.undecided + left.bypass + left.expiry + left.tooMany === 0;

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
function proofText(comparison: Comparison, zone: string, paint: Paint): string {
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

function findingsText(findings: readonly ProofFinding[], paint: Paint, columns: number): string {
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

function actReportText({ tally, left }: ActReport, paint: Paint): string {
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
