import { createHash, createHmac } from 'node:crypto';

export interface HookSetting {
  readonly url: string;
  readonly name: string;
  readonly description: string;
  /** Since 19.0, `whsec_` and a key: signs each delivery. */
  readonly signing_token?: string;
  /** Sent as it is in each delivery; cleared by GitLab where the address changes. */
  readonly token?: string;
}

/** Job events only: GitLab enables push events by default. */
export const HOOK_EVENTS = { push_events: false, job_events: true, enable_ssl_verification: true } as const;

export const groupHookUrl = (webhookUrl: string, groupId: number): string =>
  `${webhookUrl.replace(/\/+$/, '')}/${groupId}`;

/** Derives a group's key, which is good for reports about that group alone. A secret with `whsec_` makes a signing token, any other a secret token. */
export function groupHookKey(secret: string, groupId: number): string {
  const text = secret.replace(/^whsec_/, '');
  const key = createHmac('sha256', text).update(`webhook:${groupId}`).digest();
  return secret.startsWith('whsec_') ? `whsec_${key.toString('base64')}` : key.toString('base64url');
}

/** Returns a fingerprint of a secret. Secrets are random, so it does not reveal them. */
export const secretFingerprint = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 12);

/** Names the secret of a webhook: GitLab never says which one it has, and another deployment's is not ours to change. */
export const hookDescription = (secret: string): string =>
  `Job events for Tollgate; key ${secretFingerprint(secret)}`;

export function hookSetting(name: string, webhookUrl: string, secret: string, groupId: number): HookSetting {
  const key = groupHookKey(secret, groupId);
  return {
    url: groupHookUrl(webhookUrl, groupId),
    name,
    description: hookDescription(key),
    ...(key.startsWith('whsec_') ? { signing_token: key } : { token: key }),
  };
}

/** A webhook of the deployment: a group’s address, or the one without a group of earlier versions. */
export const isHookUrl = (url: string, webhookUrl: string): boolean =>
  url === webhookUrl || url.startsWith(`${webhookUrl.replace(/\/+$/, '')}/`);
