/** What somebody asked for: to those who may give it, and what became of it to those it is for. */

import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { limitsOn } from '../../../policies/limits/limits.ts';
import { isValidAt } from '../../../policies/limits/period.ts';
import { isMoney, isSpent, UNIT_OF } from '../../../policies/units/unit.ts';
import { limitName, UNIT_TEXTS } from '../../../policies/units/unit-texts.ts';
import {
  binds,
  type ChangeRow,
  type EditRequest,
  isDecided,
  isPending,
  type LimitRequest,
  type StoredRequest,
} from '../../core/limits/index.ts';
import { subjectPagePath } from '../../core/notify/console-links.ts';
import {
  FINANCE,
  findOwnRecipient,
  findRecipient,
  groupsAround,
  type Ownership,
  type Recipient,
  recipientKey,
  subjectLabel,
} from '../../core/notify/recipient.ts';
import type { Cursor, ToldRequest } from './cursor.ts';
import type { OwnershipReader } from './known.ts';
import type { Notice } from './notice.ts';
import {
  type NoticeFormat,
  name,
  noticeAmount,
  noticeCount,
  noticeInstant,
  quotedWords,
  whenWritten,
  words,
} from './notice-format.ts';

/** Whoever has not decided by then is asked again, and finance beside them. */
const REMINDED_AFTER_MS = DAY_MS;

/** Path of the page on which somebody decides a request. */
export type DecisionHref = (request: string, to: Recipient) => string;

interface RequestsTold {
  readonly notices: readonly Notice[];
  readonly requests: Cursor['requests'];
}

/** @param first - nobody was ever told anything: what was decided before is known. */
export async function noticesOfRequests(
  told: Cursor['requests'],
  stored: readonly StoredRequest[],
  {
    known,
    telling,
    first,
    decisionPage,
  }: {
    readonly known: OwnershipReader;
    readonly telling: NoticeFormat;
    readonly first: boolean;
    readonly decisionPage: DecisionHref;
  },
): Promise<RequestsTold> {
  const notices: Notice[] = [];
  const next: Record<string, ToldRequest> = {};
  for (const each of stored) {
    const { request } = each;
    const before = told[request.id];
    const { nowMs } = telling;
    if (isPending(each) && (before === undefined || nowMs - before.atMs >= REMINDED_AFTER_MS)) {
      const asked = (before?.asked ?? 0) + 1;
      notices.push(...waiting(request, asked, { ownership: await known(), telling, decisionPage }));
      next[request.id] = { asked, atMs: nowMs, decided: false };
    } else if (isDecided(each) && before?.decided !== true) {
      if (!first) notices.push(decided(request, await known(), telling));
      next[request.id] = { asked: before?.asked ?? 0, atMs: nowMs, decided: true };
    } else if (before !== undefined) {
      next[request.id] = before;
    }
  }
  return { notices, requests: next };
}

function waiting(
  request: LimitRequest,
  asked: number,
  {
    ownership,
    telling,
    decisionPage,
  }: {
    readonly ownership: Ownership;
    readonly telling: NoticeFormat;
    readonly decisionPage: DecisionHref;
  },
): readonly Notice[] {
  const { id, subject, requestedAtMs, link } = request;
  const label = subjectLabel(subject, ownership.directory);
  const approver = approverOf(request, ownership, telling.nowMs);
  const told =
    asked === 1 || recipientKey(approver) === recipientKey(FINANCE) ? [approver] : [approver, FINANCE];
  return told.map((to) => ({
    to,
    id: `request:${id}:waiting:${asked}`,
    kind: 'request-waiting',
    subject,
    label,
    lines: [
      `${askText(request, ownership, telling)}.`,
      `Asked on ${noticeInstant(requestedAtMs, telling)}; approve or decline it${asked > 1 ? ` (told ${asked} times)` : ''}.${link === undefined ? '' : ` It is about ${name(link)}`}`,
    ],
    page: decisionPage(id, to),
    facts: { request: id, asked, ...factsOf(request) },
  }));
}

