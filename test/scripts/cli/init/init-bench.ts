import { handClock } from '../../../../scripts/local/clock.ts';
import { createLocalGitLab, type LocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { aProject, type DeskRun, runDesk } from '../desk-run.ts';
import { surrounded } from '../stand-ins.ts';

export const URL_FLAGS = ['--gitlab', 'http://gitlab.localhost', '--token-file', 'token'];

/** A GitLab with groups, runners and jobs on a clock turned by hand, and `tollgate init` that reads it. */
export function initBench(): {
  readonly local: LocalGitLab;
  /** A job that ran, so many minutes after the span began. */
  readonly ran: (job: {
    readonly path: string;
    readonly projectId: number;
    readonly runnerId: number;
    readonly minutes: number;
  }) => void;
  readonly root: string;
  readonly run: (...args: string[]) => Promise<DeskRun>;
} {
  const clock = handClock(NOW_MS - 20 * 86_400_000);
  const local = createLocalGitLab({ clock, random: seededRandom(1), token: 'glpat-secret' });
  const root = aProject({ token: 'glpat-secret\n' });
  let jobId = 0;
  return {
    local,
    ran: ({ path, projectId, runnerId, minutes }) => {
      jobId += 1;
      local.create({ id: jobId, projectId, projectPath: path, name: 'test' });
      local.start(jobId, { id: runnerId });
      clock.advance(minutes * 60_000);
      local.end(jobId, { status: 'success' });
    },
    root,
    run: (...args) => runDesk(args, root, surrounded({ fetch: local.fetch, clock: manualClock() })),
  };
}
