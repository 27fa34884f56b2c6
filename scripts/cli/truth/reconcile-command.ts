import { type LedgerClock, systemClock } from '../../../functions/core/environment/index.ts';
import type { GitLab } from '../../../functions/core/gitlab/index.ts';
import { timeoutEstimator } from '../../../policies/estimate.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger, openToRepair } from '../ledger/open-ledger.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { readSpan, SPAN_HELP } from '../report/span.ts';
import { rollupZone } from '../rollup-zone.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP, readRules } from '../rules-flags.ts';
import { ACT_MAX, type ActReport, actOn, isComplete } from './act-on-verdicts.ts';
import { compareWithGitLab, type HoldComparison } from './compare-with-gitlab.ts';
import { actReportText, findingsText, proofText } from './comparison-text.ts';
import { type Confirmation, confirmOnTerminal } from './confirm.ts';
import { GITLAB_FLAGS, GITLAB_FLAGS_HELP, type GitLabPlace, readGitLabPlace } from './gitlab-flags.ts';
import { progressOf, watched } from './progress.ts';

const ASKED_MAX = 100_000;

const FLAGS_HELP = `${GITLAB_FLAGS_HELP}
  --since <time>       compares live jobs and those since then: 24h, 7d, a day or an instant   (default: 24h)
                       ${SPAN_HELP}
  --max <number>       jobs GitLab is asked about one by one, at most                          (default: 5000)
${LEDGER_FLAGS_HELP}
  --json               the comparison as one JSON object`;

const RECONCILE_HELP = `tollgate reconcile --gitlab <url> --token-file <file> [flags]

Do the books agree with GitLab? Compares live jobs and those that ended lately, lists every difference with what the
sweep would do about it, and proves the enforcement like tollgate proof. Then it asks, and does what the sweep would do:
settles, corrects, releases and expires, at most ${shadowCount(ACT_MAX)} jobs. The sweep of every minute needs no help; this is
for a longer time than it looks back, or where it does not run.

  --dry-run            writes nothing
  --yes                does not ask before it writes
  --charge-bypass      also charges jobs that ran and have no record, by these documents:
${RULES_FLAGS_HELP}
  --charge-unknown     an expired hold is charged what it held, instead of nothing
${FLAGS_HELP}

Exit codes: 0 no differences, or all of them mended, 1 GitLab or the ledger does not answer, 2 differences are left,
3 wrong usage`;

const PROOF_HELP = `tollgate proof --gitlab <url> --token-file <file> [flags]

Is Tollgate enforced? Whether rejected jobs really failed, admitted ones ran, and every job that ran was asked about.

${FLAGS_HELP}

Exit codes: 0 proven, 1 GitLab or the ledger does not answer, 2 a rejected job ran or one ran without an admission,
3 wrong usage`;

export interface ReconcileDeps {
  /** Tests open a ledger of their own and play GitLab. */
  readonly open: OpenLedger;
  /** The same ledger with the right to write. */
  readonly openToRepair: OpenLedger;
  readonly gitlabAt: (place: GitLabPlace) => Promise<GitLab>;
  readonly confirm: Confirmation;
  readonly clock: LedgerClock;
}

export const reconcileCommandOn = (deps: ReconcileDeps): Command => ({
  name: 'reconcile',
  summary: 'Do the books agree with GitLab? Lists what differs, and mends it as the sweep would',
  help: RECONCILE_HELP,
  run: (args, io) => reconcile(args, io, deps),
});

async function reconcile(args: readonly string[], io: TerminalIo, deps: ReconcileDeps): Promise<ExitCode> {
  const { values } = readFlags(args, RECONCILE_FLAGS);
  if (values['dry-run'] && values.yes)
    throw new UsageError('--yes: there is nothing to agree to with --dry-run');
  // Validate before asking GitLab: an invalid document must not charge.
  const rules = values['charge-bypass']
    ? { ...readRules(values, io), estimator: timeoutEstimator }
    : undefined;
  const { comparison, verdicts } = await compare(values, io, deps);
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
    const agreed = await deps.confirm(`Write what the sweep would do about ${verdicts.length} jobs?`);
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
  const ledger = await deps.openToRepair(values, io);
  try {
    const acted = await actOn(verdicts, {
      store: ledger.store,
      clock: deps.clock,
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

export const proofCommandOn = (deps: ReconcileDeps): Command => ({
  name: 'proof',
  summary: 'Is it enforced? Whether rejected jobs failed and every job that ran was asked about',
  help: PROOF_HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, FLAGS);
    const { comparison } = await compare(values, io, deps);
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

const FLAGS = { since: 'text', max: 'text', ...GITLAB_FLAGS, ...LEDGER_FLAGS } as const;

const RECONCILE_FLAGS = {
  'dry-run': 'switch',
  yes: 'switch',
  'charge-bypass': 'switch',
  'charge-unknown': 'switch',
  ...RULES_FLAGS,
  ...FLAGS,
} as const;

type Values = ReturnType<typeof readFlags<typeof FLAGS>>['values'];

async function compare(
  values: Values,
  io: TerminalIo,
  { open, gitlabAt, clock }: ReconcileDeps,
): Promise<HoldComparison> {
  const place = readGitLabPlace(values, io);
  const { sinceMs } = readSpan(values.since ?? '24h', undefined, io.nowMs(), rollupZone(io));
  const askedMax = values.max === undefined ? 5_000 : readWhole('max', values.max, 0, ASKED_MAX);
  const gitlab = await gitlabAt(place);
  const ledger = await open(values, io);
  const calls = progressOf('calls to GitLab', io);
  try {
    const store = watched(ledger.store, progressOf('items read', io));
    return await compareWithGitLab(store, gitlab, {
      sinceMs,
      nowMs: io.nowMs(),
      askedMax,
      scope: await ledger.scope?.(),
      sleep: clock.sleep,
      onCall: calls.step,
    });
  } finally {
    calls.done();
    await ledger.close();
  }
}

const REAL: ReconcileDeps = {
  open: openLedger,
  openToRepair,
  confirm: confirmOnTerminal,
  gitlabAt: async ({ baseUrl, token, fetch }) => {
    const { createGitLab } = await import('../../../functions/core/gitlab/index.ts');
    return createGitLab({ baseUrl, token: async () => token, fetch, clock: systemClock });
  },
  clock: systemClock,
};

export const reconcileCommand: Command = reconcileCommandOn(REAL);
export const proofCommand: Command = proofCommandOn(REAL);
