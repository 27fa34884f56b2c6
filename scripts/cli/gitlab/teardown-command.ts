import { atOnce } from '../../../functions/core/environment/environment.ts';
import type { AdminRefusal } from '../../../functions/core/gitlab/admin-calls.ts';
import { groupHookKey, hookDescription, isHookUrl } from '../../../functions/core/gitlab/group-hooks.ts';
import { EXIT, standIn, UsageError } from '../../terminal/command.ts';
import { command, text } from '../../terminal/define.ts';
import { printable } from '../../terminal/table.ts';
import { askOnTerminal } from '../reconcile/progress.ts';
import { namedControllers } from './setup-controller.ts';
import { ADMIN_FLAGS, type Admin, readHookUrl, runAsAdmin, type SetupLines } from './setup-flags.ts';
import { readLines } from './setup-webhooks.ts';

const AT = 'tollgate gitlab teardown --gitlab https://gitlab.example.com --token-file admin-token';

const teardown = command({
  name: 'gitlab teardown',
  about: `Shows what it will remove and asks for the name of GitLab's host. Then it disables the controller, so that every job runs;
removes webhooks, those with a secret that is kept in --secrets and those to --webhook-url; then its tokens, then the controller.
After an interruption, run the same command again: it continues. Files and parameters with secrets stay: remove them yourself.`,
  flags: {
    'webhook-url': text('<url>', 'also removes webhooks to this address with any other secret', readHookUrl),
    confirm: text('<host>', "the name of GitLab's host: does not ask"),
    ...ADMIN_FLAGS,
  },
  examples: [AT, `${AT} --confirm gitlab.example.com`],
  exits: { 0: 'nothing is left', 1: 'GitLab does not answer', 2: 'refused or not confirmed' },
  run: async ({ flags }, io) =>
    runAsAdmin(flags, io, async (admin, lines) => {
      const { host } = new URL(admin.place.baseUrl);
      if (flags.confirm !== undefined && flags.confirm !== host)
        throw new UsageError(`--confirm "${flags.confirm}": expected ${host}, the host of --gitlab`);
      const plan = await planTeardown(admin, flags['webhook-url'], lines);
      const { controllers, hooks } = plan;
      if (controllers.length === 0 && hooks.length === 0)
        return lines.add('controller', 'right', 'nothing of Tollgate is left there');
      const named = controllers.map(
        ({ id, description, state }) =>
          `  controller ${id} "${printable(description)}", ${state}: disabled first, deleted last\n`,
      );
      if (!flags.json) io.err(`This goes:\n${named.join('')}  ${hooks.length} webhooks of groups\n`);
      const ask = standIn(io, askOnTerminal);
      const typed =
        flags.confirm ?? (await ask(`Type the name of GitLab's host (${host}) to remove all of it: `));
      if (typed === undefined)
        throw new UsageError(`there is no terminal to ask; add --confirm ${host} to remove all of it`);
      if (typed === host) return tearDown(admin, plan, lines);
      io.err('Nothing was changed.\n');
      return EXIT.wouldReject;
    }),
});

export const commands = [teardown];

const CALLS_AT_ONCE = 8;

async function planTeardown(admin: Admin, hookUrl: string | undefined, lines: SetupLines) {
  const { gitlab, store, progress } = admin;
  const controllers = lines.need('controller', await namedControllers(admin));
  const stored = [await store.read('webhook-secrets'), await store.read('webhook-tokens')];
  const secrets = stored.flatMap((text) => readLines(text?.value));
  const groups = lines.need('controller', await gitlab.topLevelGroups());
  const hooks: { groupId: number; hookId: number }[] = [];
  let done = 0;
  let refusal: AdminRefusal | undefined;
  await atOnce(groups, CALLS_AT_ONCE, async ({ id: groupId }) => {
    const all = await gitlab.hooks(groupId);
    const described = new Set(secrets.map((secret) => hookDescription(groupHookKey(secret, groupId))));
    // Without a Premium licence there are no webhooks of groups to remove.
    if (!all.ok && all.refusal.code !== 'absent') refusal ??= all.refusal;
    for (const { id: hookId, url, description } of all.ok ? all.value : [])
      if (described.has(description) || (hookUrl !== undefined && isHookUrl(url, hookUrl)))
        hooks.push({ groupId, hookId });
    done += 1;
    progress(done, groups.length);
  });
  if (refusal !== undefined) lines.need('controller', { ok: false, refusal });
  return { controllers, hooks };
}

async function tearDown(
  { gitlab, progress }: Admin,
  { controllers, hooks }: Awaited<ReturnType<typeof planTeardown>>,
  lines: SetupLines,
): Promise<void> {
  for (const { id, state } of controllers) {
    if (state === 'disabled') continue;
    lines.need('controller', await gitlab.setState(id, 'disabled'));
    lines.add('controller', 'done', `controller ${id} is disabled: every job runs`);
  }
  let removed = 0;
  let refusal: AdminRefusal | undefined;
  await atOnce(hooks, CALLS_AT_ONCE, async ({ groupId, hookId }) => {
    const deleted = await gitlab.deleteHook(groupId, hookId);
    if (deleted.ok) removed += 1;
    else refusal ??= deleted.refusal;
    progress(removed, hooks.length);
  });
  if (removed > 0) lines.add('webhooks', 'done', `removed ${removed}`);
  // The controller stays until everything else is gone: it is how the next run finds the rest.
  if (refusal !== undefined) lines.need('webhooks', { ok: false, refusal });
  for (const { id } of controllers) {
    for (const token of lines.need('token', await gitlab.tokens(id)))
      lines.need('token', await gitlab.revokeToken(id, token.id));
    lines.need('controller', await gitlab.deleteController(id));
    lines.add('controller', 'done', `deleted controller ${id}, with its tokens`);
  }
}
