import { instantText } from '../../policies/text/edge-text.ts';
import { limitNameFirst } from '../../policies/unit-texts.ts';
import type { ChangeRow, Effect, FieldValue } from '../core/limits/edit-model.ts';
import { LimitsError } from '../core/limits/limit-table.ts';
import { type LoggedChange, loggedChangeOf, rowsOf } from '../core/limits/publish-limits.ts';
import { BREAK_GLASS_PAGE, historyPagePath, subjectPagePath } from '../core/notify/console-links.ts';
import { findRecipient, type Recipient, recipientKey, subjectLabel } from '../core/notify/recipient.ts';
import {
  aNotice,
  countText,
  cutName,
  type Notice,
  type NoticeKind,
  quoteText,
  whenText,
  wholeAmountText,
} from './notice.ts';
import type { Findings, NoticeContext, Run } from './run.ts';

export const EDITS_MAX = 100;
/** Large edits opened in one run; each may have megabytes. */
const OPENED_MAX = 5;
const TIMEOUT_MS = 5_000;
const CHANGES_MAX = 6;
const FIELDS_MAX = 5;

export async function findEditNotices({ cursor, pointer, deps, context }: Run): Promise<Findings> {
  const { edit: from } = cursor;
  if (pointer === undefined || from >= pointer.edit) return { notices: [], next: {} };
  const last = Math.min(from + EDITS_MAX, pointer.edit);
  const { limitTable, log } = deps;
  const notices: Notice[] = [];
  let opened = 0;
  // The log is read backwards, so these are the edits that end with `last`.
  const items = await limitTable.readLog(last + 1, last - from, { timeoutMs: TIMEOUT_MS });
  for (const item of items.filter(({ edit }) => edit > from).toReversed()) {
    try {
      const logged = loggedChangeOf(item);
      if (logged.rows === undefined && logged.count > 0) opened += 1;
      if (opened > OPENED_MAX) return { notices, next: { edit: item.edit - 1 } };
      const rows = (await rowsOf(logged, limitTable)) ?? [];
      if (rows.length > 0)
        notices.push(...editNotices(rows, { edit: item.edit, logged, context: await context() }));
    } catch (error) {
      if (!(error instanceof LimitsError) || error.retryable) throw error;
      // A damaged entry stays damaged and must not hold up later edits.
      log.error('edit not notified', { edit: item.edit, cause: error.message });
    }
  }
  return { notices, next: { edit: last } };
}

interface Edit {
  readonly edit: number;
  readonly logged: LoggedChange;
  readonly context: NoticeContext;
}

type Change = readonly [ChangeRow, ...ChangeRow[]];

function editNotices(rows: readonly ChangeRow[], edit: Edit): readonly Notice[] {
  const { logged, context } = edit;
  const owned = rows
    // The decision of the request reports its grant.
    .filter(({ about }) => about !== 'grant' || !logged.source.startsWith('request '))
    .map((row) => {
      const to = findRecipient(row.subject, row.about === 'limit' ? row.limit : undefined, context);
      return { to, row };
    })
    .filter(({ to }) => !isActor(logged.actor, to));
  return [...Map.groupBy(owned, ({ to }) => recipientKey(to)).values()].flatMap((own) => {
    const byChange = Map.groupBy(own, ({ row: { about, subject, limit, id } }) =>
      JSON.stringify([about, subject, limit, id ?? null]),
    );
    const changes = [...byChange.values()].map(
      (some) => some.map(({ row }) => row) as [ChangeRow, ...ChangeRow[]],
    );
    const { to } = own[0] as (typeof own)[number];
    return changes.length > CHANGES_MAX
      ? [manyChangesNotice(to, changes, edit)]
      : changes.map((change) => changeNotice(to, change, edit));
  });
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
  const verb = whole ?? EFFECTS[totalEffect(change)].word;
  const label = subjectLabel(subject, of.context.directory);
  return aNotice(kindOf(change), subject, of.context, {
    to,
    id: `edit:${of.edit}:${about}:${subject}:${limit}${id === undefined ? '' : `:${id}`}`,
    lines: [`${names[about]} of ${label} ${verb}: ${fieldsText(change, of.context)}.`, authorLine(of)],
    page: about === 'breakglass' ? BREAK_GLASS_PAGE : subjectPagePath(subject),
    facts: {
      ...{ edit: of.edit, by: cutName(of.logged.actor), about, limit, effect: totalEffect(change) },
      ...{ field: main.field, from: main.from, to: main.to },
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
      ...{ edit: of.edit, by: cutName(of.logged.actor) },
      ...{ changes: changes.length, loosened, tightened },
    },
  });
}

function authorLine({ logged: { actor, atMs, source, why }, context }: Edit): string {
  return `By ${cutName(actor)} on ${instantText(atMs, context.zone)} (${cutName(source)}): ${quoteText(why)}`;
}

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
      return whole === 'added' ? 'freeze-set' : 'freeze-changed';
    case 'breakglass':
      return whole === 'added' ? 'break-glass-opened' : 'break-glass-changed';
    default:
      return EFFECTS[totalEffect(change)].kind;
  }
}

/** `amount from 500.00 EUR to 300.00 EUR`; what is added or removed has one value. */
function fieldsText(change: Change, context: NoticeContext): string {
  const shown = change.slice(0, FIELDS_MAX).map((row) => {
    const side = (value: FieldValue): string => (value === null ? 'none' : valueText(row, value, context));
    if (row.whole !== undefined) return `${row.field} ${side(row.to ?? row.from)}`;
    return `${row.field} from ${side(row.from)} to ${side(row.to)}`;
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
