import { createHash } from 'node:crypto';
import { counterName } from '../../policies/claim.ts';
import { errorName } from '../core/environment/environment.ts';
import { readRequests } from '../core/limits/requests.ts';
import { approvalPath } from '../core/notify/approval-link.ts';
import { ChatError, type ChatMessage, findChannel, readChatChannels } from '../core/notify/chat.ts';
import { linkTo, REQUESTS_PAGE } from '../core/notify/console-links.ts';
import { type Message, NotifyError, subjectLine } from '../core/notify/message.ts';
import { FINANCE, type Recipient, recipientKey } from '../core/notify/recipient.ts';
import type { ChannelOutcome } from '../core/thresholds/alert-records.ts';
import { findDueNotices, findForecastNotices } from './due.ts';
import { findEditNotices, findRequestNotices } from './edits.ts';
import { findJobNotices } from './jobs.ts';
import { keepRequestNotes } from './merge-request-notes.ts';
import { KINDS, type Notice } from './notice.ts';
import {
  advancePartly,
  type Cursor,
  contextReader,
  type Findings,
  type NoticesDeps,
  noticeHash,
  type Run,
  START,
} from './run.ts';

const FINDERS: readonly ((run: Run) => Promise<Findings>)[] = [
  findRequestNotices,
  findDueNotices,
  findForecastNotices,
  findJobNotices,
  findEditNotices,
];

/** At 30 ms each some six seconds. An import with a thousand owners takes five runs. */
const MESSAGES_MAX = 200;
/** Mail goes first, and a run has a minute. */
const CHAT_RUN_MS = 20_000;
const TIMEOUT_MS = 5_000;

/**
 * 1. Read cursor, limit pointer and requests. A run without events ends after one more read, without a write.
 * 2. Find the notices since the cursor.
 * 3. Send one message per recipient, then write the cursor.
 * 4. Copy the messages into chats, and record outcomes of alerts.
 * 5. Keep notes in merge requests, and write the cursor again if they changed. GitLab may be slow, so they come last.
 *
 * At least once: a crash before the cursor is written sends the same notices again, under the same ids. If the topic stops taking
 * messages, the cursor keeps which notices were taken; jobs that were rejected meanwhile make a new notice.
 *
 * @throws {NotifyError} The topic did not take a message; the next run sends the rest.
 * @throws {LimitsError | LedgerError | DirectoryError} A read failed; nothing was sent.
 */
export async function sendNotices(deps: NoticesDeps) {
  const { cursors, limitTable, clock, log } = deps;
  const nowMs = clock.nowMs();
  const [stored, pointer, requests] = await Promise.all([
    cursors.read(),
    limitTable.getPointer({ timeoutMs: TIMEOUT_MS }),
    readRequests(limitTable, nowMs),
  ]);
  const cursor = stored?.cursor ?? { ...START, edit: pointer?.edit ?? 0 };
  const run: Run = {
    ...{ deps, cursor, pointer, requests, nowMs },
    isFirst: stored === undefined,
    context: contextReader(pointer, deps, nowMs),
    decisionPage: await decisionPages(deps, nowMs),
  };
  const found: Notice[] = [];
  let complete: Cursor = cursor;
  for (const find of FINDERS) {
    const { notices, next } = await find(run);
    found.push(...notices);
    complete = { ...complete, ...next };
  }
  const sentBefore = new Set(cursor.sent);
  const notices = found.filter((each) => !sentBefore.has(noticeHash(each)));
  const { sent, waiting, failure } = await sendMessages(notices, deps);

  const taken = sent.flatMap((each) => each.notices);
  const next = waiting === 0 ? { ...complete, sent: [] } : advancePartly(cursor, taken);
  let rev = stored?.rev ?? 0;
  const write = async (changed: Cursor): Promise<void> => {
    rev += 1;
    // A parallel run may have sent the same notices, under the same ids.
    if (!(await cursors.write({ rev, cursor: changed }))) log.warn('notices sent by two runs', { rev });
  };
  if (stored === undefined || JSON.stringify(cursor) !== JSON.stringify(next)) await write(next);
  const report = { notices: taken.length, messages: sent.length, waiting };
  if (sent.length > 0 || waiting > 0) log.info('notices sent', report);

  const chat = sent.length === 0 ? undefined : await openChat(deps);
  const recordTopic = (
    some: readonly Notice[],
    outcome: ChannelOutcome['outcome'],
    more: readonly ChannelOutcome[] = [],
  ) => recordAlerts(some, [{ channel: 'topic', outcome, atMs: clock.nowMs() }, ...more], deps);
  for (const each of sent) await recordTopic(each.notices, 'taken', await chat?.(each));
  const isTaken = new Set(taken);
  if (failure !== undefined)
    await recordTopic(
      notices.filter((each) => !isTaken.has(each)),
      'failed',
    );

  const notes = await keepRequestNotes(run, next.notes);
  if (notes !== undefined) await write({ ...next, notes });
  if (failure !== undefined) throw failure;
  return report;
}

