import { shortened } from '../../../policies/text/plain-text.ts';
import type { ChatMessage } from './chat-message.ts';

/** Slack's own bounds. */
const HEADER_CHARACTERS_MAX = 150;
const SECTION_CHARACTERS_MAX = 3_000;
const BUTTON_CHARACTERS_MAX = 75;
const BLOCKS_MAX = 50;

/** The body of an incoming webhook: `text` for notifications, `blocks` for the channel. Plain text has no markup. */
export const slackMessage = ({ title, parts }: ChatMessage): object => ({
  text: escaped(title),
  blocks: [
    { type: 'header', text: plainText(title, HEADER_CHARACTERS_MAX) },
    ...parts.slice(0, BLOCKS_MAX - 1).map(({ text, link }, index) => ({
      type: 'section',
      text: plainText(text, SECTION_CHARACTERS_MAX),
      ...(link !== undefined && {
        accessory: {
          type: 'button',
          action_id: `open-${index + 1}`,
          text: plainText(link.text, BUTTON_CHARACTERS_MAX),
          url: link.href,
        },
      }),
    })),
  ],
});

const plainText = (text: string, charactersMax: number) => ({
  type: 'plain_text',
  text: shortened(text, charactersMax),
  emoji: false,
});

/** `<!channel>` would call everybody. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
