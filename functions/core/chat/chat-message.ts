/** What a channel is told, in words of neither Slack nor Teams. Texts are plain. */
export interface ChatMessage {
  readonly title: string;
  readonly parts: readonly ChatPart[];
}

export interface ChatPart {
  readonly text: string;
  /** A button that opens a page. */
  readonly link?: { readonly text: string; readonly href: string };
}
