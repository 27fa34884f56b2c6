/** One webhook with job events for each top-level group, and the keys that prove its deliveries. */
import { randomBytes } from 'node:crypto';
import { atOnce } from '../../../functions/core/environment/environment.ts';
import type { GroupHook } from '../../../functions/core/gitlab/administration.ts';
import { type HookSetting, hookSetting, isHookUrl } from '../../../functions/core/gitlab/group-hooks.ts';
import { groupsOf } from '../../terminal/groups.ts';
import type { SecretName, SecretStore } from './secret-store.ts';
import {
  type Admin,
  makeOnce,
  mapped,
  refusedLine,
  type Setup,
  type SetupLine,
  type SetupLines,
} from './setup-flags.ts';

/** Builds are called `19.4.1-jh`, `18.10.2-ee`, `19.3.0-pre`. */
export function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, ofMajor, ofMinor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) >= minor);
}

export const signsHooks = (version: string): boolean => isAtLeast(version, [19, 0]);

/** A rotation that is under way. `second`: only receivers have the new key; `first`: webhooks get it. */
interface KeyRotation {
  readonly newKey: 'second' | 'first';
  readonly sinceMs: number;
}

const NOTE = 'of webhooks';
const ROTATION_NOTE = /^of webhooks; the new key is (second|first) since (\S+)$/;

const keysName = (signs: boolean): SecretName => (signs ? 'webhook-secrets' : 'webhook-tokens');

export const readLines = (text = ''): readonly string[] =>
  text.split('\n').flatMap((line) => line.trim() || []);

/** One per line: webhooks get the first, receivers accept all. @param signs - GitLab signs with it; older versions send it along */
export async function readHookKeys(store: SecretStore, signs: boolean) {
  const stored = await store.read(keysName(signs));
  const keys = readLines(stored?.value);
  const [, newKey, since] = ROTATION_NOTE.exec(stored?.note ?? '') ?? [];
  const isKnown = (newKey === 'second' || newKey === 'first') && since !== undefined && keys.length === 2;
  const rotation: KeyRotation | undefined = isKnown ? { newKey, sinceMs: Date.parse(since) } : undefined;
  return { place: store.place(keysName(signs)), keys, rotation };
}

/** Writes all keys at one time, so that readers never see half a rotation. */
export function writeHookKeys(
  store: SecretStore,
  signs: boolean,
  keys: readonly string[],
  rotation?: KeyRotation,
): Promise<void> {
  const since = rotation && new Date(rotation.sinceMs).toISOString();
  const note = rotation === undefined ? NOTE : `${NOTE}; the new key is ${rotation.newKey} since ${since}`;
  return store.write(keysName(signs), keys.join('\n'), note);
}

export const newHookKey = (signs: boolean): string =>
  signs ? `whsec_${randomBytes(32).toString('base64')}` : randomBytes(32).toString('hex');

export async function setUpWebhooks(setup: Setup, signs: boolean, lines: SetupLines): Promise<void> {
  const { hookUrl: url, store, mayChange } = setup;
  if (url === undefined && store.kind === 'folder')
    return lines.add('webhooks', 'unknown', '--webhook-url is not given, and a pilot needs no webhooks');
  const { place, keys, rotation } = await readHookKeys(store, signs);
  if (rotation !== undefined)
    lines.add(
      'webhooks',
      'wrong',
      `a rotation did not end: ${place} still has the old key as well`,
      'tollgate gitlab rotate-webhook-key goes on',
    );
  const key = keys[0] ?? newHookKey(signs);
  if (keys[0] === undefined) {
    // Stored before any webhook has it.
    if (mayChange) await writeHookKeys(store, signs, [key]);
    if (mayChange) lines.add('webhooks', 'done', `made a key, kept in ${place}`);
    else lines.add('webhooks', 'missing', `there is no key in ${place}`);
  }
  if (url === undefined)
    return lines.add('webhooks', 'unknown', 'the webhooks come with --webhook-url, once it is deployed');
  await giveHooks(setup, mayChange, url, key, lines);
}

/** GitLab takes two calls for a group that has its webhook, and four for one that has none. */
const CALLS_AT_ONCE = 8;
const NAMED_MAX = 5;

