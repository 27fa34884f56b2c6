/** What others changed of somebody's limits, from the change log. */

import type { Log } from '../../core/environment/index.ts';
import {
  type ChangeRow,
  type LimitPointer,
  LimitsError,
  type LimitTable,
  type LoggedChange,
  loggedChangeOf,
  rowsOf,
} from '../../core/limits/index.ts';
import {
  findRecipient,
  formerRecipient,
  type Ownership,
  type Recipient,
  recipientKey,
} from '../../core/notify/recipient.ts';
import { manyChanges, oneChange } from './edit-notice.ts';
import type { OwnershipReader } from './known.ts';
import type { Notice } from './notice.ts';
import type { NoticeFormat } from './notice-format.ts';

const PAGE = 100;
/** The rest waits for the next run: an edit a second for five minutes is no person. */
const PAGES_MAX = 3;
/** Large edits opened in one run; each may have megabytes. */
const OPENED_MAX = 5;
const TIMEOUT_MS = 5_000;
/** Per edit and owner; more of them are told as one. */
const CHANGES_MAX = 6;

interface EditsAsked {
  /** The last edit that was told. */
  readonly edit: number;
  readonly pointer: LimitPointer | undefined;
  readonly limitTable: LimitTable;
  readonly known: OwnershipReader;
  readonly telling: NoticeFormat;
  readonly log: Log;
}

interface EditsTold {
  readonly notices: readonly Notice[];
  /** The last edit that these notices tell of. */
  readonly edit: number;
}

/** @throws {LimitsError} `limits_unavailable` */
export async function noticesOfEdits(asked: EditsAsked): Promise<EditsTold> {
  const { pointer, limitTable, known, telling, log } = asked;
  const notices: Notice[] = [];
  let { edit } = asked;
  let opened = 0;
  for (let page = 0; page < PAGES_MAX && pointer !== undefined && edit < pointer.edit; page += 1) {
    const last = Math.min(edit + PAGE, pointer.edit);
    // Newest first is how the log is read: the page that ends with the last edit wanted.
    const items = await limitTable.readLog(last + 1, last - edit, { timeoutMs: TIMEOUT_MS });
    const toTell = items.filter((item) => item.edit > edit).sort((a, b) => a.edit - b.edit);
    for (const item of toTell) {
      try {
        const logged = loggedChangeOf(item);
        if (logged.rows === undefined && logged.count > 0) {
          if (opened === OPENED_MAX) return { notices, edit };
          opened += 1;
        }
        const rows = await rowsOf(logged, limitTable);
        if (rows !== undefined && rows.length > 0)
          notices.push(...noticesOfEdit(item.edit, logged, rows, await known(), telling));
      } catch (error) {
        if (!(error instanceof LimitsError) || error.retryable) throw error;
        // What is damaged stays damaged: the edits after it are told all the same.
        log.error('edit not told', { edit: item.edit, cause: error.message });
      }
      edit = item.edit;
    }
    edit = last;
  }
  return { notices, edit };
}

interface OfOwner {
  readonly to: Recipient;
  readonly changes: Map<string, ChangeRow[]>;
}

function noticesOfEdit(
  edit: number,
  logged: LoggedChange,
  rows: readonly ChangeRow[],
  ownership: Ownership,
  telling: NoticeFormat,
): readonly Notice[] {
  const byOwner = new Map<string, OfOwner>();
  for (const row of rows) {
    if (isToldAsRequest(row, logged)) continue;
    for (const to of ownersOf(row, ownership)) {
      if (isBy(logged.actor, to)) continue;
      const key = recipientKey(to);
      const mine = byOwner.get(key) ?? { to, changes: new Map<string, ChangeRow[]>() };
      byOwner.set(key, mine);
      const name = JSON.stringify([row.about, row.subject, row.limit, row.id ?? null]);
      mine.changes.set(name, [...(mine.changes.get(name) ?? []), row]);
    }
  }
  const by = { edit, logged, ownership, telling };
  return [...byOwner.values()].flatMap(({ to, changes }) =>
    changes.size > CHANGES_MAX
      ? [manyChanges(to, [...changes.values()], by)]
      : [...changes.values()].map((each) => oneChange(to, each, by)),
  );
}

/** Whoever it belonged to before is told, too: a limit must not change hands without a word. */
function ownersOf(row: ChangeRow, ownership: Ownership): readonly Recipient[] {
  const to = findRecipient(row.subject, row.about === 'limit' ? row.limit : undefined, ownership);
  if (row.field !== 'owner' || typeof row.from !== 'string') return [to];
  const former = formerRecipient(row.from, row.subject, ownership);
  return recipientKey(former) === recipientKey(to) ? [to] : [to, former];
}

/** Its grant is told with the decision. */
const isToldAsRequest = ({ about }: ChangeRow, { source }: LoggedChange): boolean =>
  about === 'grant' && source.startsWith('request ');

/** People know what they did themselves. */
const isBy = (actor: string, { owner, contact }: Recipient): boolean =>
  [owner, contact?.split('@')[0]].some((each) => each?.toLowerCase() === actor.toLowerCase());
