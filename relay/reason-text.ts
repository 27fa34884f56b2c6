/** GitLab cuts job messages here, and its own prefix needs some room (app/models/ci/job_message.rb). */
export const REASON_LENGTH_MAX = 9_900;

/** What the router is told: never empty, never more than fits, no control characters but line breaks. */
export function reasonText(text: string): string {
  const plain = text
    .replaceAll('\r\n', '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, ' ')
    .slice(0, REASON_LENGTH_MAX)
    .toWellFormed()
    .trim();
  return plain === '' ? 'Rejected by Tollgate without a reason; ask whoever runs it.' : plain;
}
