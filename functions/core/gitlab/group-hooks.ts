/** Webhooks of groups as the programs by the clock look at them; the administration has the rest. */
import { createHash } from 'node:crypto';
import { isRecord } from '../../../policies/document/reading.ts';
import { GitLabError } from './gitlab.ts';
import { readList } from './rest-answers.ts';
import { type RestCallDeps, restCall } from './rest-call.ts';
import { restChange } from './rest-change.ts';
import { pageQuery } from './rest-pages.ts';

/** What a webhook of ours is set to. */
export interface HookSetting {
  readonly url: string;
  readonly name: string;
  readonly description: string;
  /** Since 19.0, `whsec_` and a key: signs each delivery. */
  readonly signing_token?: string;
  /** Sent as it is in each delivery; cleared by GitLab where the address changes. */
  readonly token?: string;
}

/** Job events only: GitLab switches pushes on unless told not to. */
export const HOOK_EVENTS = { push_events: false, job_events: true, enable_ssl_verification: true } as const;

/** Names a secret without telling it: secrets here are random, so nobody finds one from this. */
export const secretMark = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 12);

/** Names the secret of a webhook: GitLab never says which one it has, and another deployment's is not ours to change. */
export const hookDescription = (secret: string): string =>
  `Job events for Tollgate; key ${secretMark(secret)}`;

export const hookSetting = (name: string, url: string, secret: string): HookSetting => ({
  url,
  name,
  description: hookDescription(secret),
  ...(secret.startsWith('whsec_') ? { signing_token: secret } : { token: secret }),
});

/** What a group's webhook to one address is like. */
export type HookStanding = 'right' | 'missing' | 'off' | 'disabled';

const CREATE_TIMEOUT_MS = 5_000;

/** @param token - of an owner of the group or an administrator; `read_api`. @throws {GitLabError} */
export async function readHookStanding(
  groupId: number,
  url: string,
  deps: RestCallDeps,
): Promise<HookStanding> {
  const path = `/groups/${groupId}/hooks`;
  const hooks = readList(path, await restCall(path, pageQuery({}, undefined), deps));
  const ours = hooks.filter(isRecord).find((hook) => hook.url === url);
  if (ours === undefined) return 'missing';
  if (ours.job_events !== true) return 'off';
  return ours.alert_status === undefined || ours.alert_status === 'executable' ? 'right' : 'disabled';
}

/** Needs a token of scope `api`. @throws {GitLabError} It may or may not have been made: the next look says. */
export async function createGroupHook(
  groupId: number,
  setting: HookSetting,
  deps: RestCallDeps,
): Promise<void> {
  const path = `/groups/${groupId}/hooks`;
  const { status } = await restChange('POST', path, { ...setting, ...HOOK_EVENTS }, CREATE_TIMEOUT_MS, deps);
  if (status !== 201)
    throw new GitLabError('gitlab_unreadable', `POST ${path}: GitLab answered ${status}`, { status });
}
