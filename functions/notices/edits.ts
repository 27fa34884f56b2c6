/** Edits of limits by others than the owner, from the change log. */
import { instantText } from '../../policies/text/edge-text.ts';
import { limitNameFirst } from '../../policies/unit-texts.ts';
import type { ChangeRow, Effect, FieldValue } from '../core/limits/limit-changes.ts';
import { LimitsError } from '../core/limits/limit-table.ts';
import { type LoggedChange, loggedChangeOf, rowsOf } from '../core/limits/publish-limits.ts';
import { BREAK_GLASS_PAGE, historyPagePath, subjectPagePath } from '../core/notify/console-links.ts';
import {
  findRecipient,
  formerRecipient,
  type Recipient,
  recipientKey,
  subjectLabel,
} from '../core/notify/recipient.ts';
import {
  aNotice,
  countText,
  cutName,
  cutText,
  type Notice,
  type NoticeKind,
  quoteText,
  whenText,
  wholeAmountText,
} from './notice.ts';
import type { Findings, NoticeContext, Run } from './run.ts';

const PAGE = 100;
/** The rest waits for the next run: an edit per second for five minutes does not come from a person. */
const PAGES_MAX = 3;
/** Large edits opened in one run; each may have megabytes. */
const OPENED_MAX = 5;
const TIMEOUT_MS = 5_000;
/** More changes of one owner in one edit are one notice with their number. */
const CHANGES_MAX = 6;
/** The history has all fields of a change. */
const FIELDS_MAX = 5;

/** @throws {LimitsError} `limits_unavailable` */
export async function findEditNotices({ cursor, pointer, deps, context }: Run): Promise<Findings> {
  const { limitTable, log } = deps;
  const notices: Notice[] = [];
  let { edit } = cursor;
  let opened = 0;
  for (let page = 0; page < PAGES_MAX && pointer !== undefined && edit < pointer.edit; page += 1) {
    const last = Math.min(edit + PAGE, pointer.edit);
    // The log is read backwards, so this is the page that ends with `last`.
    const items = await limitTable.readLog(last + 1, last - edit, { timeoutMs: TIMEOUT_MS });
    for (const item of items.filter((each) => each.edit > edit).sort((a, b) => a.edit - b.edit)) {
      try {
        const logged = loggedChangeOf(item);
        if (logged.rows === undefined && logged.count > 0) {
          if (opened === OPENED_MAX) return { notices, next: { edit } };
          opened += 1;
        }
        const rows = await rowsOf(logged, limitTable);
        if (rows !== undefined && rows.length > 0)
          notices.push(...editNotices(rows, { edit: item.edit, logged, context: await context() }));
      } catch (error) {
        if (!(error instanceof LimitsError) || error.retryable) throw error;
        // A damaged entry stays damaged and must not hold up later edits.
        log.error('edit not notified', { edit: item.edit, cause: error.message });
      }
      edit = item.edit;
    }
    edit = last;
  }
  return { notices, next: { edit } };
}

interface Edit {
  readonly edit: number;
  readonly logged: LoggedChange;
  readonly context: NoticeContext;
}

/** The rows of one limit, grant, freeze, break-glass or rollout. */
type Change = readonly [ChangeRow, ...ChangeRow[]];

function editNotices(rows: readonly ChangeRow[], edit: Edit): readonly Notice[] {
  const { logged, context } = edit;
  const byOwner = new Map<string, { to: Recipient; rows: ChangeRow[] }>();
  for (const row of rows) {
    // The decision of the request reports its grant.
    if (row.about === 'grant' && logged.source.startsWith('request ')) continue;
    for (const to of ownersOfRow(row, context)) {
      if (isActor(logged.actor, to)) continue;
      const key = recipientKey(to);
      const owned = byOwner.get(key) ?? { to, rows: [] };
      byOwner.set(key, owned);
      owned.rows.push(row);
    }
  }
  return [...byOwner.values()].flatMap(({ to, rows: all }) => {
    const changes = [
      ...Map.groupBy(all, ({ about, subject, limit, id }) =>
        JSON.stringify([about, subject, limit, id ?? null]),
      ),
    ].map(([, group]) => group as [ChangeRow, ...ChangeRow[]]);
    return changes.length > CHANGES_MAX
      ? [manyChangesNotice(to, changes, edit)]
      : changes.map((change) => changeNotice(to, change, edit));
  });
}

/** If an edit changes the owner, both are notified. */
function ownersOfRow(row: ChangeRow, context: NoticeContext): readonly Recipient[] {
  const to = findRecipient(row.subject, row.about === 'limit' ? row.limit : undefined, context);
  if (row.field !== 'owner' || typeof row.from !== 'string') return [to];
  const former = formerRecipient(row.from, row.subject, context);
  return recipientKey(former) === recipientKey(to) ? [to] : [to, former];
}

const isActor = (actor: string, { owner, contact }: Recipient): boolean =>
  [owner, contact?.split('@')[0]].some((each) => each?.toLowerCase() === actor.toLowerCase());

