/** What was changed on the page, by the command line or an import: the log of changes, without our own edits. */
import type { LimitsDesk, LogEntry } from '../core/limits/index.ts';

/** The name that edits from Parameter Store have in the log of changes. */
export const SOURCE = 'ssm';

/** Two thousand edits since the oldest parameter that changed. */
const PAGES_MAX = 20;
const PAGE = 100;

/** Who changed a limit elsewhere after a time. */
export type ElsewhereLookup = (
  group: number,
  limit: string,
  afterMs: number,
) => Promise<
  | { readonly changed: 'no' }
  | { readonly changed: 'yes'; readonly actor: string }
  /** Too many edits to look through. */
  | { readonly changed: 'unknown' }
>;

/**
 * Reads the log once, newest first, back to a time.
 *
 * @param sinceMs - nobody will be asked for before it, Unix ms.
 * @throws {LimitsError} so does what it returns, where a large edit has to be opened.
 */
export async function editsElsewhere(
  desk: Pick<LimitsDesk, 'history'>,
  sinceMs: number,
): Promise<ElsewhereLookup> {
  const entries: LogEntry[] = [];
  let knownFromMs = Number.POSITIVE_INFINITY;
  let before: number | undefined;
  for (let pages = 0; pages < PAGES_MAX && knownFromMs > sinceMs; pages += 1) {
    const page = await desk.history({ max: PAGE, ...(before !== undefined && { before }) });
    entries.push(...page.entries.filter(({ source }) => source !== SOURCE));
    before = page.next;
    knownFromMs =
      before === undefined ? Number.NEGATIVE_INFINITY : (page.entries.at(-1)?.atMs ?? knownFromMs);
  }

  /** The log names no rows of a large edit, unless it is asked for one subject. */
  const rowsOf = async ({ edit, rows }: LogEntry, subject: string): Promise<LogEntry['rows']> => {
    if (rows !== undefined) return rows;
    const { entries: found } = await desk.history({ subject, before: edit + 1, max: 1 });
    return found[0]?.edit === edit ? found[0].rows : [];
  };

  return async (group, limit, afterMs) => {
    const subject = `group/${group}`;
    for (const entry of entries) {
      if (entry.atMs <= afterMs) break;
      const rows = await rowsOf(entry, subject);
      if (rows?.some((row) => row.about === 'limit' && row.subject === subject && row.limit === limit))
        return { changed: 'yes', actor: entry.actor };
    }
    return { changed: knownFromMs <= afterMs ? 'no' : 'unknown' };
  };
}
