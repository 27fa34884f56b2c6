import { randomBytes } from 'node:crypto';
import {
  type DirectorySyncReport,
  type DirectoryTable,
  syncDirectory,
} from '../../../functions/core/directory/index.ts';
import { type LedgerClock, systemClock } from '../../../functions/core/environment/index.ts';
import { createGitLabDirectory, type GitLabDirectory } from '../../../functions/core/gitlab/index.ts';
import { type Command, EXIT, type ExitCode } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { GITLAB_FLAGS, GITLAB_FLAGS_HELP, type GitLabPlace, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { type OpenDirectory, openDirectory, withDirectory } from './open-directory.ts';

const HELP = `tollgate directory sync --gitlab <url> --token-file <file> [flags]

Learns the groups and projects of GitLab now, as the schedule does every five minutes, and goes on until a listing that
was begun is through. Jobs are decided by it from its first complete listing of groups on.

${GITLAB_FLAGS_HELP.replace('to see all runners', 'to see all groups')}
  --force              believes GitLab even if it lists far fewer groups or projects than before
${LEDGER_FLAGS_HELP}
  --json               the last run's report as one JSON object

Exit codes: 0 synced, 1 GitLab or the table does not answer, 2 GitLab lists far less than before and nothing was dropped,
3 wrong usage`;

interface DirectorySyncDeps {
  readonly open: OpenDirectory;
  readonly gitlabAt: (place: GitLabPlace) => GitLabDirectory;
  readonly clock: Pick<LedgerClock, 'nowMs' | 'monotonicMs'>;
}

/** Ten thousand pages: a listing of a million projects ends within them. */
const RUNS_MAX = 30;

export const syncCommandOn = ({ open, gitlabAt, clock }: DirectorySyncDeps): Command => ({
  name: 'directory sync',
  summary: 'Learns the groups and projects of GitLab now, without waiting for the schedule',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { force: 'switch', ...GITLAB_FLAGS, ...LEDGER_FLAGS });
    const gitlab = gitlabAt(readGitLabPlace(values, io));
    const report = await withDirectory(open, values, io, ({ table }) =>
      syncToItsEnd({ gitlab, table, clock, force: values.force }, (run) => {
        if (io.progress) io.err(`${progressText(run)}\n`);
      }),
    );
    io.out(values.json ? `${JSON.stringify(report)}\n` : reportText(report));
    return exitCode(report);
  },
});

interface Syncing {
  readonly gitlab: GitLabDirectory;
  readonly table: DirectoryTable;
  readonly clock: DirectorySyncDeps['clock'];
  readonly force: boolean;
}

async function syncToItsEnd(
  deps: Syncing,
  onRun: (report: DirectorySyncReport) => void,
): Promise<DirectorySyncReport> {
  for (let runs = 1; ; runs += 1) {
    const report = await syncDirectory({ ...deps, runId: randomBytes(6).toString('base64url') });
    onRun(report);
    const goesOn = report.outcome === 'stale' || report.groupsListing === 'going' || report.projectsGoing;
    if (!goesOn || report.failure !== undefined || runs === RUNS_MAX) return report;
  }
}

function exitCode(report: DirectorySyncReport): ExitCode {
  if (report.failure !== undefined || report.outcome === 'stale') return EXIT.failed;
  return report.groupsListing === 'refused' || report.projectsRefused > 0 ? EXIT.wouldReject : EXIT.ok;
}

const progressText = ({ calls, groups, projectsListed }: DirectorySyncReport): string =>
  `${calls} calls: ${groups} groups, ${projectsListed} projects listed`;

function reportText(report: DirectorySyncReport): string {
  const lines = [
    `Groups: ${report.groups}${report.live ? '' : ', not listed to the end yet: jobs go by the packed directory'}`,
    `Projects: ${report.projectsListed} listed in the last run, ${report.projectsChanged} changed`,
  ];
  if (report.groupsListing === 'refused')
    lines.push(
      `GitLab lists ${report.groupsMissing} groups fewer than before. Nothing was dropped: does the token belong to an administrator? If they are gone, run it with --force.`,
    );
  if (report.projectsRefused > 0)
    lines.push(
      `GitLab lists ${report.projectsRefused} projects fewer than before. None was dropped: does the token belong to an administrator? If they are gone, run it with --force.`,
    );
  if (report.failure !== undefined)
    lines.push(`GitLab did not answer to the end (${report.failure}); run it again to go on.`);
  if (report.outcome === 'stale') lines.push('Another sync was faster each time; run it again.');
  return `${lines.join('\n')}\n`;
}

export const syncCommand: Command = syncCommandOn({
  open: openDirectory,
  gitlabAt: ({ baseUrl, token, fetch }) =>
    createGitLabDirectory({ baseUrl, token: async () => token, fetch, clock: systemClock }),
  clock: systemClock,
});
