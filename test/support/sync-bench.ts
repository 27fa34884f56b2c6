import { directoryStore } from '../../functions/core/directory/directory-store.ts';
import type { DirectoryTable } from '../../functions/core/directory/directory-table.ts';
import {
  type DirectorySyncReport,
  type SyncDeps,
  syncDirectory,
} from '../../functions/core/directory/sync.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import { createGitLabDirectory } from '../../functions/core/gitlab/rest-gitlab.ts';
import type { Directory } from '../../policies/directory.ts';
import { createLocalGitLab } from '../../scripts/local/gitlab/local-gitlab.ts';
import { manualClock } from './ledger/test-clock.ts';
import {
  type DirectoryFault,
  type DirectoryOperation,
  memoryDirectoryTable,
} from './tables/memory-directory-table.ts';

export const MINUTE_MS = 60_000;

export type SyncBench = ReturnType<typeof syncBench>;

export function syncBench(
  options: { fault?: (operation: DirectoryOperation) => DirectoryFault; table?: DirectoryTable } = {},
) {
  const clock = manualClock();
  const token = 'glpat-a-token-nobody-may-see';
  const local = createLocalGitLab({ clock, random: () => 0.5, token });
  const memory = memoryDirectoryTable(options.fault);
  const table = options.table ?? memory;
  const gitlab = createGitLabDirectory({
    baseUrl: 'http://gitlab.localhost',
    token: async () => token,
    fetch: (input, init) => {
      const { pathname, search } = new URL(String(input));
      bench.calls.push(`${pathname}${search}`);
      bench.before(`${pathname}${search}`);
      return local.fetch(input, init);
    },
    clock,
    random: () => 0.5,
  });
  let runs = 0;
  const bench = {
    ...{ local, places: local.places, gitlab, table, memory, clock, calls: [] as string[] },
    before: (_call: string): void => {},
    /** One run; five minutes pass after it. */
    run: async (changes: Partial<SyncDeps> = {}): Promise<DirectorySyncReport> => {
      runs += 1;
      const report = await syncDirectory({ gitlab, table, clock, runId: `run-${runs}`, ...changes });
      clock.advance(5 * MINUTE_MS);
      return report;
    },
    reader: (packed?: Directory) => ({
      directoryFor: directoryStore({ table, packed, clock, log: silentLog }),
    }),
  };
  return bench;
}