/** Signs links for their recipient. Without a readable key links are unsigned, and messages are sent all the same. */
async function decisionPages({ approvals, log }: NoticesDeps, nowMs: number): Promise<Run['decisionPage']> {
  if (approvals === undefined) return () => REQUESTS_PAGE;
  const { instance, keys } = approvals;
  const read = await keys().catch((error: unknown): readonly string[] => {
    log.warn('approval key not read', { error: errorName(error) });
    return [];
  });
  return (request, { root }) =>
    approvalPath({ instance, request, role: root === undefined ? 'finance' : 'owner' }, read, nowMs) ??
    REQUESTS_PAGE;
}

interface SentMessage {
  readonly to: Recipient;
  readonly notices: readonly Notice[];
}

/** Sends one message per recipient, in the order of their first notices, until the topic refuses one. */
async function sendMessages(notices: readonly Notice[], { notify, consoleUrl }: NoticesDeps) {
  const byRecipient = [...Map.groupBy(notices, ({ to }) => recipientKey(to)).values()];
  const sent: SentMessage[] = [];
  let failure: NotifyError | undefined;
  for (const own of byRecipient.slice(0, MESSAGES_MAX)) {
    // Some limits of an owner name a contact, others do not.
    const { to = FINANCE } = own.find((each) => each.to.contact !== undefined) ?? own[0] ?? {};
    try {
      await notify.send(noticeMessage(to, own, consoleUrl));
    } catch (error) {
      if (!(error instanceof NotifyError)) throw error;
      failure = error;
      break;
    }
    sent.push({ to, notices: own });
  }
  return { sent, waiting: byRecipient.length - sent.length, failure };
}

/**
 * Returns a function that copies a message into its recipient's chat channel and returns the outcome; none without a
 * channel, or after {@link CHAT_RUN_MS}. A failed chat is logged and not repeated, because mail counts. Never throws.
 */
async function openChat({ chat, clock, consoleUrl, log }: NoticesDeps) {
  if (chat === undefined) return undefined;
  const lines = await chat.lines().catch((error: unknown): readonly string[] => {
    log.warn('chat webhooks not read', { error: errorName(error) });
    return [];
  });
  const { channels, unreadable } = readChatChannels(lines);
  if (unreadable.length > 0) log.warn('chat webhooks unreadable', { lines: unreadable.join(',') });
  const endMs = clock.monotonicMs() + CHAT_RUN_MS;
  return async ({ to, notices }: SentMessage): Promise<readonly ChannelOutcome[]> => {
    const target = findChannel(to, channels);
    if (target === undefined || clock.monotonicMs() >= endMs) return [];
    const { channel: name, service: channel } = target;
    try {
      await chat.sender.send(chatDigest(notices, consoleUrl), target);
      return [{ channel, outcome: 'taken', atMs: clock.nowMs() }];
    } catch (error) {
      const code = error instanceof ChatError ? error.code : errorName(error);
      log.warn('chat not sent', { channel: name, service: channel, code });
      return [{ channel, outcome: 'failed', atMs: clock.nowMs() }];
    }
  };
}

/** Never throws: a lost record must not repeat a sent message. */
async function recordAlerts(
  notices: readonly Notice[],
  channels: readonly ChannelOutcome[],
  { alerts, log }: NoticesDeps,
): Promise<void> {
  for (const { alert } of notices) {
    if (alert === undefined) continue;
    try {
      await alerts.add({ of: 'forecasts', key: alert.key }, [{ ...alert.level, channels }]);
    } catch (error) {
      log.warn('alert not recorded', { counter: counterName(alert.key), error: errorName(error) });
    }
  }
}

/** The longest texts of so many fit what SNS takes. The console has all. */
export const NOTICES_PER_MESSAGE_MAX = 20;
const NOTICES_PER_CHAT_MAX = 10;

const ORDER = Object.keys(KINDS);
const HEADINGS = [...new Set(Object.values(KINDS).map(([, heading]) => heading))];

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

function chatDigest(notices: readonly Notice[], consoleUrl: string | undefined): ChatMessage {
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
