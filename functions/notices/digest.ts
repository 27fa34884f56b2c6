/** All notices of one recipient as one message: mail and JSON over the topic, and a chat message. */
import { createHash } from 'node:crypto';
import type { ChatMessage } from '../core/notify/chat.ts';
import { linkTo } from '../core/notify/console-links.ts';
import { type Message, type MessageSeverity, subjectLine } from '../core/notify/message.ts';
import type { Recipient } from '../core/notify/recipient.ts';
import { headlineText, KINDS, type Notice } from './notice.ts';

/** More lines would not be read; the console has them all. */
export const NOTICES_PER_MESSAGE_MAX = 40;
const NOTICES_PER_CHAT_MAX = 10;
/** Notices in all their forms; the rest of a message of SNS needs some room, too. */
const NOTICES_BYTES_MAX = 220_000;

const ORDER = Object.keys(KINDS);
const HEADINGS = [...new Set(Object.values(KINDS).map(([, heading]) => heading))];
const SEVERITIES: readonly MessageSeverity[] = ['action', 'warning', 'info'];

/** Notices of one kind stay in the order of their events. */
const sortNotices = (notices: readonly Notice[]): readonly Notice[] =>
  [...notices].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));

/** @param notices - of this recipient, at least one. */
export function noticeMessage(
  to: Recipient,
  notices: readonly Notice[],
  consoleUrl: string | undefined,
): Message {
  const sorted = sortNotices(notices);
  const shown = takeFitting(sorted.slice(0, NOTICES_PER_MESSAGE_MAX), consoleUrl);
  const more = sorted.length - shown.length;
  // Independent of the order, so that a repeat has the same id.
  const ids = JSON.stringify(notices.map(({ id }) => id).sort());
  const id = createHash('sha256').update(ids).digest('base64url');
  const severity = SEVERITIES.find((each) => sorted.some(({ kind }) => KINDS[kind][0] === each));
  const history = linkTo(consoleUrl, '/history');
  const sections = HEADINGS.flatMap((heading) => {
    const under = shown.filter(({ kind }) => KINDS[kind][1] === heading);
    const texts = under.map((each) => noticeText(each, consoleUrl));
    return texts.length === 0 ? [] : [`${heading}\n${texts.join('\n')}`];
  });
  const text = [
    `For the owner: ${to.owner}${to.contact === undefined ? '' : ` (${to.contact})`}`,
    ...sections,
    ...(more > 0 ? [`and ${more} more${history === undefined ? '' : `: ${history}`}`] : []),
  ].join('\n\n');
  return {
    subject: subjectLine(`Tollgate: ${headlineText(sorted)}`),
    text: `${text}\n`,
    json: JSON.stringify({
      ...{ kind: 'notices', version: 1, id, ...to },
      notices: shown.map((each) => noticeJson(each, consoleUrl)),
      ...(more > 0 && { more }),
    }),
    id,
    attributes: { owner: to.owner, kind: 'notices', severity: severity ?? 'info' },
  };
}

/** Long texts of many bytes per letter leave room for fewer notices. */
function takeFitting(notices: readonly Notice[], consoleUrl: string | undefined): readonly Notice[] {
  let left = NOTICES_BYTES_MAX;
  return notices.filter((each) => {
    const forms = { text: noticeText(each, consoleUrl), json: JSON.stringify(noticeJson(each, consoleUrl)) };
    left -= Buffer.byteLength(JSON.stringify(forms));
    return left >= 0;
  });
}

function noticeText({ lines: [first, ...rest], examples = [], page }: Notice, consoleUrl?: string): string {
  const link = linkTo(consoleUrl, page);
  return [
    `- ${first}`,
    ...rest,
    ...examples.map(({ text, page: job }) => [text, linkTo(consoleUrl, job)].filter(Boolean).join(': ')),
    ...(link === undefined ? [] : [link]),
  ].join('\n  ');
}

function noticeJson(notice: Notice, consoleUrl: string | undefined): object {
  const { id, kind, subject, label, lines, page, facts, examples = [] } = notice;
  const link = linkTo(consoleUrl, page);
  return {
    ...{ id, kind, severity: KINDS[kind][0], subject, subjectLabel: label, says: lines[0] },
    ...(link !== undefined && { link }),
    ...facts,
    ...(examples.length > 0 && {
      examples: examples.map(({ text, page: job }) => ({ text, link: linkTo(consoleUrl, job) })),
    }),
  };
}

export function chatDigest(notices: readonly Notice[], consoleUrl: string | undefined): ChatMessage {
  const sorted = sortNotices(notices);
  const shown = sorted.slice(0, NOTICES_PER_CHAT_MAX);
  const more = sorted.length - shown.length;
  const part = (text: string, button: string, page: string) => {
    const href = linkTo(consoleUrl, page);
    return { text, ...(href !== undefined && { link: { text: button, href } }) };
  };
  return {
    title: `Tollgate: ${headlineText(sorted)}`,
    parts: [
      ...shown.map(({ lines, page, kind }) =>
        part(lines.join('\n'), kind === 'request-waiting' ? 'Open request' : 'Open', page),
      ),
      ...(more > 0 ? [part(`and ${more} more`, 'All changes', '/history')] : []),
    ],
  };
}
