import { DAY_MS } from '../../../policies/limits/calendar.ts';
import type { Grant } from '../../../policies/limits/grant.ts';
import type { Limit } from '../../../policies/limits/limit.ts';
import { edgeText, relativeText } from '../../../policies/text/edge-text.ts';
import { limitName } from '../../../policies/units/unit-texts.ts';
import { subjectPagePath } from '../../core/notify/console-links.ts';
import { findRecipient, type Ownership, subjectLabel } from '../../core/notify/recipient.ts';
import type { Cursor } from './cursor.ts';
import { allLimits, type DueNotices } from './due-asked.ts';
import type { Notice } from './notice.ts';
import { type NoticeFormat, noticeAmount, quotedWords } from './notice-format.ts';

/** So long before its end a grant is told of; one that is shorter was told when it was given. */
const TOLD_BEFORE_MS = DAY_MS;

export function noticesOfEnding(
  told: Cursor['ending'],
  ownership: Ownership,
  telling: NoticeFormat,
): DueNotices & { readonly ending: Cursor['ending'] } {
  const { nowMs } = telling;
  const notices: Notice[] = [];
  const ending = new Map(Object.entries(told).filter(([, untilMs]) => untilMs > nowMs));
  let dueAtMs = Number.POSITIVE_INFINITY;
  for (const limit of allLimits(ownership.limits)) {
    for (const grant of limit.grants ?? []) {
      const tellAtMs = grant.untilMs - TOLD_BEFORE_MS;
      const key = nameOf(limit, grant);
      if (grant.untilMs <= nowMs || grant.fromMs > tellAtMs || ending.has(key)) continue;
      if (nowMs < tellAtMs) dueAtMs = Math.min(dueAtMs, tellAtMs);
      else {
        ending.set(key, grant.untilMs);
        notices.push(endingNotice(key, limit, grant, ownership, telling));
      }
    }
  }
  return { notices, dueAtMs, ending: Object.fromEntries(ending) };
}

const nameOf = ({ subject, id }: Limit, grant: Grant): string =>
  `${subject}:${id}:${grant.id ?? grant.amount}:${grant.untilMs}`;

function endingNotice(
  key: string,
  limit: Limit,
  grant: Grant,
  ownership: Ownership,
  telling: NoticeFormat,
): Notice {
  const { subject, id, unit, zone } = limit;
  const label = subjectLabel(subject, ownership.directory);
  const more = noticeAmount(grant.amount, unit, telling);
  const afterwards =
    limit.amount === 'unlimited' ? '' : ` It is ${noticeAmount(limit.amount, unit, telling)} without grants.`;
  return {
    to: findRecipient(subject, id, ownership),
    id: `grant:${key}:ending`,
    kind: 'grant-ending',
    subject,
    label,
    lines: [
      `A grant of ${more} for the ${limitName(limit)} of ${label} counts until ${edgeText(grant.untilMs, 'end', zone)} (${relativeText(telling.nowMs, grant.untilMs)}).${afterwards}`,
      `It was given for ${quotedWords(grant.reason)}`,
    ],
    page: subjectPagePath(subject),
    facts: { limit: id, amount: grant.amount, unit, until: new Date(grant.untilMs).toISOString() },
  };
}
