import type { Directory } from '../../policies/place/directory.ts';
import type { Policy } from '../../policies/policy.ts';
import {
  type ApplyOutcome,
  type Asker,
  type CsvDialect,
  type CsvRow,
  importLimits,
  type LimitsDesk,
} from '../core/limits/index.ts';

export type StaleOutcome = Extract<ApplyOutcome, { outcome: 'stale' }>;

interface StaleImportDeps {
  readonly desk: Pick<LimitsDesk, 'at' | 'apply' | 'live'>;
  readonly policy: Policy;
  readonly directory: () => Promise<Directory | undefined>;
}

interface StaleFile {
  readonly rows: readonly CsvRow[];
  readonly dialect: CsvDialect;
  readonly prune: boolean;
  /** What it was exported from and is not in force any more; undefined: the limits packed with the deployment. */
  readonly base: string | undefined;
}

/**
 * A file of a set that is not live any more: what its rows change of what they were exported from, and what others changed
 * since. As far as that can still be read. @throws {LimitsError}
 */
export async function staleImport(
  { rows, dialect, prune, base }: StaleFile,
  by: Asker,
  { desk, policy, directory }: StaleImportDeps,
): Promise<StaleOutcome> {
  const was = await desk.at(base);
  const imported =
    was &&
    importLimits(rows, { document: was.document, policy, directory: await directory(), dialect, prune });
  if (imported?.ok !== true) return { outcome: 'stale', live: await desk.live() };
  // A set that is not live never becomes so again: the desk refuses, and tells both versions.
  const outcome = await desk.apply([{ kind: 'replace', document: imported.document }], {
    ...by,
    why: 'a file of an older set',
    source: 'file',
    base,
  });
  return outcome.outcome === 'stale' ? outcome : { outcome: 'stale', live: await desk.live() };
}
