import type { ChatMessage, ChatPart } from './chat-message.ts';

/** A Workflows webhook takes 28 KB in name and less in practice. */
const CARD_BYTES_MAX = 20_000;

/** The body of a webhook of Teams Workflows: an adaptive card. Runs of text have no markup, unlike a `TextBlock`. */
export function teamsMessage({ title, parts }: ChatMessage): object {
  let left = CARD_BYTES_MAX;
  const fitting = parts.map(partElements).filter((elements) => {
    left -= Buffer.byteLength(JSON.stringify(elements));
    return left >= 0;
  });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [plainBlock(title, { weight: 'Bolder', size: 'Medium' }), ...fitting.flat()],
        },
      },
    ],
  };
}

const partElements = ({ text, link }: ChatPart): readonly object[] => [
  ...text.split('\n').map((line) => plainBlock(line)),
  ...(link === undefined
    ? []
    : [{ type: 'ActionSet', actions: [{ type: 'Action.OpenUrl', title: link.text, url: link.href }] }]),
];

const plainBlock = (text: string, style: object = {}): object => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...style }],
});
