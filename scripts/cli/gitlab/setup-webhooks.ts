/** One webhook with job events for each top-level group, and the keys that prove its deliveries. */
import { randomBytes } from 'node:crypto';
import { atOnce } from '../../../functions/core/environment/environment.ts';
import type { AdminAnswer, AdminRefusal } from '../../../functions/core/gitlab/admin-calls.ts';
import type { GroupHook } from '../../../functions/core/gitlab/administration.ts';
import { type HookSetting, hookSetting, isHookUrl } from '../../../functions/core/gitlab/group-hooks.ts';
import type { SecretName, SecretStore } from './secret-store.ts';
import { madeOnce, type Setup, type SetupLines, type SetupMode } from './setup-step.ts';

/** A rotation that is under way. */
interface KeyRotation {
  /** `second`: receivers accept the new key and no webhook has it; `first`: webhooks get it. */
  readonly newKey: 'second' | 'first';
  /** Unix ms since that is so, or since the last webhook was changed. */
  readonly sinceMs: number;
}

/** The stored keys, one per line: webhooks get the first, receivers accept all. */
interface HookKeys {
  readonly name: SecretName;
  readonly keys: readonly string[];
  /** Undefined: this program began none. */
  readonly rotation: KeyRotation | undefined;
}

const NOTE = 'of webhooks';
const ROTATION_NOTE = /^of webhooks; the new key is (second|first) since (\S+)$/;