function decided(request: LimitRequest, ownership: Ownership, telling: NoticeFormat): Notice {
  const { id, subject, limit, state, decidedBy = 'somebody', decidedAtMs = telling.nowMs, note } = request;
  const { link } = request;
  return {
    to: findRecipient(subject, limit, ownership),
    id: `request:${id}:${state}`,
    kind: 'request-decided',
    subject,
    label: subjectLabel(subject, ownership.directory),
    lines: [
      `${state === 'approved' ? 'Approved' : 'Declined'}: ${askText(request, ownership, telling)}.`,
      `By ${name(decidedBy)} on ${noticeInstant(decidedAtMs, telling)}${note === undefined ? '' : `: ${quotedWords(note)}`}`,
      ...(link === undefined || state !== 'approved' ? [] : [`Retry the job in GitLab: ${words(link)}`]),
    ],
    page: subjectPagePath(subject),
    facts: { request: id, state, decidedBy: name(decidedBy), ...factsOf(request) },
  };
}

const factsOf = ({ limit, amount, from, until, edit, requestedBy }: LimitRequest) => ({
  limit,
  ...(edit === undefined ? { amount, from, until } : { differences: edit.count }),
  requestedBy: name(requestedBy),
});

function askText(request: LimitRequest, { limits, directory }: Ownership, telling: NoticeFormat): string {
  if (request.edit !== undefined) return editText(request, directory, telling);
  const { subject, limit: id, amount, from, until, requestedBy, reason, ticket } = request;
  const limit = limitsOn(limits, subject).find((each) => each.id === id);
  const what = limit === undefined ? `limit ${name(id)}` : limitName(limit);
  const days = `${whenWritten(from, telling)} to ${whenWritten(until, telling)}`;
  return `${name(requestedBy)} asks for ${askedAmount(amount, limit, telling)} more for the ${what} of ${subjectLabel(subject, directory)}, ${days}: ${quotedWords(reason)}${ticket === undefined ? '' : ` (${name(ticket)})`}`;
}

/** `ann asks to change money-month of acme/payments from 500.00 EUR to 900.00 EUR: "…"` */
function editText(
  { edit, requestedBy, reason }: EditRequest,
  directory: Ownership['directory'],
  telling: NoticeFormat,
): string {
  const row = edit.rows.find(({ field }) => field === 'amount') ?? edit.rows[0];
  const value = (whole: ChangeRow['from']): string =>
    typeof whole === 'number' && row?.unit !== undefined
      ? noticeAmount(whole, row.unit, telling)
      : name(String(whole ?? 'nothing'));
  const what =
    row === undefined
      ? 'change limits'
      : `change ${row.field} of ${name(row.limit)} of ${subjectLabel(row.subject, directory)} from ${value(row.from)} to ${value(row.to)}`;
  const more = edit.count > 1 ? `, with ${noticeCount(edit.count - 1, 'more difference')}` : '';
  return `${name(requestedBy)} asks to ${what}${more}: ${quotedWords(reason)}`;
}

/** As it was written: money and minutes are written without their unit. */
function askedAmount(amount: string | number, limit: Limit | undefined, { currency }: NoticeFormat): string {
  const written = name(String(amount)).replace(/^\+/, '');
  if (limit === undefined || !isSpent(limit.kind)) return written;
  if (isMoney(limit.kind)) return `${written} ${currency}`;
  return /^\d+$/.test(written) ? `${written} ${UNIT_TEXTS[UNIT_OF[limit.kind]].words[0]}` : written;
}

/** The closest owner above who may give it: an enforced limit of the unit must hold what is given. Else finance. */
function approverOf(
  { subject, limit: id, requestedBy }: LimitRequest,
  ownership: Ownership,
  nowMs: number,
): Recipient {
  const unit = limitsOn(ownership.limits, subject).find((limit) => limit.id === id)?.unit;
  const above = groupsAround(subject, ownership.directory).filter((group) => group !== subject);
  const holds = (group: string): boolean =>
    limitsOn(ownership.limits, group).some(
      (limit) => limit.unit === unit && binds(limit) && isValidAt(limit, nowMs),
    );
  for (const [index, group] of above.entries()) {
    const owner = findOwnRecipient(group, ownership);
    if (owner === undefined || owner.owner.toLowerCase() === requestedBy.toLowerCase()) continue;
    if (above.slice(index).some(holds)) return owner;
  }
  return FINANCE;
}
