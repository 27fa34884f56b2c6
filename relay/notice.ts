import type { NoticeOrder } from '../policies/decision.ts';
import type { RelayEvent } from './events.ts';

/**
 * Whether people are to be told of a rejection. Who decided may not say, or say what is no word of ours: rather told
 * twice than never.
 */
export function noticeOf({
  answer,
  decision,
}: Extract<RelayEvent, { readonly type: 'answered' }>): NoticeOrder | undefined {
  if (answer.outcome !== 'rejected') return undefined;
  return decision?.outcome === 'rejected' && decision.notice === 'repeat' ? 'repeat' : 'first';
}
