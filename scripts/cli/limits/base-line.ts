/** First line of `limits show --document`, for the published set. */
export const baseLine = (set: string, edit: number): string =>
  `# Set ${set}, edit ${edit}. An edit of it is published only while it is live (--base ${set})\n`;

/** The set a document says it is an edit of; undefined: it does not say. */
export const baseIn = (text: string): string | undefined => /^\uFEFF?# Set (\S+), edit \d+\./.exec(text)?.[1];
