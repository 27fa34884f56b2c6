import { createHash, timingSafeEqual } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { Log } from '../core/environment/environment.ts';
import { groupHookKey } from '../core/gitlab/group-hooks.ts';

/** Anything shorter is guessed, or was never meant to be a secret. */
const SECRET_BYTES_MIN = 16;
/** Random secrets of 16 bytes have fewer once in 10^12 or so; `aaaaaaaaaaaaaaaa` has one. */
const DISTINCT_BYTES_MIN = 8;

function withoutWeak(secrets: readonly string[], encoding: 'base64' | 'utf8', log: Log): readonly string[] {
  return secrets.filter((secret, index) => {
    const bytes = Buffer.from(secret, encoding);
    const isStrong = bytes.length >= SECRET_BYTES_MIN && new Set(bytes).size >= DISTINCT_BYTES_MIN;
    if (!isStrong) log.error('webhook secret too weak, not taken', { number: index + 1, SECRET_BYTES_MIN });
    return isStrong;
  });
}

/** The token of any of the secrets may have signed, so that one can be replaced without a gap. @see https://www.standardwebhooks.com */
export function isSigned(
  body: string,
  headers: Readonly<Record<string, string>>,
  secrets: readonly string[],
  groupId: number,
  log: Log,
): boolean {
  const keys = secrets.map((secret) => secret.replace(/^whsec_/, ''));
  return withoutWeak(keys, 'base64', log).some((key) => {
    try {
      new Webhook(groupHookKey(`whsec_${key}`, groupId)).verify(body, headers, { jsonParse: false });
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  });
}

/** Compares digests of equal length, and always all. @param secrets of the deployment */
export const isToken = (token: string, secrets: readonly string[], groupId: number, log: Log): boolean =>
  withoutWeak(secrets, 'utf8', log)
    .map((secret) => timingSafeEqual(digest(token), digest(groupHookKey(secret, groupId))))
    .includes(true);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
