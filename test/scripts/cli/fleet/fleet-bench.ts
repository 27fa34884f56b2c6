import { createFleet } from '../../../../functions/core/gitlab/index.ts';
import { fleetLsCommandOn } from '../../../../scripts/cli/fleet/ls-command.ts';
import { migrateCommandOn } from '../../../../scripts/cli/fleet/migrate-command.ts';
import { createLocalGitLab, type LocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import type { LocalManager } from '../../../../scripts/local/gitlab/state.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import type { CommandEntry } from '../../../../scripts/terminal/command.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { manualClock } from '../../../support/ledger/test-clock.ts';
import { aProject, type DeskRun, runDesk } from '../desk-run.ts';

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
export function fleetBench(answer = true): {
  readonly local: LocalGitLab;
  readonly root: string;
  readonly run: (...args: string[]) => Promise<DeskRun>;
} {
  const local = createLocalGitLab({ random: seededRandom(1), token: 'glpat-secret' });
  const root = aProject({ token: 'glpat-secret\n' });
  const deps = {
    fleetAt: ({ baseUrl, token }: { readonly baseUrl: string; readonly token: string }) =>
      createFleet({
        baseUrl,
        token: async () => token,
        fetch: local.fetch,
        clock: manualClock(),
        random: () => 0.5,
      }),
    sleep: async () => {},
  };
  const commands: CommandEntry[] = [
    fleetLsCommandOn(deps),
    migrateCommandOn({ ...deps, confirm: async () => answer }),
  ].map((command) => ({ name: command.name, summary: command.summary, load: async () => command }));
  return {
    local,
    root,
    run: (...args) =>
      runDesk(
        ['fleet', ...args, '--gitlab', 'http://gitlab.localhost', '--token-file', 'token'],
        root,
        {},
        commands,
      ),
  };
}
