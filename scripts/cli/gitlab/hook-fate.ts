import {
  type AdminAnswer,
  type AdminRefusal,
  type GroupHook,
  type HookSetting,
  hookSetting,
  isHookUrl,
} from '../../../functions/core/gitlab/index.ts';
import type { SetupCourse } from './setup-line.ts';
import { whileUnsure } from './while-unsure.ts';

/** Tests and repeated deliveries count together, five a minute. */
const RESENT_MAX = 4;

/** State of one group's webhook, or the result of a change. */
export type HookFate =
  | { readonly fate: 'right' | 'made' | 'repaired' | 'absent' }
  | { readonly fate: 'differs' | 'fails'; readonly why: string }
  | { readonly fate: 'refused'; readonly refusal: AdminRefusal };

export interface HookKey {
  /** The deployment's address of webhooks. */
  readonly url: string;
  /** The deployment's secret. */
  readonly key: string;
  /** Keys of groups sign, or they are sent as they are. */
  readonly signs: boolean;
}

/** Looks at one group's webhook, and makes or mends it where that may be. */
export async function hookFate(
  course: Pick<SetupCourse, 'gitlab' | 'mode' | 'name'>,
  groupId: number,
  { url, key, signs }: HookKey,
): Promise<HookFate> {
  const { gitlab, mode } = course;
  const setting = hookSetting(course.name, url, key, groupId);
  // By its address, or by its key where the address has changed; other deployments have other keys.
  const isOurs = (hook: GroupHook): boolean =>
    isHookUrl(hook.url, url) || hook.description === setting.description;
  const ours = async (): Promise<AdminAnswer<readonly GroupHook[]>> => {
    const all = await gitlab.hooks(groupId);
    return all.ok ? { ok: true, value: all.value.filter(isOurs) } : all;
  };
  const found = await ours();
  if (!found.ok) return { fate: 'refused', refusal: found.refusal };
  const [hook, ...doubles] = found.value;
  if (hook === undefined) {
    if (mode !== 'change') return { fate: 'absent' };
    const made = await whileUnsure(
      async () => {
        const now = await ours();
        return now.ok ? { ok: true, value: now.value[0] } : now;
      },
      () => gitlab.createHook(groupId, setting),
    );
    return made.ok ? { fate: 'made' } : { fate: 'refused', refusal: made.refusal };
  }
  const differs =
    differenceOf(hook, setting, signs) ?? (doubles.length > 0 ? 'it is there more than once' : undefined);
  if (differs === undefined) return health(course, groupId, hook);
  if (mode !== 'change') return { fate: 'differs', why: differs };
  const changed = await gitlab.changeHook(groupId, hook.id, setting);
  if (!changed.ok) return { fate: 'refused', refusal: changed.refusal };
  for (const { id } of doubles) {
    const deleted = await gitlab.deleteHook(groupId, id);
    if (!deleted.ok) return { fate: 'refused', refusal: deleted.refusal };
  }
  const still = differenceOf(changed.value, setting, signs);
  return still === undefined ? { fate: 'repaired' } : { fate: 'differs', why: still };
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

/** A webhook that is set right and does not come through: a test that succeeds enables it again. */
async function health(
  { gitlab, mode }: Pick<SetupCourse, 'gitlab' | 'mode'>,
  groupId: number,
  hook: GroupHook,
): Promise<HookFate> {
  const sent = await gitlab.deliveries(groupId, hook.id);
  if (!sent.ok) return { fate: 'refused', refusal: sent.refusal };
  const isLost = ({ response_status }: { readonly response_status: string }): boolean =>
    !/^[23]/.test(response_status);
  const [newest] = sent.value;
  const isDisabled = hook.alert_status !== undefined && hook.alert_status !== 'executable';
  if (!isDisabled && (newest === undefined || !isLost(newest))) return { fate: 'right' };
  const why = isDisabled
    ? `GitLab disabled it (${hook.alert_status})`
    : `its last delivery came to "${newest?.response_status}"`;
  if (mode !== 'change') return { fate: 'fails', why };
  const tested = await gitlab.testHook(groupId, hook.id);
  if (!tested.ok) return { fate: 'fails', why: `${why}, and so does a test` };
  for (const { id } of sent.value.filter(isLost).slice(0, RESENT_MAX))
    await gitlab.resend(groupId, hook.id, id);
  return { fate: 'repaired' };
}
