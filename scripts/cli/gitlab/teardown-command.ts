/** `tollgate gitlab teardown`. */
import { atOnce } from '../../../functions/core/environment/environment.ts';
import type { AdminRefusal } from '../../../functions/core/gitlab/admin-calls.ts';
import type { AdminController } from '../../../functions/core/gitlab/administration.ts';
import { groupHookKey, hookDescription, isHookUrl } from '../../../functions/core/gitlab/group-hooks.ts';
import { EXIT, standIn, UsageError } from '../../terminal/command.ts';
import { command } from '../../terminal/define-command.ts';
import { text, toggle } from '../../terminal/flags.ts';
import { printable } from '../../terminal/paint.ts';
import { askOnTerminal } from '../truth/confirm.ts';
import type { SecretStore } from './secret-store.ts';
import { namedControllers } from './setup-controller.ts';
import { ADMIN_FLAGS, printLines, readAdmin, readHookUrl } from './setup-flags.ts';
import { SetupLines } from './setup-step.ts';

const teardown = command({
  name: 'gitlab teardown',
  about: `Shows what it will remove and asks for the name of GitLab's host. Then it disables the controller, so that every job runs;
removes webhooks, those with a secret that is kept in --secrets and those to --webhook-url; then its tokens, then the controller.
After an interruption, run the same command again: it continues. Files and parameters with secrets stay: remove them yourself.`,
  flags: {
    'webhook-url': text(
      '<url>',
      'removes webhooks to this address as well, whatever their secret',
      readHookUrl,
    ),
    confirm: text('<host>', "the name of GitLab's host, if no user can be asked; with --yes"),
    yes: toggle('does not ask'),
    ...ADMIN_FLAGS,
  },
  examples: [
    'tollgate gitlab teardown --gitlab https://gitlab.example.com --token-file admin-token',
    'tollgate gitlab teardown --gitlab https://gitlab.example.com --token-file admin-token --yes --confirm gitlab.example.com',
  ],
  exits: { 0: 'nothing is left', 1: 'GitLab does not answer', 2: 'refused or not confirmed' },
  run: async ({ flags: values }, io) => {
    const admin = { ...readAdmin(values, io), hookUrl: values['webhook-url'] };
    const { host } = new URL(admin.place.baseUrl);
    if (values.yes && values.confirm !== host)
      throw new UsageError(`--yes: expected --confirm ${host} with it, so that the right GitLab is meant`);
    const lines = new SetupLines();
    const plan = await lines.step(() => planTeardown(admin, lines));
    if (plan === undefined) return printLines(lines.all, admin.place, values.json, io);
    if (plan.controllers.length === 0 && plan.hooks.length === 0) {
      if (values.json) return printLines([], admin.place, true, io);
      io.out('Nothing of Tollgate is left there.\n');
      return EXIT.ok;
    }
    if (!values.json) io.err(planText(plan));
    if (!values.yes) {
      const typed = await standIn(
        io,
        askOnTerminal,
      )(`Type the name of GitLab's host (${host}) to remove all of it: `);
      if (typed === undefined)
        throw new UsageError(`nobody can be asked here; add --yes --confirm ${host} to remove all of it`);
      if (typed !== host) {
        io.err('Nothing was changed.\n');
        return EXIT.wouldReject;
      }
    }
    await lines.step(() => tearDown(admin, plan, lines));
    return printLines(lines.all, admin.place, values.json, io);
  },
});

export const commands = [teardown];

/** Objects to remove. */
interface TeardownPlan {
  readonly controllers: readonly AdminController[];
  readonly tokenIds: readonly number[];
  readonly hooks: readonly { readonly groupId: number; readonly path: string; readonly hookId: number }[];
}

type TeardownSetup = ReturnType<typeof readAdmin> & { readonly hookUrl: string | undefined };

const CALLS_AT_ONCE = 8;

