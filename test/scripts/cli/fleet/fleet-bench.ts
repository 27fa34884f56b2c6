import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import type { LocalManager } from '../../../../scripts/local/gitlab/state.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { aProject, runDesk } from '../desk-run.ts';
import { surrounded } from '../stand-ins.ts';

export const manager = (
  systemId: string,
  version: string,
  more: Partial<LocalManager> = {},
): LocalManager => ({
  systemId,
  version,
  contactedAtMs: NOW_MS - 60_000,
  ...more,
});

/** A local GitLab and `tollgate fleet` that asks it. */
export function fleetBench(answer = true) {
  const local = createLocalGitLab({ random: seededRandom(1), token: 'glpat-secret' });
  const root = aProject({ token: 'glpat-secret\n' });
  return {
    local,
    root,
    run: (...args: string[]) =>
      runDesk(
        ['fleet', ...args, '--gitlab', 'http://gitlab.localhost', '--token-file', 'token'],
        root,
        surrounded({ fetch: local.fetch, clock: manualClock(), answer: () => answer }),
      ),
  };
}
