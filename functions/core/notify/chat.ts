/** Messages into channels of Slack and Teams by incoming webhooks. The addresses are secrets. */
import { codedError } from '../../../policies/coded-error.ts';
import { shortened } from '../../../policies/text/plain-text.ts';
import { FINANCE, type Recipient } from './recipient.ts';

/** Texts are plain: text that a person wrote must never become a link, a mention or a picture. */
export interface ChatMessage {
  readonly title: string;
  readonly parts: readonly {
    readonly text: string;
    readonly link?: { readonly text: string; readonly href: string };
  }[];
}

const SERVICES = ['slack', 'teams'] as const;

interface ChatChannel {
  /** The `contact` in the limits; `finance`, or `*` for every recipient without a line. */
  readonly channel: string;
  readonly service: (typeof SERVICES)[number];
  readonly url: string;
}

const LINE = /^(\S.*?)\s+(\S+)\s+(\S+)$/;
/** Only a receiver on this machine may go without TLS. */
const ADDRESS = /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost)[:/])\S+$/;
const CHANNELS_MAX = 500;

/**
 * Reads lines such as `#ci-budget slack https://hooks.slack.com/services/…`. Lines that begin with `# ` are remarks.
 * `unreadable` has line numbers only, because a line holds a secret.
 */
export function readChatChannels(lines: readonly string[]) {
  const channels: ChatChannel[] = [];
  const unreadable: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (/^#(\s|$)/.test(line)) continue;
    const [, channel = '', written = '', url = ''] = LINE.exec(line) ?? [];
    const service = SERVICES.find((each) => each === written.toLowerCase());
    if (service === undefined || !ADDRESS.test(url) || !URL.canParse(url)) unreadable.push(index + 1);
    else if (channels.length < CHANNELS_MAX) channels.push({ channel, service, url });
  }
  return { channels, unreadable };
}

/** Matches by contact, not by owner: owners of different groups may have the same name. */
export function findChannel({ owner, contact }: Recipient, channels: readonly ChatChannel[]) {
  const named = (name: string | undefined): ChatChannel | undefined =>
    channels.find(({ channel }) => name !== undefined && channel.toLowerCase() === name.toLowerCase());
  return named(contact) ?? (owner === FINANCE.owner ? named(FINANCE.owner) : undefined) ?? named('*');
}

export class ChatError extends codedError('ChatError', {
  /** No response, or one that asks to try later. The message may have arrived. */
  chat_unavailable: true,
  chat_refused: false,
}) {}

export type ChatSender = ReturnType<typeof chatSender>;

const TRY_TIMEOUT_MS = 3_000;
const TRIES_MAX = 3;
const PAUSE_MS = 1_000;
/** Slack takes about one message per second and channel. A longer pause would cost the run too much time. */
const PAUSE_MAX_MS = 5_000;

export const chatSender = ({
  fetch,
  sleep,
}: {
  readonly fetch: typeof globalThis.fetch;
  readonly sleep: (ms: number) => Promise<void>;
}) => ({
  /** @throws {ChatError} Quotes neither the address nor the response. */
  send: async (message: ChatMessage, { service, url }: ChatChannel): Promise<void> => {
    const body = JSON.stringify(BODIES[service](message));
    for (let tries = 1; ; tries += 1) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        // The platform team gave this address; a redirect could lead to any other.
        redirect: 'manual',
        signal: AbortSignal.timeout(TRY_TIMEOUT_MS),
      }).catch(() => undefined);
      await response?.body?.cancel().catch(() => {});
      if (response?.ok === true) return;
      const { status } = response ?? { status: 503 };
      if (status !== 429 && status < 500)
        throw new ChatError('chat_refused', `${service} refused a message (status ${status})`);
      if (tries === TRIES_MAX)
        throw new ChatError('chat_unavailable', `${service} took no message in ${TRIES_MAX} tries`);
      const askedMs = Number(response?.headers.get('retry-after') ?? 0) * 1_000 || 0;
      await sleep(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MS * tries, askedMs)));
    }
  },
});

const BODIES: Readonly<Record<ChatChannel['service'], (message: ChatMessage) => object>> = {
  slack: slackBody,
  teams: teamsBody,
};

/** `text` is for notifications, `blocks` for the channel, in the bounds of Slack's Block Kit. */
function slackBody({ title, parts }: ChatMessage): object {
  const plain = (text: string, charactersMax: number) => ({
    ...{ type: 'plain_text', text: shortened(text, charactersMax), emoji: false },
  });
  return {
    // `<!channel>` would notify every member.
    text: title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    blocks: [
      { type: 'header', text: plain(title, 150) },
      ...parts.slice(0, 49).map(({ text, link }, index) => ({
        type: 'section',
        text: plain(text, 3_000),
        ...(link !== undefined && {
          accessory: {
            ...{ type: 'button', action_id: `open-${index + 1}` },
            ...{ text: plain(link.text, 75), url: link.href },
          },
        }),
      })),
    ],
  };
}

/** A webhook of Teams Workflows documents 28 KB and takes less in practice. */
const CARD_BYTES_MAX = 20_000;

/** An adaptive card of `TextRun`s, which have no markup, unlike a `TextBlock`. */
function teamsBody({ title, parts }: ChatMessage): object {
  const line = (text: string, style: object = {}): object => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...style }],
  });
  let left = CARD_BYTES_MAX;
  const fitting = parts
    .map(({ text, link }) => [
      ...text.split('\n').map((each) => line(each)),
      ...(link === undefined
        ? []
        : [{ type: 'ActionSet', actions: [{ type: 'Action.OpenUrl', title: link.text, url: link.href }] }]),
    ])
    .filter((elements) => {
      left -= Buffer.byteLength(JSON.stringify(elements));
      return left >= 0;
    });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    ...{ type: 'AdaptiveCard', version: '1.4' },
    body: [line(title, { weight: 'Bolder', size: 'Medium' }), ...fitting.flat()],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}
