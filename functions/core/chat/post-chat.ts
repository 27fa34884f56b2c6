import { codedError } from '../../../policies/coded-error.ts';
import type { ChatAddress } from './chat-channels.ts';
import type { ChatMessage } from './chat-message.ts';
import { slackMessage } from './slack-message.ts';
import { teamsMessage } from './teams-message.ts';

export class ChatError extends codedError('ChatError', {
  /** No answer, or one that asks to come again; the message may have arrived. */
  chat_unavailable: true,
  /** The webhook is gone, or takes no such message. */
  chat_refused: false,
}) {}

export interface ChatSender {
  /** @throws {ChatError} */
  send(message: ChatMessage, to: ChatAddress): Promise<void>;
}

interface ChatSenderDeps {
  readonly fetch: typeof fetch;
  readonly sleep: (ms: number) => Promise<void>;
}

const TRY_TIMEOUT_MS = 3_000;
const TRIES_MAX = 3;
const PAUSE_MS = 1_000;
/** Slack takes about one message a second and channel; who asks for more has to wait for the next run. */
const PAUSE_MAX_MS = 5_000;

/** Posts to incoming webhooks. Waits as long as it is asked to, within bounds. */
export const chatSender = ({ fetch, sleep }: ChatSenderDeps): ChatSender => ({
  send: async (message, { service, url }) => {
    const body = JSON.stringify(service === 'slack' ? slackMessage(message) : teamsMessage(message));
    for (let tried = 1; ; tried += 1) {
      const answer = await post(fetch, url, body);
      if (answer.outcome === 'taken') return;
      if (answer.outcome === 'refused')
        throw new ChatError('chat_refused', `${service} refused a message (status ${answer.status})`);
      if (tried === TRIES_MAX)
        throw new ChatError('chat_unavailable', `${service} took no message in ${TRIES_MAX} tries`);
      await sleep(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MS * tried, answer.afterMs)));
    }
  },
});

type Posted =
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'refused'; readonly status: number }
  | { readonly outcome: 'again'; readonly afterMs: number };

async function post(send: typeof fetch, url: string, body: string): Promise<Posted> {
  try {
    const response = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      // An address that moved is not one that was given to us.
      redirect: 'manual',
      signal: AbortSignal.timeout(TRY_TIMEOUT_MS),
    });
    await response.body?.cancel();
    const { ok, status } = response;
    if (ok) return { outcome: 'taken' };
    const isLater = status === 429 || status >= 500;
    if (!isLater) return { outcome: 'refused', status };
    const afterSeconds = Number(response.headers.get('retry-after') ?? 0);
    return { outcome: 'again', afterMs: Number.isFinite(afterSeconds) ? afterSeconds * 1_000 : 0 };
  } catch {
    // The cause could quote the address.
    return { outcome: 'again', afterMs: 0 };
  }
}
