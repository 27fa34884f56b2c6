/** Whether a delivery comes from the GitLab that shares a secret with us. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { Log } from '../core/environment/index.ts';

/** The headers that say who sent a delivery. Absent ones are `undefined`. */
export interface SignedHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  /** `X-Gitlab-Token`: the secret itself, in plain text. */
  readonly token: string | undefined;
}

/**
 * Standard Webhooks: HMAC-SHA256 over id, timestamp and raw body. Any of the tokens may have signed, so that one can be
 * replaced without a gap. A timestamp more than 5 minutes away is refused.
 *
 * @param tokens with or without `whsec_`, as GitLab shows them.
 * @see https://www.standardwebhooks.com
 */
export function isSigned(
  body: string,
  { id, timestamp, signature }: SignedHeaders,
  tokens: readonly string[],
  log: Log,
): boolean {
  if (id === undefined || timestamp === undefined || signature === undefined) return false;
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  return tokens.some((token, index) => {
    if (isGuessable(bytesOf(token))) {
      log.error('webhook signing token too weak, not taken', { number: index + 1, SECRET_BYTES_MIN });
      return false;
    }
    const webhook = readToken(token);
    if (webhook === undefined) {
      log.error('webhook signing token unreadable: expected base64, as GitLab shows it', {
        number: index + 1,
      });
      return false;
    }
    try {
      webhook.verify(body, headers, { jsonParse: false });
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  });
}

function readToken(token: string): Webhook | undefined {
  try {
    return new Webhook(token);
  } catch {
    // What the library says about it may quote it.
    return undefined;
  }
}

/** Anything shorter is guessed, or was never meant to be a secret. */
const SECRET_BYTES_MIN = 16;
/** Random secrets of 16 bytes have fewer once in 10^12 or so; `aaaaaaaaaaaaaaaa` has one. */
const DISTINCT_BYTES_MIN = 8;

const isGuessable = (secret: Buffer): boolean =>
  secret.length < SECRET_BYTES_MIN || new Set(secret).size < DISTINCT_BYTES_MIN;

/** What signs: a token is base64 of it. */
const bytesOf = (token: string): Buffer => Buffer.from(token.replace(/^whsec_/, ''), 'base64');

/** Digests are compared: they have one length, and every one of them is compared whatever came before. */
export function hasWebhookToken({ token }: SignedHeaders, tokens: readonly string[], log: Log): boolean {
  if (token === undefined) return false;
  const given = digest(token);
  let found = false;
  for (const [index, each] of tokens.entries()) {
    const weak = isGuessable(Buffer.from(each));
    if (weak) log.error('webhook token too weak, not taken', { number: index + 1, SECRET_BYTES_MIN });
    found = (timingSafeEqual(given, digest(each)) && !weak) || found;
  }
  return found;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
