import { plainLines } from '../policies/text/plain-text.ts';

/** GitLab cuts job messages here, and its own prefix needs some room (app/models/ci/job_message.rb). */
export const REASON_LENGTH_MAX = 9_900;

/** What the router is told: never empty, never more than fits, nothing that cannot be seen but line breaks. */
export function reasonText(text: string): string {
  const plain = plainLines(text.slice(0, REASON_LENGTH_MAX)).trim();
  return plain === '' ? 'Rejected by Tollgate without a reason; ask whoever runs it.' : plain;
}