/** Gives each top-level group its webhook, with a key of its own that is derived from `key`. */
export async function giveHooks(
  admin: Admin,
  mayChange: boolean,
  url: string,
  key: string,
  lines: SetupLines,
): Promise<void> {
  const groups = lines.need('webhooks', await admin.gitlab.topLevelGroups());
  const found: { readonly path: string; readonly line: HookLine }[] = [];
  await atOnce(groups, CALLS_AT_ONCE, async ({ id, full_path }) => {
    const line = await setUpHook(admin, mayChange, id, hookSetting(admin.name, url, key, id), url);
    found.push({ path: full_path, line });
    admin.progress(found.length, groups.length);
  });
  for (const same of groupsOf(found, ({ line }) => `${line.state} ${line.says}`)) {
    const [{ line }] = same;
    const named = same.slice(0, NAMED_MAX).map(({ path }) => path);
    const names = named.join(', ') + (same.length > NAMED_MAX ? ', …' : '');
    const count = same.length === 1 ? '1 group' : `${same.length} groups`;
    lines.all.push({ part: 'webhooks', ...line, says: `${line.says} for ${count}: ${names}` });
  }
  if (groups.length === 0) lines.add('webhooks', 'right', 'GitLab has no groups');
}

/** State of one group's webhook, or the result of a change. `says` goes before "for 3 groups". */
type HookLine = Omit<SetupLine, 'part'>;

async function setUpHook(
  { gitlab }: Admin,
  mayChange: boolean,
  groupId: number,
  setting: HookSetting,
  url: string,
): Promise<HookLine> {
  // By its address, or by its key if the address has changed; other deployments have other keys.
  const ours = async () =>
    mapped(await gitlab.hooks(groupId), (hooks) =>
      hooks.filter((each) => isHookUrl(each.url, url) || each.description === setting.description),
    );
  const found = await ours();
  if (!found.ok) return refusedLine(found.refusal);
  const [hook] = found.value;
  if (hook === undefined) {
    if (!mayChange) return { state: 'missing', says: 'there is none' };
    const made = await makeOnce(
      ours,
      ([one]) => one,
      () => gitlab.createHook(groupId, setting),
    );
    return made.ok ? { state: 'done', says: 'made' } : refusedLine(made.refusal);
  }
  const why = differenceOf(hook, setting);
  if (why === undefined) return checkDeliveries(gitlab, mayChange, groupId, hook);
  if (!mayChange) return { state: 'missing', says: why };
  const changed = await gitlab.changeHook(groupId, hook.id, setting);
  if (!changed.ok) return refusedLine(changed.refusal);
  const still = differenceOf(changed.value, setting);
  return still === undefined ? { state: 'done', says: 'repaired' } : { state: 'wrong', says: still };
}

function differenceOf(hook: GroupHook, setting: HookSetting): string | undefined {
  if (hook.url !== setting.url) return 'it goes to another address';
  if (!hook.job_events) return 'job events are off';
  if (hook.custom_webhook_template !== '')
    return 'a custom template changes what is sent: remove it in GitLab';
  if (setting.signing_token !== undefined && hook.signing_token_present === false)
    return 'it has no signing token';
  if (hook.description !== setting.description) return 'it is not known to have the secret that is kept';
  if (!hook.enable_ssl_verification) return "the receiver's certificate is not checked";
  return undefined;
}

async function checkDeliveries(
  gitlab: Admin['gitlab'],
  mayChange: boolean,
  groupId: number,
  { id, alert_status = 'executable' }: GroupHook,
): Promise<HookLine> {
  const sent = await gitlab.deliveries(groupId, id);
  if (!sent.ok) return refusedLine(sent.refusal);
  const last = sent.value[0]?.response_status ?? '200';
  const isDisabled = alert_status !== 'executable';
  if (!isDisabled && /^[23]/.test(last)) return { state: 'right', says: 'there' };
  if (mayChange && (await gitlab.testHook(groupId, id)).ok) return { state: 'done', says: 'repaired' };
  const why = isDisabled ? `GitLab disabled it (${alert_status})` : `its last delivery came to "${last}"`;
  const remedy = 'look at the webhook’s recent events in GitLab, then run tollgate gitlab setup';
  return { state: 'wrong', says: mayChange ? `${why}, and so does a test` : why, remedy };
}
