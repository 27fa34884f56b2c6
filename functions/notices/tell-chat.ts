/** Brings what an owner was told by mail into their channel as well. Mail is what counts: a chat that fails is logged, and not told again. */

import type { LedgerClock, Log } from '../core/environment/index.ts';
import {
  type ChatChannel,
  ChatError,
  type ChatMessage,
  type ChatSender,
  findChannel,
  readChatChannels,
} from '../core/notify/chat.ts';
import { linkTo } from '../core/notify/console-links.ts';
import type { Recipient } from '../core/notify/recipient.ts';
import { noticeOrder, noticesHeadline } from './digest.ts';
import type { Notice } from './gather/notice.ts';

/** Nobody scrolls further; the console has them all. */
const NOTICES_SHOWN = 10;
/** A run has a minute, and mail goes first. */
const RUN_MS = 20_000;

interface ChatNotifierDeps {
  /** Lines as `readChatChannels` takes them. */
  readonly lines: () => Promise<readonly string[]>;
  readonly sender: ChatSender;
  readonly clock: Pick<LedgerClock, 'monotonicMs'>;
  readonly consoleUrl: string | undefined;
  readonly log: Log;
}

/** Tells owners in chat what they were mailed. One outcome each, same order; undefined: they have no channel, or it was too late. Never throws. */
export type ChatNotifier = (told: readonly ToldNotices[]) => Promise<readonly (ChatOutcome | undefined)[]>;

export interface ChatOutcome {
  readonly service: ChatChannel['service'];
  readonly isTaken: boolean;
}

interface ToldNotices {
  readonly to: Recipient;
  readonly notices: readonly Notice[];
}

export const chatNotifier =
  ({ lines, sender, clock, consoleUrl, log }: ChatNotifierDeps): ChatNotifier =>
  async (told) => {
    const outcomes: (ChatOutcome | undefined)[] = [];
    if (told.length === 0) return outcomes;
    const untilMs = clock.monotonicMs() + RUN_MS;
    const counts = { sent: 0, failed: 0, late: 0 };
    try {
      const { channels, unreadable } = readChatChannels(await lines());
      if (unreadable.length > 0) log.warn('chat webhooks unreadable', { lines: unreadable.join(',') });
      for (const { to, notices } of told) {
        const channel = findChannel(to, channels);
        const isLate = clock.monotonicMs() >= untilMs;
        if (channel !== undefined && isLate) counts.late += 1;
        if (channel === undefined || isLate) {
          outcomes.push(undefined);
          continue;
        }
        const isTaken = await isSent(chatDigest(notices, consoleUrl), channel);
        counts[isTaken ? 'sent' : 'failed'] += 1;
        outcomes.push({ service: channel.service, isTaken });
      }
    } catch (error) {
      log.warn('chat webhooks not read', { error: error instanceof Error ? error.name : '' });
    }
    if (counts.sent + counts.failed + counts.late > 0) log.info('chats told', counts);
    return outcomes;

    async function isSent(
      message: ChatMessage,
      channel: Parameters<ChatSender['send']>[1],
    ): Promise<boolean> {
      try {
        await sender.send(message, channel);
        return true;
      } catch (error) {
        if (!(error instanceof ChatError)) throw error;
        log.warn('chat not told', { channel: channel.channel, service: channel.service, code: error.code });
        return false;
      }
    }
  };

function chatDigest(notices: readonly Notice[], consoleUrl: string | undefined): ChatMessage {
  const sorted = noticeOrder(notices);
  const shown = sorted.slice(0, NOTICES_SHOWN);
  const more = sorted.length - shown.length;
  const history = linkTo(consoleUrl, '/history');
  return {
    title: `Tollgate: ${noticesHeadline(sorted)}`,
    parts: [
      ...shown.map(({ lines, page, kind }) => {
        const href = linkTo(consoleUrl, page);
        const text = kind === 'request-waiting' ? 'Look at it and decide' : 'Open';
        return { text: lines.join('\n'), ...(href !== undefined && { link: { text, href } }) };
      }),
      ...(more > 0
        ? [
            {
              text: `and ${more} more`,
              ...(history !== undefined && { link: { text: 'All changes', href: history } }),
            },
          ]
        : []),
    ],
  };
}
