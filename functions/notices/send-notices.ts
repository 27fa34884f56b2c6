import { counterName } from '../../policies/claim.ts';
import { errorName } from '../core/environment/environment.ts';
import { readRequests } from '../core/limits/requests.ts';
import { approvalPath } from '../core/notify/approval-link.ts';
import { ChatError, findChannel, readChatChannels } from '../core/notify/chat.ts';
import { REQUESTS_PAGE } from '../core/notify/console-links.ts';
import { NotifyError } from '../core/notify/message.ts';
import { FINANCE, type Recipient, recipientKey } from '../core/notify/recipient.ts';
import type { ChannelOutcome } from '../core/thresholds/alert-records.ts';
import { advancePartly, type Cursor, noticeHash, START } from './cursor.ts';
import { chatDigest, noticeMessage } from './digest.ts';
import { findDueNotices } from './due.ts';
import { findEditNotices } from './edits.ts';
import { findForecastNotices } from './forecasts.ts';
import { findJobNotices } from './jobs.ts';
import { keepRequestNotes } from './merge-request-notes.ts';
import type { Notice } from './notice.ts';
import { findRequestNotices } from './requests.ts';
import { contextReader, type Findings, type NoticesDeps, type Run } from './run.ts';

export interface NoticesReport {
  readonly notices: number;
  readonly messages: number;
  readonly waiting: number;
}

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
export async function sendNotices(deps: NoticesDeps): Promise<NoticesReport> {
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
