import { atOnce } from '../../../functions/core/environment/index.ts';
import {
  type AdminAnswer,
  type AdminController,
  type GroupHook,
  groupHookKey,
  hookDescription,
  isHookUrl,
} from '../../../functions/core/gitlab/index.ts';
import { namedControllers } from './controller-step.ts';
import { refused, type SetupCourse, type SetupLine } from './setup-line.ts';

type TeardownCourse = Pick<SetupCourse, 'gitlab' | 'store' | 'name' | 'controllerId' | 'hooks' | 'progress'>;

/** Objects to remove. */
export interface TeardownPlan {
  readonly controllers: readonly AdminController[];
  readonly tokenIds: readonly number[];
  readonly hooks: readonly { readonly groupId: number; readonly path: string; readonly hookId: number }[];
}

const WIDTH = 8;

/** Everything of ours that is there, and nothing else. */
export async function teardownPlan(course: TeardownCourse): Promise<AdminAnswer<TeardownPlan>> {
  const { gitlab, hooks: wish } = course;
  const found = await namedControllers(gitlab, course);
  // A number that is gone is a teardown that was nearly through.
  if (!found.ok && !(found.refusal.code === 'absent' && course.controllerId !== undefined)) return found;
  const controllers = found.ok ? found.value : [];
  const tokenIds: number[] = [];
  for (const { id } of controllers) {
    const tokens = await gitlab.tokens(id);
    if (!tokens.ok) return tokens;
    tokenIds.push(...tokens.value.map((token) => token.id));
  }
  const secrets = await keptSecrets(course);
  const groups = await gitlab.topLevelGroups();
  if (!groups.ok) return groups;
  const hooks: { groupId: number; path: string; hookId: number }[] = [];
  let refusal: AdminAnswer<TeardownPlan> | undefined;
  let looked = 0;
  await atOnce(groups.value, WIDTH, async ({ id: groupId, full_path: path }) => {
    const all = await gitlab.hooks(groupId);
    const described = new Set(secrets.map((secret) => hookDescription(groupHookKey(secret, groupId))));
    const isOurs = ({ url, description }: GroupHook): boolean =>
      described.has(description) || (wish.url !== undefined && isHookUrl(url, wish.url));
    if (all.ok)
      for (const hook of all.value) if (isOurs(hook)) hooks.push({ groupId, path, hookId: hook.id });
    // Without a Premium licence there are no webhooks of groups to remove.
    if (!all.ok && all.refusal.code !== 'absent') refusal ??= all;
    looked += 1;
    course.progress(looked, groups.value.length);
  });
  return refusal ?? { ok: true, value: { controllers, tokenIds, hooks } };
}

/** Another deployment has other secrets, and other descriptions of its webhooks. */
async function keptSecrets({ store }: TeardownCourse): Promise<readonly string[]> {
  const kept = [await store.read('webhook-secrets'), await store.read('webhook-tokens')];
  const lines = kept.flatMap((text) => text?.value.split('\n') ?? []).map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

/** Disabled first, so that nothing fails meanwhile; then webhooks, tokens, the controller. Each step may be gone already. */
export async function teardownCourse(
  course: TeardownCourse,
  plan: TeardownPlan,
): Promise<readonly SetupLine[]> {
  const { gitlab } = course;
  const lines: SetupLine[] = [];
  for (const { id, state } of plan.controllers) {
    if (state === 'disabled') continue;
    const set = await gitlab.setState(id, 'disabled');
    if (!set.ok) return [...lines, refused('controller', set.refusal)];
    lines.push({
      part: 'controller',
      standing: 'done',
      says: `controller ${id} is disabled: every job runs, nobody is asked`,
    });
  }
  let removed = 0;
  const kept: SetupLine[] = [];
  await atOnce(plan.hooks, WIDTH, async ({ groupId, path, hookId }) => {
    const deleted = await gitlab.deleteHook(groupId, hookId);
    if (deleted.ok) removed += 1;
    else kept.push({ ...refused('webhooks', deleted.refusal), says: `${path}: ${deleted.refusal.says}` });
    course.progress(removed + kept.length, plan.hooks.length);
  });
  if (removed > 0) lines.push({ part: 'webhooks', standing: 'done', says: `removed ${removed}` });
  // The controller names what is left; it stays until nothing is.
  if (kept.length > 0) return [...lines, ...kept.slice(0, WIDTH)];
  for (const { id } of plan.controllers) {
    for (const tokenId of plan.tokenIds) {
      const revoked = await gitlab.revokeToken(id, tokenId);
      if (!revoked.ok) return [...lines, refused('token', revoked.refusal)];
    }
    if (plan.tokenIds.length > 0)
      lines.push({ part: 'token', standing: 'done', says: `revoked ${plan.tokenIds.join(', ')}` });
    const deleted = await gitlab.deleteController(id);
    if (!deleted.ok) return [...lines, refused('controller', deleted.refusal)];
    lines.push({ part: 'controller', standing: 'done', says: `deleted controller ${id}` });
  }
  return lines;
}
