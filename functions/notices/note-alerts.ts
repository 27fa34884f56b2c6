import { counterName } from '../../policies/claim.ts';
import type { ChannelOutcome } from '../core/thresholds/alert-records.ts';
import type { Notice } from './gather/notice.ts';
import type { NoticesDeps } from './gather/notices-deps.ts';
import type { ChatOutcome } from './tell-chat.ts';

interface RunOutcome {
  /** Whose message was taken, with all it told. */
  readonly told: readonly { readonly notices: readonly Notice[] }[];
  /** What became of their chats, same order. */
  readonly chats: readonly (ChatOutcome | undefined)[];
  /** What the topic did not take. */
  readonly refused: readonly Notice[];
}

/**
 * Writes beside each counter what became of the message about its forecast. Never throws: what was told is not told again because
 * nobody could write it down.
 */
export async function noteAlerts({ told, chats, refused }: RunOutcome, deps: NoticesDeps): Promise<void> {
  const { alerts, clock, log } = deps;
  const atMs = clock.nowMs();
  for (const [index, { notices }] of told.entries()) {
    const chat = chats[index];
    await noteEach(notices, [
      { channel: 'topic', outcome: 'taken', atMs },
      ...(chat === undefined
        ? []
        : [{ channel: chat.service, outcome: chat.isTaken ? 'taken' : 'failed', atMs } as const]),
    ]);
  }
  await noteEach(refused, [{ channel: 'topic', outcome: 'failed', atMs }]);

  async function noteEach(notices: readonly Notice[], channels: readonly ChannelOutcome[]): Promise<void> {
    for (const { alert } of notices) {
      if (alert === undefined) continue;
      try {
        await alerts.add({ of: 'forecasts', key: alert.key }, [{ ...alert.level, channels }]);
      } catch (error) {
        log.warn('not noted what an owner was told', {
          counter: counterName(alert.key),
          error: error instanceof Error ? error.name : 'unknown failure',
        });
      }
    }
  }
}
