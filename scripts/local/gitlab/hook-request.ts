import { Webhook } from 'standardwebhooks';
import { JOB_HOOK_EVENT } from '../../../functions/core/gitlab/index.ts';

/** How a hook proves that it is GitLab's. Both may be set, as during a migration. */
interface HookSecrets {
  /** `whsec_` and a key in base64: signs every delivery. */
  readonly signingToken?: string;
  /** Sent as it is in `X-Gitlab-Token`. */
  readonly secretToken?: string;
}

/** One delivery, ready to be sent; a repeat has the same id and body and its own time. */
export interface HookMessage {
  readonly webhookId: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Which GitLab is played. Before 19.0 there are no signing tokens and no `webhook-*` headers, and before 18.10 controllers
 * have no `connected` and no scopes of single runners.
 */
export type GitLabVersion = '18.9' | '18.11' | '19.4';

const signs = (version: GitLabVersion): boolean => Number.parseInt(version, 10) >= 19;

/**
 * Makes the requests of one hook, with the headers of that version.
 *
 * @throws {Error} for a signing token where there are none.
 */
export function hookRequester(
  hookUrl: string,
  instanceUrl: string,
  secrets: HookSecrets,
  hookId: string,
  version: GitLabVersion = '19.4',
) {
  if (secrets.signingToken !== undefined && !signs(version))
    throw new Error(`GitLab ${version} has no signing tokens: give the webhook a secret token`);
  const signing = secrets.signingToken === undefined ? undefined : new Webhook(secrets.signingToken);
  return (message: HookMessage, sentAtMs: number, signal: AbortSignal): Request => {
    const body = JSON.stringify(message.body);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'user-agent': `GitLab/${version}.0`,
      'x-gitlab-event': JOB_HOOK_EVENT,
      'x-gitlab-instance': instanceUrl,
      'x-gitlab-webhook-uuid': hookId,
      'x-gitlab-event-uuid': message.webhookId,
      'idempotency-key': message.webhookId,
      ...(signs(version) && {
        'webhook-id': message.webhookId,
        'webhook-timestamp': String(Math.floor(sentAtMs / 1000)),
      }),
    };
    if (signing !== undefined) {
      headers['webhook-signature'] = signing.sign(message.webhookId, new Date(sentAtMs), body);
    }
    if (secrets.secretToken !== undefined) headers['x-gitlab-token'] = secrets.secretToken;
    return new Request(hookUrl, { method: 'POST', headers, body, signal });
  };
}

/** A random UUID from the numbers given, so that a run can be repeated exactly. */
export function uuidFrom(random: () => number): string {
  const word = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const [a, b, c, d] = [word(), word(), word(), word()];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`;
}
