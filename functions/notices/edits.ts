import { DAY_MS } from '../../policies/limits/calendar.ts';
import { placeOfSubject } from '../../policies/limits/cap.ts';
import { limitsOn } from '../../policies/limits/limits.ts';
import { instantText } from '../../policies/text/edge-text.ts';
import { isMoney } from '../../policies/unit.ts';
import { counted, limitName, limitNameFirst } from '../../policies/unit-texts.ts';
import { type LoggedChange, parseLoggedChange, rowsOf } from '../core/limits/change-log.ts';
import type { ChangeRow, Effect, FieldValue } from '../core/limits/edit-model.ts';
import type { EditRequest, LimitRequest } from '../core/limits/edit-outcomes.ts';
import { LimitsError } from '../core/limits/limit-table.ts';
import { isDecided, isPending } from '../core/limits/requests.ts';
import { holds, unitsOf } from '../core/limits/rights.ts';
import { BREAK_GLASS_PAGE, historyPagePath, subjectPagePath } from '../core/notify/console-links.ts';
import {
  FINANCE,
  findOwnRecipient,
  findRecipient,
  groupsAround,
  type Recipient,
  recipientKey,
  subjectLabel,
} from '../core/notify/recipient.ts';
import {
  createNotice,
  cutName,
  cutText,
  type Notice,
  type NoticeKind,
  quoteText,
  whenText,
  wholeAmountText,
} from './notice.ts';
import type { Findings, NoticeContext, RequestCheckpoint, Run } from './run.ts';

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
      const logged = parseLoggedChange(item);
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
  return createNotice(noticeKind(change), subject, of.context, {
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
  const where = isOne ? label : `${label} and ${counted(subjects.length - 1, 'other')}`;
  return createNotice(EFFECTS[totalEffect(changes.flat())].kind, subject, of.context, {
    to,
    id: `edit:${of.edit}:many`,
    lines: [
      `${counted(changes.length, 'change')} of limits of ${where}: ${loosened} looser, ${tightened} tighter.`,
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

/** Kinds of notice by topic: of a new entry, and of any other change. */
const KINDS_BY_TOPIC: Readonly<Partial<Record<ChangeRow['about'], readonly [NoticeKind, NoticeKind]>>> = {
  grant: ['grant-given', 'grant-changed'],
  freeze: ['freeze-set', 'freeze-changed'],
  breakglass: ['break-glass-opened', 'break-glass-changed'],
};

const noticeKind = (change: Change): NoticeKind =>
  KINDS_BY_TOPIC[change[0].about]?.[change[0].whole === 'added' ? 0 : 1] ?? EFFECTS[totalEffect(change)].kind;

/** `amount from 500.00 EUR to 300.00 EUR`; what is added or removed has one value. */
function fieldsText(change: Change, context: NoticeContext): string {
  const shown = change.slice(0, FIELDS_MAX).map((row) => {
    const side = (value: FieldValue): string => valueText(row, value, context);
    if (row.whole !== undefined) return `${row.field} ${side(row.to ?? row.from)}`;
    return `${row.field} from ${side(row.from)} to ${side(row.to)}`;
  });
  const more = change.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** Numbers are whole units of the limit; those of a break-glass count jobs. */
function valueText({ unit, field }: ChangeRow, value: FieldValue, context: NoticeContext): string {
  if (value === null) return 'none';
  if (typeof value === 'number')
    return unit === undefined ? String(value) : wholeAmountText(value, unit, context);
  return field === 'from' || field === 'until' ? whenText(value, context) : cutName(value);
}

/* Pending requests, for the recipients who may approve them, and decisions, for the owner of the limit. */

/** The second message also goes to finance. */
const REMIND_AFTER_MS = DAY_MS;

export async function findRequestNotices(run: Run): Promise<Findings> {
  const { cursor, nowMs } = run;
  const notices: Notice[] = [];
  const requests: Record<string, RequestCheckpoint> = {};
  for (const stored of run.requests) {
    const { request } = stored;
    const before = cursor.requests[request.id];
    const messages = before?.asked ?? 0;
    if (isPending(stored) && (before === undefined || nowMs - before.atMs >= REMIND_AFTER_MS)) {
      notices.push(...waitingNotices(request, messages + 1, await run.context(), run.decisionPage));
      requests[request.id] = { asked: messages + 1, atMs: nowMs, decided: false };
    } else if (isDecided(request) && before?.decided !== true) {
      if (!run.isFirst) notices.push(decidedNotice(request, await run.context()));
      requests[request.id] = { asked: messages, atMs: nowMs, decided: true };
    } else if (before !== undefined) requests[request.id] = before;
  }
  return { notices, next: { requests } };
}

function waitingNotices(
  request: LimitRequest,
  messages: number,
  context: NoticeContext,
  decisionPage: Run['decisionPage'],
): readonly Notice[] {
  const { id, subject, limit, requestedBy, requestedAtMs, link } = request;
  const approver = findApprover(request, context);
  const alone = messages === 1 || recipientKey(approver) === recipientKey(FINANCE);
  const about = link === undefined ? '' : ` It is about ${cutName(link)}`;
  return (alone ? [approver] : [approver, FINANCE]).map((to) =>
    createNotice('request-waiting', subject, context, {
      to,
      id: `request:${id}:waiting:${messages}`,
      lines: [
        `${requestText(request, context)}.`,
        `Requested on ${instantText(requestedAtMs, context.zone)}; approve or decline it.${about}`,
      ],
      page: decisionPage(id, to),
      facts: { request: id, asked: messages, limit, requestedBy: cutName(requestedBy) },
    }),
  );
}

function decidedNotice(request: LimitRequest, context: NoticeContext): Notice {
  const { id, subject, limit, state, decidedBy = 'an unknown user', decidedAtMs = context.nowMs } = request;
  const { note, link, requestedBy } = request;
  const isApproved = state === 'approved';
  const why = note === undefined ? '' : `: ${quoteText(note)}`;
  return createNotice('request-decided', subject, context, {
    to: findRecipient(subject, limit, context),
    id: `request:${id}:${state}`,
    lines: [
      `${isApproved ? 'Approved' : 'Declined'}: ${requestText(request, context)}.`,
      `By ${cutName(decidedBy)} on ${instantText(decidedAtMs, context.zone)}${why}`,
      ...(link === undefined || !isApproved ? [] : [`Retry the job in GitLab: ${cutText(link)}`]),
    ],
    facts: {
      ...{ request: id, state, limit },
      ...{ decidedBy: cutName(decidedBy), requestedBy: cutName(requestedBy) },
    },
  });
}

/** `ann asks for 200 EUR more for the CI budget of group acme/payments, 21 Nov 2026 to 30 Nov 2026: "…"` */
function requestText(request: LimitRequest, context: NoticeContext): string {
  const { subject, limit: id, requestedBy, reason, edit, amount, from, until, ticket } = request;
  const limit = limitsOn(context.limits, subject).find((each) => each.id === id);
  const what = limit === undefined ? `limit ${cutName(id)}` : limitName(limit);
  const label = subjectLabel(subject, context.directory);
  // Requests write money without its currency.
  const unit = limit !== undefined && isMoney(limit.kind) ? ` ${context.policy.currency}` : '';
  const requested =
    edit === undefined
      ? `for ${cutName(String(amount)).replace(/^\+/, '')}${unit} more for the ${what} of ${label}, ${whenText(from, context)} to ${whenText(until, context)}`
      : `to ${editText(edit, context)}`;
  const cause = `${quoteText(reason)}${ticket === undefined ? '' : ` (${cutName(ticket)})`}`;
  return `${cutName(requestedBy)} asks ${requested}: ${cause}`;
}

/** `change amount of money-month of group acme/payments from 500.00 EUR to 900.00 EUR, with 2 more differences` */
function editText({ rows, count }: EditRequest['edit'], context: NoticeContext): string {
  const row = rows.find(({ field }) => field === 'amount') ?? rows[0];
  if (row === undefined) return 'change limits';
  const [from, to] = [row.from, row.to].map((value) => valueText(row, value, context));
  const more = count > 1 ? `, with ${counted(count - 1, 'more difference')}` : '';
  return `change ${row.field} of ${cutName(row.limit)} of ${subjectLabel(row.subject, context.directory)} from ${from} to ${to}${more}`;
}

/**
 * Finds the closest owner above who may approve: an enforced limit of the same unit, there or above, must bound the increase.
 * A requester never approves their own request. Else finance.
 */
function findApprover(request: LimitRequest, context: NoticeContext): Recipient {
  const { subject, requestedBy } = request;
  const units = unitsOf(request, context);
  // A group's owner may raise neither its own limits nor its caps.
  const above = groupsAround(subject, context.directory).filter((group) => group !== placeOfSubject(subject));
  for (const [index, group] of above.entries()) {
    const owner = findOwnRecipient(group, context);
    if (owner === undefined || owner.owner.toLowerCase() === requestedBy.toLowerCase()) continue;
    const bounding = above.slice(index);
    if (units.every((unit) => bounding.some((each) => holds(each, unit, context)))) return owner;
  }
  return FINANCE;
}
