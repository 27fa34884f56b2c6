import { isDeepStrictEqual } from 'node:util';
import { type CsvDialect, PLAIN_CSV } from '../core/limits/csv/columns.ts';
import { exportLimits, totalChanges } from '../core/limits/csv/export-limits.ts';
import { importLimits } from '../core/limits/csv/import-limits.ts';
import type { CsvRow } from '../core/limits/csv/read-rows.ts';
import type { ApplyOutcome, LiveLimits, Requester } from '../core/limits/edit-outcomes.ts';
import { baseOfFile, exportedLimits } from '../core/limits/limit-reads.ts';
import { NO_SET } from '../core/limits/subject-text.ts';
import type { ApiDeps } from './api/api-parts.ts';

type ImportDeps = Pick<ApiDeps, 'limitEdits' | 'policy' | 'directory' | 'clock'>;
type ReadSet = Pick<LiveLimits, 'document' | 'limits'>;

/** Spreadsheets of some countries write semicolons and decimal commas. */
export const dialectOf = (name: string | undefined): CsvDialect =>
  name === 'semicolon' ? { delimiter: ';', decimal: ',' } : PLAIN_CSV;

interface LimitsFile {
  readonly rows: readonly CsvRow[];
  /** The set that the file was exported from, {@link NO_SET} for none. @default the set in force */
  readonly version?: string | undefined;
  readonly dialect: CsvDialect;
  readonly prune: boolean;
  /** First day in force, as written. @default immediately */
  readonly from?: string | undefined;
}

export async function exportFile(
  { limitEdits, directory, read }: Pick<ApiDeps, 'limitEdits' | 'directory' | 'read'>,
  dialect: CsvDialect,
) {
  const { document, limits, set, edit } = await exportedLimits(limitEdits);
  const [groups, figures] = [await directory(), await read.limitFigures(limits)];
  const text = exportLimits(document, { version: set ?? NO_SET, directory: groups, figures, dialect });
  return { text, set, name: `limits-${edit}.csv` };
}

/**
 * Turns a file into an edit of its base. Rows of an older set would undo later edits of others: they are refused with both
 * versions, unless they say what is in force already.
 *
 * @param isDryRun - an older set is fine as the base while it can be read
 */
export async function planImport(file: LimitsFile, by: Requester, deps: ImportDeps, isDryRun = false) {
  const inForce = await exportedLimits(deps.limitEdits);
  const fileBase = baseOfFile(file.version, inForce.set);
  const isStale = fileBase !== inForce.set && !(await isInForce(file, inForce, deps));
  const base = isStale ? fileBase : inForce.set;
  const before = isStale ? await deps.limitEdits.at(base) : inForce;
  const imported = before && (await importRows(file, before, deps));
  if (before === undefined || (isStale && !isDryRun))
    return { ...(await staleImport(imported, base, by, deps)), base };
  if (imported?.ok !== true) return { outcome: 'invalid', problems: imported?.problems ?? [] } as const;
  const { document, limits, unnamed, understood } = imported;
  const edit = { kind: 'replace', document } as const;
  const totals = totalChanges(before.limits, limits, deps.clock.nowMs());
  return { outcome: 'planned', edit, base, isStale, totals, unnamed, understood } as const;
}

async function importRows(
  { rows, version: _, from, ...options }: LimitsFile,
  { document, limits }: ReadSet,
  { policy, directory, clock }: ImportDeps,
) {
  const fileDay = from === undefined ? undefined : { day: from, limits, nowMs: clock.nowMs() };
  return importLimits(rows, { ...options, document, policy, directory: await directory(), from: fileDay });
}

/** Returns true if a file with a first day would change nothing: it was sent twice, or others did the same. */
async function isInForce(file: LimitsFile, inForce: ReadSet, deps: ImportDeps): Promise<boolean> {
  if (file.from === undefined) return false;
  const imported = await importRows(file, inForce, deps);
  return imported.ok && isDeepStrictEqual(imported.document, inForce.document);
}

/** Compares rows with the older set they were made from, and lists later changes of others, as far as they can still be read. */
async function staleImport(
  imported: Awaited<ReturnType<typeof importRows>> | undefined,
  base: string | undefined,
  by: Requester,
  { limitEdits }: ImportDeps,
): Promise<Extract<ApplyOutcome, { outcome: 'stale' }>> {
  if (imported?.ok !== true) return { outcome: 'stale', live: await limitEdits.live() };
  // An old set is never published again, so the edit is refused with both versions.
  const outcome = await limitEdits.apply([{ kind: 'replace', document: imported.document }], {
    ...{ ...by, why: 'a file of an older set', source: 'file', base },
  });
  return outcome.outcome === 'stale' ? outcome : { outcome: 'stale', live: await limitEdits.live() };
}
