/** All notices of one recipient as one message: mail and JSON over the topic, and a chat message. */
import { createHash } from 'node:crypto';
import type { ChatMessage } from '../core/notify/chat.ts';
import { linkTo } from '../core/notify/console-links.ts';
import { type Message, subjectLine } from '../core/notify/message.ts';
import type { Recipient } from '../core/notify/recipient.ts';
import { KINDS, type Notice } from './notice.ts';

/** The longest texts of so many fit what SNS takes. The console has all of them. */
export const NOTICES_PER_MESSAGE_MAX = 20;
const NOTICES_PER_CHAT_MAX = 10;

const ORDER = Object.keys(KINDS);
const HEADINGS = [...new Set(Object.values(KINDS).map(([, heading]) => heading))];

/** Notices of one kind stay in the order of their events. */
const sortNotices = (notices: readonly Notice[]): readonly Notice[] =>
  notices.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));

const under = (heading: string, notices: readonly Notice[]): readonly Notice[] =>
  notices.filter(({ kind }) => KINDS[kind][1] === heading);

/** The first line of a single notice; else `Waiting for you: 1, Jobs: 2`. */
function headlineText(notices: readonly Notice[]): string {
  const [first, ...more] = notices;
  if (first !== undefined && more.length === 0) return `Tollgate: ${first.lines[0]}`;
  const counts = HEADINGS.map((heading) => [heading, under(heading, notices).length] as const);
  const shown = counts.filter(([, count]) => count > 0).map(([heading, count]) => `${heading}: ${count}`);
  return `Tollgate: ${shown.join(', ')}`;
}

/** @param notices - of this recipient, at least one. */
export function noticeMessage(
  to: Recipient,
  notices: readonly Notice[],
  consoleUrl: string | undefined,
): Message {
  const sorted = sortNotices(notices);
  const shown = sorted.slice(0, NOTICES_PER_MESSAGE_MAX);
  const more = sorted.length - shown.length;
  // Independent of the order, so that a repeat has the same id.
  const ids = JSON.stringify(notices.map(({ id }) => id).sort());
  const id = createHash('sha256').update(ids).digest('base64url');
  const severities = sorted.map(({ kind }) => KINDS[kind][0]);
  const severity = (['action', 'warning'] as const).find((each) => severities.includes(each));
  const text = [
    `For the owner: ${to.owner}${to.contact === undefined ? '' : ` (${to.contact})`}`,
    ...HEADINGS.flatMap((heading) => {
      const texts = under(heading, shown).map((each) => noticeText(each, consoleUrl));
      return texts.length === 0 ? [] : [`${heading}\n${texts.join('\n')}`];
    }),
    ...(more > 0 ? [[`and ${more} more`, linkTo(consoleUrl, '/history')].filter(Boolean).join(': ')] : []),
  ].join('\n\n');
  return {
    subject: subjectLine(headlineText(sorted)),
    text: `${text}\n`,
    json: JSON.stringify({
      ...{ kind: 'notices', version: 1, id, ...to },
      notices: shown.map(({ lines, page, facts, ...each }) => ({
        ...{ id: each.id, kind: each.kind, severity: KINDS[each.kind][0], subject: each.subject },
        ...{ says: lines[0], link: linkTo(consoleUrl, page), ...facts },
      })),
      ...(more > 0 && { more }),
    }),
    id,
    attributes: { owner: to.owner, kind: 'notices', severity: severity ?? 'info' },
  };
}

const noticeText = ({ lines, page }: Notice, consoleUrl: string | undefined): string =>
  `- ${[...lines, linkTo(consoleUrl, page)].filter(Boolean).join('\n  ')}`;

export function chatDigest(notices: readonly Notice[], consoleUrl: string | undefined): ChatMessage {
  const sorted = sortNotices(notices);
  const more = sorted.length - NOTICES_PER_CHAT_MAX;
  const part = (text: string, page: string) => {
    const href = linkTo(consoleUrl, page);
    return { text, ...(href !== undefined && { link: { text: 'Open', href } }) };
  };
  return {
    title: headlineText(sorted),
    parts: [
      ...sorted.slice(0, NOTICES_PER_CHAT_MAX).map(({ lines, page }) => part(lines.join('\n'), page)),
      ...(more > 0 ? [part(`and ${more} more`, '/history')] : []),
    ],
  };
}
