/** Imports a file of limits into the live set, or shows the conflict if it was exported from an older set. */
import { isDeepStrictEqual } from 'node:util';
import type { CsvDialect } from '../core/limits/csv/columns.ts';
import { importLimits } from '../core/limits/csv/import-limits.ts';
import type { CsvRow } from '../core/limits/csv/read-rows.ts';
import type { ApplyOutcome, Asker, LiveLimits } from '../core/limits/edit-outcomes.ts';
import type { PagesDeps } from './pages/page-deps.ts';

type StaleOutcome = Extract<ApplyOutcome, { outcome: 'stale' }>;

type ImportDeps = Pick<PagesDeps, 'desk' | 'policy' | 'directory' | 'clock'>;

interface LimitsFile {
  readonly rows: readonly CsvRow[];
  readonly dialect: CsvDialect;
  readonly prune: boolean;
  /** First day in force, as written. @default immediately */
  readonly from?: string | undefined;
}

type ReadSet = Pick<LiveLimits, 'document' | 'limits'>;

export async function importFile(
  { rows, from, ...how }: LimitsFile,
  { document, limits }: ReadSet,
  { policy, directory, clock }: Omit<ImportDeps, 'desk'>,
) {
  const fileDay = from === undefined ? undefined : { day: from, limits, nowMs: clock.nowMs() };
  return importLimits(rows, { ...how, document, policy, directory: await directory(), from: fileDay });
}

/** Returns true if a file with a first day would change nothing: it was sent twice, or others did the same. */
export async function saysWhatIsInForce(
  file: LimitsFile,
  inForce: ReadSet,
  deps: Omit<ImportDeps, 'desk'>,
): Promise<boolean> {
  if (file.from === undefined) return false;
  const imported = await importFile(file, inForce, deps);
  return imported.ok && isDeepStrictEqual(imported.document, inForce.document);
}

/** Compares rows with the older set they were made from, and lists later changes of others, as far as they can still be read. */
export async function staleImport(
  file: LimitsFile,
  base: string | undefined,
  by: Asker,
  deps: ImportDeps,
): Promise<StaleOutcome> {
  const { desk } = deps;
  const was = await desk.at(base);
  const imported = was && (await importFile(file, was, deps));
  if (imported?.ok !== true) return { outcome: 'stale', live: await desk.live() };
  // An old set is never published again, so the edit is refused with both versions.
  const outcome = await desk.apply([{ kind: 'replace', document: imported.document }], {
    ...by,
    why: 'a file of an older set',
    source: 'file',
    base,
  });
  return outcome.outcome === 'stale' ? outcome : { outcome: 'stale', live: await desk.live() };
}