/** @param signs - GitLab signs with the key; older versions send it along. */
export async function readHookKeys(store: SecretStore, signs: boolean): Promise<HookKeys> {
  const name = keysName(signs);
  const kept = await store.read(name);
  const keys = (kept?.value ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [, newKey, since] = ROTATION_NOTE.exec(kept?.note ?? '') ?? [];
  const sinceMs = Date.parse(since ?? '');
  const isKnown = (newKey === 'second' || newKey === 'first') && !Number.isNaN(sinceMs) && keys.length === 2;
  return { name, keys, rotation: isKnown ? { newKey, sinceMs } : undefined };
}

/** Writes all keys at one time, so that readers never see half a rotation. */
export const writeHookKeys = (
  store: SecretStore,
  signs: boolean,
  keys: readonly string[],
  rotation?: KeyRotation,
): Promise<void> =>
  store.write(
    keysName(signs),
    keys.join('\n'),
    rotation === undefined
      ? NOTE
      : `${NOTE}; the new key is ${rotation.newKey} since ${new Date(rotation.sinceMs).toISOString()}`,
  );

export const newHookKey = (signs: boolean): string =>
  signs ? `whsec_${randomBytes(32).toString('base64')}` : randomBytes(32).toString('hex');

const keysName = (signs: boolean): SecretName => (signs ? 'webhook-secrets' : 'webhook-tokens');

/** Gives every top-level group a webhook that proves itself with the stored secret. */
export async function setUpWebhooks(setup: Setup, signs: boolean, lines: SetupLines): Promise<void> {
  const { hookUrl: url, store } = setup;
  if (url === undefined && store.kind === 'folder')
    return lines.add(
      'webhooks',
      'unknown',
      'not looked at: --webhook-url is not given, and a pilot needs none',
    );
  const key = await hookKey(setup, signs, lines);
  if (key === undefined) return;
  // A deployment needs the secret before it has an address.
  if (url === undefined)
    return lines.add('webhooks', 'unknown', 'the webhooks come with --webhook-url, once it is deployed');
  await giveHooks(setup, { url, key, signs }, lines);
}

/** Returns the stored secret, or a new one, stored before any webhook has it. Undefined: there is none. */
async function hookKey(
  { store, mode }: Setup,
  signs: boolean,
  lines: SetupLines,
): Promise<string | undefined> {
  const { name, keys, rotation } = await readHookKeys(store, signs);
  const place = store.place(name);
  const [key] = keys;
  if (key !== undefined) {
    if (rotation !== undefined)
      lines.add(
        'webhooks',
        'wrong',
        `a rotation did not end: ${place} still has the old key as well`,
        'tollgate gitlab rotate-webhook-key goes on',
      );
    return key;
  }
  const what = signs ? 'a signing token' : 'a secret token';
  if (mode !== 'change')
    lines.missing(
      'webhooks',
      mode,
      `would make ${what}, keep it in ${place}, and give every group a webhook`,
      `there is no ${what.slice(2)} in ${place}`,
    );
  if (mode === 'look') return undefined;
  const made = newHookKey(signs);
  if (mode === 'plan') return made;
  await writeHookKeys(store, signs, [made]);
  lines.add('webhooks', 'done', `made ${what}, kept in ${place}`);
  return made;
}

interface HookKey {
  /** The deployment's address of webhooks. */
  readonly url: string;
  /** The deployment's secret. */
  readonly key: string;
  readonly signs: boolean;
}

/** State of one group's webhook, or the result of a change. */
type HookState =
  | { readonly is: 'right' | 'made' | 'repaired' | 'absent' }
  | { readonly is: 'differs' | 'fails'; readonly why: string }
  | { readonly is: 'refused'; readonly refusal: AdminRefusal };

type HookSetup = Pick<Setup, 'gitlab' | 'mode' | 'name' | 'progress'>;

/** GitLab takes two calls for a group that has its webhook, and four for one that has none. */
const CALLS_AT_ONCE = 8;

/** Gives each top-level group its webhook, with a key of its own that is derived from this one. */
export async function giveHooks(setup: HookSetup, hookKey: HookKey, lines: SetupLines): Promise<void> {
  const groups = lines.need('webhooks', await setup.gitlab.topLevelGroups());
  const states: { readonly path: string; readonly state: HookState }[] = [];
  await atOnce(groups, CALLS_AT_ONCE, async ({ id, full_path }) => {
    states.push({ path: full_path, state: await setUpHook(setup, id, hookKey) });
    setup.progress(states.length, groups.length);
  });
  addHookLines(setup.mode, states, lines);
}

/** Reads one group's webhook, and makes or repairs it if the mode permits. */
async function setUpHook(
  { gitlab, mode, name }: HookSetup,
  groupId: number,
  { url, key, signs }: HookKey,
): Promise<HookState> {
  const setting = hookSetting(name, url, key, groupId);
  // By its address, or by its key if the address has changed; other deployments have other keys.
  const isOurs = (hook: GroupHook): boolean =>
    isHookUrl(hook.url, url) || hook.description === setting.description;
  const ours = async (): Promise<AdminAnswer<readonly GroupHook[]>> => {
    const all = await gitlab.hooks(groupId);
    return all.ok ? { ok: true, value: all.value.filter(isOurs) } : all;
  };
  const found = await ours();
  if (!found.ok) return { is: 'refused', refusal: found.refusal };
  const [hook, ...doubles] = found.value;
  if (hook === undefined) {
    if (mode !== 'change') return { is: 'absent' };
    const made = await madeOnce(
      async () => {
        const now = await ours();
        return now.ok ? { ok: true, value: now.value[0] } : now;
      },
      () => gitlab.createHook(groupId, setting),
    );
    return made.ok ? { is: 'made' } : { is: 'refused', refusal: made.refusal };
  }
  const differs =
    differenceOf(hook, setting, signs) ?? (doubles.length > 0 ? 'it is there more than once' : undefined);
  if (differs === undefined) return checkDeliveries({ gitlab, mode }, groupId, hook);
  if (mode !== 'change') return { is: 'differs', why: differs };
  const changed = await gitlab.changeHook(groupId, hook.id, setting);
  if (!changed.ok) return { is: 'refused', refusal: changed.refusal };
  for (const { id } of doubles) {
    const deleted = await gitlab.deleteHook(groupId, id);
    if (!deleted.ok) return { is: 'refused', refusal: deleted.refusal };
  }
  const still = differenceOf(changed.value, setting, signs);
  return still === undefined ? { is: 'repaired' } : { is: 'differs', why: still };
}

/** Describes settings that would lose events or signatures. Undefined: none. */
function differenceOf(hook: GroupHook, setting: HookSetting, signs: boolean): string | undefined {
  if (hook.url !== setting.url) return 'it goes to another address';
  if (!hook.job_events) return 'job events are off';
  if (hook.custom_webhook_template !== '')
    return 'a custom template changes what is sent: remove it in GitLab';
  if (signs && hook.signing_token_present === false) return 'it has no signing token';
  if (hook.description !== setting.description) return 'it is not known to have the secret that is kept';
  if (hook.push_events) return 'it sends pushes, which nobody reads';
  if (!hook.enable_ssl_verification) return "the receiver's certificate is not checked";
  return undefined;
}

/** Tests and repeated deliveries count together, five a minute. */
const RESENT_MAX = 4;

/** Checks that a webhook with right settings delivers: a test that succeeds enables it again. */
async function checkDeliveries(
  { gitlab, mode }: Pick<Setup, 'gitlab' | 'mode'>,
  groupId: number,
  hook: GroupHook,
): Promise<HookState> {
  const sent = await gitlab.deliveries(groupId, hook.id);
  if (!sent.ok) return { is: 'refused', refusal: sent.refusal };
  const isLost = ({ response_status }: { readonly response_status: string }): boolean =>
    !/^[23]/.test(response_status);
  const [newest] = sent.value;
  const isDisabled = hook.alert_status !== undefined && hook.alert_status !== 'executable';
  if (!isDisabled && (newest === undefined || !isLost(newest))) return { is: 'right' };
  const why = isDisabled
    ? `GitLab disabled it (${hook.alert_status})`
    : `its last delivery came to "${newest?.response_status}"`;
  if (mode !== 'change') return { is: 'fails', why };
  const tested = await gitlab.testHook(groupId, hook.id);
  if (!tested.ok) return { is: 'fails', why: `${why}, and so does a test` };
  for (const { id } of sent.value.filter(isLost).slice(0, RESENT_MAX))
    await gitlab.resend(groupId, hook.id, id);
  return { is: 'repaired' };
}

/** Groups with a problem that are listed one by one. */
const LISTED_MAX = 10;
const NAMED_MAX = 5;

function addHookLines(
  mode: SetupMode,
  states: readonly { readonly path: string; readonly state: HookState }[],
  lines: SetupLines,
): void {
  const pathsOf = (is: HookState['is']) => states.flatMap(({ path, state }) => (state.is === is ? path : []));
  const groups = (count: number): string => (count === 1 ? '1 group' : `${count} groups`);
  const some = (paths: readonly string[]): string =>
    [...paths.slice(0, NAMED_MAX), ...(paths.length > NAMED_MAX ? ['…'] : [])].join(', ');
  const [right, made, repaired, absent] = [
    pathsOf('right'),
    pathsOf('made'),
    pathsOf('repaired'),
    pathsOf('absent'),
  ];
  if (right.length > 0) lines.add('webhooks', 'right', `${groups(right.length)} had theirs`);
  if (made.length > 0) lines.add('webhooks', 'done', `made for ${groups(made.length)}`);
  if (repaired.length > 0)
    lines.add('webhooks', 'done', `repaired for ${groups(repaired.length)}: ${some(repaired)}`);
  if (absent.length > 0)
    lines.missing(
      'webhooks',
      mode,
      `would make one for ${groups(absent.length)}`,
      `${groups(absent.length)} without: ${some(absent)}`,
    );
  const problems = states.filter(({ state }) => ['refused', 'differs', 'fails'].includes(state.is));
  for (const { path, state } of problems.slice(0, LISTED_MAX)) {
    if (state.is === 'refused') lines.refuse('webhooks', state.refusal, `${path}: `);
    if (state.is === 'differs')
      lines.missing(
        'webhooks',
        mode === 'change' ? 'look' : mode,
        `would repair ${path}: ${state.why}`,
        `${path}: ${state.why}`,
      );
    if (state.is === 'fails')
      lines.add(
        'webhooks',
        'wrong',
        `${path}: ${state.why}`,
        'look at the webhook’s recent events in GitLab, then run tollgate gitlab setup',
      );
  }
  if (problems.length > LISTED_MAX)
    lines.add('webhooks', 'wrong', `and ${groups(problems.length - LISTED_MAX)} more`);
  if (states.length === 0) lines.add('webhooks', 'right', 'GitLab has no groups');
}
