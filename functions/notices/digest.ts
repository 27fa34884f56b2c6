/** Everything one owner is told at once: what waits for them first. */
import { createHash } from 'node:crypto';
import { linkTo } from '../core/notify/console-links.ts';
import { type Message, type MessageSeverity, subjectLine } from '../core/notify/message.ts';
import type { Recipient } from '../core/notify/recipient.ts';
import type { Notice, NoticeKind } from './gather/notice.ts';
import { noticeCount } from './gather/notice-format.ts';

/** Nobody reads more lines; the console has them all. */
export const NOTICES_PER_MESSAGE_MAX = 40;
/** Bounds the notices in all their forms and leaves room for what stands around them in a message of SNS. */
const NOTICES_BYTES_MAX = 220_000;

interface Kind {
  readonly severity: MessageSeverity;
  /** Heading it stands under. */
  readonly under: (typeof HEADINGS)[number];
}

/** In the order they are read. */
const HEADINGS = ['Waiting for you', 'Jobs', 'Break-glass', 'Limits', 'Requests'] as const;

const KINDS: Readonly<Record<NoticeKind, Kind>> = {
  'request-waiting': { severity: 'action', under: 'Waiting for you' },
  'break-glass-review': { severity: 'action', under: 'Waiting for you' },
  'jobs-rejected': { severity: 'warning', under: 'Jobs' },
  'jobs-warned': { severity: 'warning', under: 'Jobs' },
  'break-glass-opened': { severity: 'warning', under: 'Break-glass' },
  'break-glass-used': { severity: 'warning', under: 'Break-glass' },
  'break-glass-changed': { severity: 'info', under: 'Break-glass' },
  'freeze-set': { severity: 'warning', under: 'Limits' },
  'freeze-changed': { severity: 'info', under: 'Limits' },
  'freeze-lifted': { severity: 'info', under: 'Limits' },
  'forecast-reached': { severity: 'warning', under: 'Limits' },
  'grant-ending': { severity: 'warning', under: 'Limits' },
  'limit-tightened': { severity: 'warning', under: 'Limits' },
  'limit-loosened': { severity: 'info', under: 'Limits' },
  'limit-described': { severity: 'info', under: 'Limits' },
  'grant-given': { severity: 'info', under: 'Limits' },
  'grant-changed': { severity: 'info', under: 'Limits' },
  'request-decided': { severity: 'info', under: 'Requests' },
};

const ORDER = Object.keys(KINDS);
const SEVERITIES: readonly MessageSeverity[] = ['action', 'warning', 'info'];

/**
 * @param notices - of one addressee, at least one.
 * @param consoleUrl - `https://budget.example.com`; undefined: there is no console, and no links.
 */
export function noticeDigest(
  to: Recipient,
  notices: readonly Notice[],
  { consoleUrl }: { readonly consoleUrl: string | undefined },
): Message {
  const sorted = noticeOrder(notices);
  const shown = fitting(sorted.slice(0, NOTICES_PER_MESSAGE_MAX), consoleUrl);
  const more = sorted.length - shown.length;
  const id = idOf(notices);
  const severity = SEVERITIES.find((each) => sorted.some(({ kind }) => KINDS[kind].severity === each));
  const history = linkTo(consoleUrl, '/history');
  const sections = HEADINGS.flatMap((heading) => {
    const under = shown.filter(({ kind }) => KINDS[kind].under === heading);
    return under.length === 0
      ? []
      : [`${heading}\n${under.map((each) => noticeText(each, consoleUrl)).join('\n')}`];
  });
  return {
    subject: subjectLine(`Tollgate: ${noticesHeadline(sorted)}`),
    text: `${[
      ownerLine(to),
      ...sections,
      ...(more > 0 ? [`and ${more} more${history === undefined ? '' : `: ${history}`}`] : []),
    ].join('\n\n')}\n`,
    json: JSON.stringify({
      kind: 'notices',
      version: 1,
      id,
      ...to,
      notices: shown.map((each) => noticeJson(each, consoleUrl)),
      ...(more > 0 && { more }),
    }),
    id,
    attributes: { owner: to.owner, kind: 'notices', severity: severity ?? 'info' },
  };
}

/** What waits first. Stable: notices of one kind stay in the order they happened. */
export const noticeOrder = (notices: readonly Notice[]): readonly Notice[] =>
  [...notices].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));

/** As many as a message has room for; long texts of many bytes a letter leave less of it. */
function fitting(notices: readonly Notice[], consoleUrl: string | undefined): readonly Notice[] {
  let left = NOTICES_BYTES_MAX;
  return notices.filter((each) => {
    const forms = { text: noticeText(each, consoleUrl), json: JSON.stringify(noticeJson(each, consoleUrl)) };
    left -= Buffer.byteLength(JSON.stringify(forms));
    return left >= 0;
  });
}

const ownerLine = ({ owner, contact }: Recipient): string =>
  `For the owner: ${owner}${contact === undefined ? '' : ` (${contact})`}`;

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
    id,
    kind,
    severity: KINDS[kind].severity,
    subject,
    subjectLabel: label,
    says: lines[0],
    ...(link !== undefined && { link }),
    ...facts,
    ...(examples.length > 0 && {
      examples: examples.map(({ text, page: job }) => ({ text, link: linkTo(consoleUrl, job) })),
    }),
  };
}

/** `1 request waits, jobs rejected in group acme/payments, 2 changes of limits`. */
export function noticesHeadline(notices: readonly Notice[]): string {
  const of = (...kinds: readonly NoticeKind[]): readonly Notice[] =>
    notices.filter(({ kind }) => kinds.includes(kind));
  const waiting = of('request-waiting').length;
  const reviews = of('break-glass-review').length;
  const frozen = of('freeze-set').length;
  const opened = of('break-glass-opened', 'break-glass-used').length;
  const limits = notices.filter(({ kind }) => KINDS[kind].under === 'Limits').length - frozen;
  const parts = [
    waiting > 0 ? `${noticeCount(waiting, 'request waits', 'requests wait')}` : undefined,
    reviews > 0 ? `${reviews} break-glass to review` : undefined,
    jobsPart(of('jobs-rejected'), 'rejected'),
    jobsPart(of('jobs-warned'), 'would have been rejected'),
    opened > 0 ? 'broken glass' : undefined,
    frozen > 0 ? noticeCount(frozen, 'freeze') : undefined,
    limits > 0 ? `${noticeCount(limits, 'change')} of limits` : undefined,
    of('break-glass-changed').length > 0 && opened === 0 ? 'break-glass changed' : undefined,
    of('request-decided').length > 0
      ? noticeCount(of('request-decided').length, 'request decided', 'requests decided')
      : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** Groups stand in groups, so their jobs do not add up. */
function jobsPart(notices: readonly Notice[], what: string): string | undefined {
  const [first] = notices;
  if (first === undefined) return undefined;
  return notices.length === 1
    ? `${noticeCount(Number(first.facts.jobs), 'job')} of ${first.label} ${what}`
    : `jobs of ${notices.length} groups ${what}`;
}

/** Hashes the notices alone, whatever order they come in. */
const idOf = (notices: readonly Notice[]): string =>
  createHash('sha256')
    .update(JSON.stringify(notices.map(({ id }) => id).sort()))
    .digest('base64url');
