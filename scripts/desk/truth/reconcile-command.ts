import type { GitLab } from '../../../functions/gitlab/gitlab.ts';
import type { LedgerClock } from '../../../functions/ledger/ledger.ts';
import { systemClock } from '../../../functions/ledger/system-clock.ts';
import { type Command, type DeskIo, EXIT, UsageError } from '../command.ts';
import { readFlags, readWhole } from '../flags.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openDeskLedger } from '../ledger/open-ledger.ts';
import { paintWhen } from '../paint.ts';
import { readSpan } from '../report/span.ts';
import { type Comparison, compareWithGitLab } from './compare-with-gitlab.ts';
import { findingsText, proofText } from './comparison-text.ts';
import { GITLAB_FLAGS, GITLAB_FLAGS_HELP, type GitLabPlace, readGitLabPlace } from './gitlab-flags.ts';
import { progressOf, watched } from './progress.ts';

const ASKED_MAX = 100_000;

const FLAGS_HELP = `${GITLAB_FLAGS_HELP}
  --since <time>       compares live jobs and those since then: 24h, 7d, a day or an instant   (default: 24h)
  --max <number>       jobs GitLab is asked about one by one, at most                          (default: 5000)
${LEDGER_FLAGS_HELP}
  --json               the comparison as one JSON object`;

const RECONCILE_HELP = `tollgate reconcile --dry-run --gitlab <url> --token-file <file> [flags]

Do the books agree with GitLab? Compares live jobs and those that ended lately, lists every difference with what the
sweep would do about it, and proves the enforcement like tollgate proof. Nothing is written.

  --dry-run            must be there: the sweep, which runs every minute, is what mends differences
${FLAGS_HELP}

Exit codes: 0 no differences, 1 GitLab or the ledger does not answer, 2 differences, 3 wrong usage`;

const PROOF_HELP = `tollgate proof --gitlab <url> --token-file <file> [flags]

Is Tollgate enforced? Whether rejected jobs really failed, admitted ones ran, and every job that ran was asked about.

${FLAGS_HELP}

Exit codes: 0 proven, 1 GitLab or the ledger does not answer, 2 a rejected job ran or one ran without an admission,
3 wrong usage`;

export interface ReconcileDeps {
  /** Tests open a ledger of their own and play GitLab. */
  readonly open: OpenLedger;
  readonly gitlabAt: (place: GitLabPlace) => Promise<GitLab>;
  readonly clock: Pick<LedgerClock, 'sleep'>;
}

const NO_DRY_RUN =
  'reconcile changes nothing by itself: the sweep (every minute) settles, releases and charges what differs. Add --dry-run to see what it would do';

export const reconcileCommandOn = (deps: ReconcileDeps): Command => ({
  name: 'reconcile',
  summary: 'Do the books agree with GitLab? Lists what differs and what the sweep would do',
  help: RECONCILE_HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { 'dry-run': 'switch', ...FLAGS });
    if (!values['dry-run']) throw new UsageError(NO_DRY_RUN);
    const comparison = await compare(values, io, deps);
    const paint = paintWhen(io.colours);
    const differences = comparison.findings.filter(({ remedy }) => remedy !== 'none');
    if (values.json) io.out(`${JSON.stringify(comparison)}\n`);
    else io.out(`${proofText(comparison, paint)}\n${findingsText(differences, paint, io.columns)}`);
    return differences.length > 0 ? EXIT.wouldReject : EXIT.ok;
  },
});

export const proofCommandOn = (deps: ReconcileDeps): Command => ({
  name: 'proof',
  summary: 'Is it enforced? Whether rejected jobs failed and every job that ran was asked about',
  help: PROOF_HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, FLAGS);
    const comparison = await compare(values, io, deps);
    const paint = paintWhen(io.colours);
    const breaches = comparison.findings.filter(({ kind }) => kind === 'rejected_ran' || kind === 'unseen');
    if (values.json) io.out(`${JSON.stringify({ ...comparison, findings: breaches })}\n`);
    else {
      const listed = breaches.length === 0 ? '' : `\n${findingsText(breaches, paint, io.columns)}`;
      io.out(`${proofText(comparison, paint)}${listed}`);
    }
    return comparison.figures.unadmitted > 0 ? EXIT.wouldReject : EXIT.ok;
  },
});

const FLAGS = { since: 'text', max: 'text', ...GITLAB_FLAGS, ...LEDGER_FLAGS } as const;

type Values = ReturnType<typeof readFlags<typeof FLAGS>>['values'];

async function compare(
  values: Values,
  io: DeskIo,
  { open, gitlabAt, clock }: ReconcileDeps,
): Promise<Comparison> {
  const place = readGitLabPlace(values, io);
  const { sinceMs } = readSpan(values.since ?? '24h', undefined, io.nowMs());
  const askedMax = values.max === undefined ? 5_000 : readWhole('max', values.max, 0, ASKED_MAX);
  const gitlab = await gitlabAt(place);
  const ledger = await open(values, io);
  const calls = progressOf('calls to GitLab', io);
  try {
    const store = watched(ledger.store, progressOf('items read', io));
    return await compareWithGitLab(store, gitlab, {
      sinceMs,
      askedMax,
      sleep: clock.sleep,
      onCall: calls.step,
    });
  } finally {
    calls.done();
    await ledger.close();
  }
}

const REAL: ReconcileDeps = {
  open: openDeskLedger,
  gitlabAt: async ({ baseUrl, token }) => {
    const { createGitLab } = await import('../../../functions/gitlab/rest-gitlab.ts');
    return createGitLab({ baseUrl, token: async () => token, fetch, clock: systemClock });
  },
  clock: systemClock,
};

export const reconcileCommand: Command = reconcileCommandOn(REAL);
export const proofCommand: Command = proofCommandOn(REAL);
