/** Pending requests, for the recipients who may approve them, and decisions, for the owner of the limit. */
import { DAY_MS } from '../../policies/limits/calendar.ts';
import { limitsOn } from '../../policies/limits/limits.ts';
import { isValidAt } from '../../policies/limits/period.ts';
import { instantText } from '../../policies/text/edge-text.ts';
import { isMoney } from '../../policies/unit.ts';
import { limitName } from '../../policies/unit-texts.ts';
import { binds } from '../core/limits/change-rows.ts';
import type { ChangeRow, EditRequest, LimitRequest } from '../core/limits/edit-model.ts';
import { isDecided, isPending } from '../core/limits/requests.ts';
import {
  FINANCE,
  findOwnRecipient,
  findRecipient,
  groupsAround,
  type Recipient,
  recipientKey,
  subjectLabel,
} from '../core/notify/recipient.ts';
import type { RequestCheckpoint } from './cursor.ts';
import {
  aNotice,
  countText,
  cutName,
  cutText,
  type Notice,
  quoteText,
  whenText,
  wholeAmountText,
} from './notice.ts';
import type { Findings, NoticeContext, Run } from './run.ts';

/** The second message also goes to finance. */
const REMIND_AFTER_MS = DAY_MS;

export async function findRequestNotices(run: Run): Promise<Findings> {
  const { cursor, nowMs } = run;
  const notices: Notice[] = [];
  const requests: Record<string, RequestCheckpoint> = {};
  for (const stored of run.requests) {
    const { request } = stored;
    const before = cursor.requests[request.id];
    const asked = before?.asked ?? 0;
    if (isPending(stored) && (before === undefined || nowMs - before.atMs >= REMIND_AFTER_MS)) {
      notices.push(...waitingNotices(request, asked + 1, await run.context(), run.decisionPage));
      requests[request.id] = { asked: asked + 1, atMs: nowMs, decided: false };
    } else if (isDecided(stored) && before?.decided !== true) {
      if (!run.isFirst) notices.push(decidedNotice(request, await run.context()));
      requests[request.id] = { asked, atMs: nowMs, decided: true };
    } else if (before !== undefined) requests[request.id] = before;
  }
  return { notices, next: { requests } };
}

function waitingNotices(
  request: LimitRequest,
  asked: number,
  context: NoticeContext,
  decisionPage: Run['decisionPage'],
): readonly Notice[] {
  const { id, subject, limit, requestedBy, requestedAtMs, link } = request;
  const approver = findApprover(request, context);
  const alone = asked === 1 || recipientKey(approver) === recipientKey(FINANCE);
  const about = link === undefined ? '' : ` It is about ${cutName(link)}`;
  return (alone ? [approver] : [approver, FINANCE]).map((to) =>
    aNotice('request-waiting', subject, context, {
      to,
      id: `request:${id}:waiting:${asked}`,
      lines: [
        `${requestText(request, context)}.`,
        `Asked on ${instantText(requestedAtMs, context.zone)}; approve or decline it.${about}`,
      ],
      page: decisionPage(id, to),
      facts: { request: id, asked, limit, requestedBy: cutName(requestedBy) },
    }),
  );
}

function decidedNotice(request: LimitRequest, context: NoticeContext): Notice {
  const { id, subject, limit, state, decidedBy = 'an unknown user', decidedAtMs = context.nowMs } = request;
  const { note, link, requestedBy } = request;
  const isApproved = state === 'approved';
  const why = note === undefined ? '' : `: ${quoteText(note)}`;
  return aNotice('request-decided', subject, context, {
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
  const wish =
    edit === undefined
      ? `for ${cutName(String(amount)).replace(/^\+/, '')}${unit} more for the ${what} of ${label}, ${whenText(from, context)} to ${whenText(until, context)}`
      : `to ${editText(edit, context)}`;
  const cause = `${quoteText(reason)}${ticket === undefined ? '' : ` (${cutName(ticket)})`}`;
  return `${cutName(requestedBy)} asks ${wish}: ${cause}`;
}

/** `change amount of money-month of group acme/payments from 500.00 EUR to 900.00 EUR, with 2 more differences` */
function editText({ rows, count }: EditRequest['edit'], context: NoticeContext): string {
  const row = rows.find(({ field }) => field === 'amount') ?? rows[0];
  if (row === undefined) return 'change limits';
  const value = (side: ChangeRow['from']): string =>
    typeof side === 'number' && row.unit !== undefined
      ? wholeAmountText(side, row.unit, context)
      : cutName(String(side ?? 'nothing'));
  const more = count > 1 ? `, with ${countText(count - 1, 'more difference')}` : '';
  return `change ${row.field} of ${cutName(row.limit)} of ${subjectLabel(row.subject, context.directory)} from ${value(row.from)} to ${value(row.to)}${more}`;
}

/**
 * Finds the closest owner above who may approve: an enforced limit of the same unit, there or above, must bound the increase.
 * A requester never approves their own request. Else finance.
 */
function findApprover({ subject, limit: id, requestedBy }: LimitRequest, context: NoticeContext): Recipient {
  const { limits, directory, nowMs } = context;
  const unit = limitsOn(limits, subject).find((limit) => limit.id === id)?.unit;
  const above = groupsAround(subject, directory).filter((group) => group !== subject);
  const isBound = (group: string): boolean =>
    limitsOn(limits, group).some((limit) => limit.unit === unit && binds(limit) && isValidAt(limit, nowMs));
  for (const [index, group] of above.entries()) {
    const owner = findOwnRecipient(group, context);
    if (owner === undefined || owner.owner.toLowerCase() === requestedBy.toLowerCase()) continue;
    if (above.slice(index).some(isBound)) return owner;
  }
  return FINANCE;
}
