/** Proves that a delivery comes from the webhook of one group, whose key GitLab has. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { Log } from '../core/environment/environment.ts';
import { groupHookKey } from '../core/gitlab/group-hooks.ts';

/** The headers that say who sent a delivery. Absent ones are `undefined`. */
export interface SignedHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  /** `X-Gitlab-Token`: the secret itself, in plain text. */
  readonly token: string | undefined;
}

/**
 * Standard Webhooks: HMAC-SHA256 over id, timestamp and raw body. The group's token of any of the secrets may have signed, so that
 * one can be replaced without a gap. A timestamp more than 5 minutes away is refused.
 *
 * @param secrets of the deployment, with or without `whsec_`.
 * @see https://www.standardwebhooks.com
 */
export function isSigned(
  body: string,
  { id, timestamp, signature }: SignedHeaders,
  secrets: readonly string[],
  groupId: number,
  log: Log,
): boolean {
  if (id === undefined || timestamp === undefined || signature === undefined) return false;
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  return secrets.some((secret, index) => {
    const text = secret.replace(/^whsec_/, '');
    if (isGuessable(Buffer.from(text, 'base64'))) {
      log.error('webhook secret too weak, not taken', { number: index + 1, SECRET_BYTES_MIN });
      return false;
    }
    try {
      new Webhook(groupHookKey(`whsec_${text}`, groupId)).verify(body, headers, { jsonParse: false });
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  });
}

/** Anything shorter is guessed, or was never meant to be a secret. */
const SECRET_BYTES_MIN = 16;
/** Random secrets of 16 bytes have fewer once in 10^12 or so; `aaaaaaaaaaaaaaaa` has one. */
const DISTINCT_BYTES_MIN = 8;

const isGuessable = (secret: Buffer): boolean =>
  secret.length < SECRET_BYTES_MIN || new Set(secret).size < DISTINCT_BYTES_MIN;

/** Compares digests of equal length, and always all of them. @param secrets of the deployment */
export function hasWebhookToken(
  { token }: SignedHeaders,
  secrets: readonly string[],
  groupId: number,
  log: Log,
): boolean {
  if (token === undefined) return false;
  const given = digest(token);
  let found = false;
  for (const [index, secret] of secrets.entries()) {
    const weak = isGuessable(Buffer.from(secret));
    if (weak) log.error('webhook secret too weak, not taken', { number: index + 1, SECRET_BYTES_MIN });
    found = (timingSafeEqual(given, digest(groupHookKey(secret, groupId))) && !weak) || found;
  }
  return found;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