function changeNotice(to: Recipient, change: Change, of: Edit): Notice {
  const [first] = change;
  const { about, subject, limit, id, whole, unit } = first;
  const main =
    change.find(({ field }) => field === 'amount' || field === 'until' || field === 'mode') ?? first;
  const limitText = unit === undefined ? `Limit ${cutName(limit)}` : limitNameFirst({ unit });
  const names = {
    ...{ limit: limitText, grant: 'Grant', freeze: 'Freeze', breakglass: 'Break-glass' },
    ...{ rollout: `Rollout of ${limit}`, document: 'Order of the default limits' },
  };
  const label = subjectLabel(subject, of.context.directory);
  const verb = whole ?? EFFECTS[totalEffect(change)].word;
  return aNotice(kindOf(change), subject, of.context, {
    to,
    id: `edit:${of.edit}:${about}:${subject}:${limit}${id === undefined ? '' : `:${id}`}`,
    lines: [`${names[about]} of ${label} ${verb}: ${fieldsText(change, of.context)}.`, authorLine(of)],
    page: about === 'breakglass' ? BREAK_GLASS_PAGE : subjectPagePath(subject),
    facts: {
      ...{ edit: of.edit, about, limit, effect: totalEffect(change) },
      ...{ field: main.field, from: main.from, to: main.to },
      ...(main.unit !== undefined && { unit: main.unit }),
      ...authorFacts(of),
    },
  });
}

function manyChangesNotice(to: Recipient, changes: readonly Change[], of: Edit): Notice {
  const subjects = [...new Set(changes.flat().map(({ subject }) => subject))];
  const [subject = 'instance'] = subjects;
  const count = (effect: Effect): number => changes.filter((each) => totalEffect(each) === effect).length;
  const [loosened, tightened] = [count('loosens'), count('tightens')];
  const label = subjectLabel(subject, of.context.directory);
  const isOne = subjects.length === 1;
  const where = isOne ? label : `${label} and ${countText(subjects.length - 1, 'other')}`;
  return aNotice(EFFECTS[totalEffect(changes.flat())].kind, subject, of.context, {
    to,
    id: `edit:${of.edit}:many`,
    lines: [
      `${countText(changes.length, 'change')} of limits of ${where}: ${loosened} looser, ${tightened} tighter.`,
      authorLine(of),
    ],
    page: isOne ? historyPagePath(subject) : '/history',
    facts: {
      ...{ edit: of.edit, changes: changes.length, subjects: subjects.length, loosened, tightened },
      ...authorFacts(of),
    },
  });
}

function authorLine({ logged: { actor, atMs, source, why }, context }: Edit): string {
  const reason = why.trim() === '' ? '' : `: ${quoteText(why)}`;
  return `By ${cutName(actor)} on ${instantText(atMs, context.zone)} (${cutName(source)})${reason}`;
}

const authorFacts = ({ logged: { actor, atMs, source, why } }: Edit) => ({
  by: cutName(actor),
  at: new Date(atMs).toISOString(),
  source: cutName(source),
  why: cutText(why),
});

const EFFECTS = {
  loosens: { kind: 'limit-loosened', word: 'loosened' },
  tightens: { kind: 'limit-tightened', word: 'tightened' },
  neutral: { kind: 'limit-described', word: 'changed' },
} as const;

/** A change that loosens one field counts as loosening: approvers must notice it. */
const totalEffect = (rows: readonly ChangeRow[]): Effect =>
  (['loosens', 'tightens'] as const).find((effect) => rows.some((row) => row.effect === effect)) ?? 'neutral';

function kindOf(change: Change): NoticeKind {
  const [{ about, whole }] = change;
  switch (about) {
    case 'grant':
      return whole === 'added' ? 'grant-given' : 'grant-changed';
    case 'freeze':
      return whole === 'added' ? 'freeze-set' : whole === 'removed' ? 'freeze-lifted' : 'freeze-changed';
    case 'breakglass':
      return whole === 'added' ? 'break-glass-opened' : 'break-glass-changed';
    default:
      return EFFECTS[totalEffect(change)].kind;
  }
}

/** `amount 500.00 EUR → 300.00 EUR`; what is added or removed has one value. */
function fieldsText(change: Change, context: NoticeContext): string {
  const shown = change.slice(0, FIELDS_MAX).map((row) => {
    const side = (value: FieldValue): string => (value === null ? 'none' : valueText(row, value, context));
    if (row.whole !== undefined) return `${row.field} ${side(row.to ?? row.from)}`;
    return `${row.field} ${side(row.from)} → ${side(row.to)}`;
  });
  const more = change.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** Numbers are whole units of the limit; those of a break-glass count jobs. */
function valueText({ unit, field }: ChangeRow, value: number | string, context: NoticeContext): string {
  if (typeof value === 'number')
    return unit === undefined ? String(value) : wholeAmountText(value, unit, context);
  return field === 'from' || field === 'until' ? whenText(value, context) : cutName(value);
}
