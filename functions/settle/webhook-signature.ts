import { createHash, timingSafeEqual } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { Log } from '../core/environment/environment.ts';
import { groupHookKey } from '../core/gitlab/group-hooks.ts';

export interface SignedHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly token: string | undefined;
}

/** The token of any of the secrets may have signed, so that one can be replaced without a gap. @see https://www.standardwebhooks.com */
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

/** Compares digests of equal length, and always all. @param secrets of the deployment */
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