/** Lists everything of ours that is there, and nothing else. */
async function planTeardown(setup: TeardownSetup, lines: SetupLines): Promise<TeardownPlan> {
  const { gitlab, hookUrl, store, progress } = setup;
  const found = await namedControllers(gitlab, setup);
  // If the given controller is gone, an earlier teardown was nearly complete.
  const isGone = !found.ok && found.refusal.code === 'absent' && setup.controllerId !== undefined;
  const controllers = isGone ? [] : lines.need('controller', found);
  const tokenIds: number[] = [];
  for (const { id } of controllers)
    tokenIds.push(...lines.need('controller', await gitlab.tokens(id)).map((token) => token.id));
  const secrets = await hookSecrets(store);
  const groups = lines.need('controller', await gitlab.topLevelGroups());
  const hooks: { groupId: number; path: string; hookId: number }[] = [];
  let done = 0;
  let refusal: AdminRefusal | undefined;
  await atOnce(groups, CALLS_AT_ONCE, async ({ id: groupId, full_path: path }) => {
    const all = await gitlab.hooks(groupId);
    const described = new Set(secrets.map((secret) => hookDescription(groupHookKey(secret, groupId))));
    // Without a Premium licence there are no webhooks of groups to remove.
    if (!all.ok && all.refusal.code !== 'absent') refusal ??= all.refusal;
    for (const { id: hookId, url, description } of all.ok ? all.value : [])
      if (described.has(description) || (hookUrl !== undefined && isHookUrl(url, hookUrl)))
        hooks.push({ groupId, path, hookId });
    done += 1;
    progress(done, groups.length);
  });
  if (refusal !== undefined) lines.need('controller', { ok: false, refusal });
  return { controllers, tokenIds, hooks };
}

/** Another deployment has other secrets, and other descriptions of its webhooks. */
async function hookSecrets(store: SecretStore): Promise<readonly string[]> {
  const kept = [await store.read('webhook-secrets'), await store.read('webhook-tokens')];
  const lines = kept.flatMap((text) => text?.value.split('\n') ?? []).map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

function planText({ controllers, tokenIds, hooks }: TeardownPlan): string {
  const groups = new Set(hooks.map(({ groupId }) => groupId)).size;
  const named = controllers.map(
    ({ id, description, state }) =>
      `  controller ${id} "${printable(description)}", ${state}: disabled first, deleted last\n`,
  );
  return `This goes, in this order:
${named.join('')}  ${hooks.length} webhooks of ${groups} groups
  ${tokenIds.length} tokens of the controller
`;
}

/**
 * Disables the controller first, so that nothing fails meanwhile; then removes webhooks, tokens and the controller.
 * Each may be gone already.
 */
async function tearDown(
  { gitlab, progress }: TeardownSetup,
  { controllers, hooks, tokenIds }: TeardownPlan,
  lines: SetupLines,
): Promise<void> {
  for (const { id, state } of controllers) {
    if (state === 'disabled') continue;
    lines.need('controller', await gitlab.setState(id, 'disabled'));
    lines.add('controller', 'done', `controller ${id} is disabled: every job runs, nobody is asked`);
  }
  let removed = 0;
  const refused = new SetupLines();
  await atOnce(hooks, CALLS_AT_ONCE, async ({ groupId, path, hookId }) => {
    const deleted = await gitlab.deleteHook(groupId, hookId);
    if (deleted.ok) removed += 1;
    else refused.refuse('webhooks', deleted.refusal, `${path}: `);
    progress(removed + refused.all.length, hooks.length);
  });
  if (removed > 0) lines.add('webhooks', 'done', `removed ${removed}`);
  // The controller stays until everything else is gone: it is how the next run finds the rest.
  if (refused.all.length > 0) {
    lines.all.push(...refused.all.slice(0, CALLS_AT_ONCE));
    return;
  }
  for (const { id } of controllers) {
    for (const tokenId of tokenIds) lines.need('token', await gitlab.revokeToken(id, tokenId));
    if (tokenIds.length > 0) lines.add('token', 'done', `revoked ${tokenIds.join(', ')}`);
    lines.need('controller', await gitlab.deleteController(id));
    lines.add('controller', 'done', `deleted controller ${id}`);
  }
}
