import { type Item, isNewer } from '../store/index.ts';
import { isExpired, type RestoreItem } from './dynamo-restore.ts';
import { type ExportedKind, exportedKind, itemOfLine } from './exported-image.ts';

interface RestoreDeps {
  readonly restore: RestoreItem;
  /** Begins the keys of whose books these are. */
  readonly instance: string;
  readonly nowMs: number;
  /** Only what was written from then on, Unix ms. */
  readonly sinceMs: number;
  /** And before then. */
  readonly untilMs: number;
}

export interface RestoreReport {
  readonly restored: Readonly<Record<ExportedKind, number>>;
  /** Lines of what the table has, as new or newer. */
  readonly kept: number;
  /** Written before or after the time asked for, or expired since. */
  readonly leftOut: number;
  /** Lines of another GitLab or a newer Tollgate, or that are no lines of an export. */
  readonly passedOver: number;
}

/** Different items at once; versions of one item one after the other. */
const AT_ONCE = 16;

/** @param lines - in the order they were written. @throws {LedgerError} `ledger_unavailable`: run it again. */
export async function restoreLines(lines: AsyncIterable<string>, deps: RestoreDeps): Promise<RestoreReport> {
  const restored = { record: 0, entry: 0, closing: 0, limits: 0 };
  let [kept, leftOut, passedOver] = [0, 0, 0];
  let batch = new Map<string, { readonly item: Item; readonly kind: ExportedKind }>();
  const flush = async (): Promise<void> => {
    const full = [...batch.values()];
    batch = new Map();
    const outcomes = await Promise.all(full.map(({ item, kind }) => deps.restore(item, kind)));
    full.forEach(({ kind }, index) => {
      if (outcomes[index] === 'restored') restored[kind] += 1;
      else kept += 1;
    });
  };
  for await (const line of lines) {
    const read = itemOfLine(line);
    const kind = read && exportedKind(read.item, deps.instance);
    if (read === undefined || kind === undefined || isNewer(read.item)) {
      passedOver += 1;
      continue;
    }
    const { atMs, item } = read;
    if (atMs < deps.sinceMs || atMs >= deps.untilMs || isExpired(item, deps.nowMs)) {
      leftOut += 1;
      continue;
    }
    const name = `${item.pk?.S}\n${item.sk?.S}`;
    if (batch.has(name) || batch.size >= AT_ONCE) await flush();
    batch.set(name, { item, kind });
  }
  await flush();
  return { restored, kept, leftOut, passedOver };
}
