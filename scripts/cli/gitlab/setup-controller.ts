import { othersEnabled } from '../../../functions/answers/health/read-gitlab.ts';
import type {
  AdminController,
  ControllerToken,
  GitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import { type Admin, makeOnce, mapped, type Setup, type SetupLines } from './setup-flags.ts';

/** Finds the controller, or makes it in dry run. An adopted one keeps its state. Undefined: there is none yet. */
export async function setUpController(setup: Setup, lines: SetupLines): Promise<AdminController | undefined> {
  const { gitlab, name } = setup;
  const found = await findController(setup, lines);
  if (found !== undefined) {
    lines.add('controller', 'right', `controller ${found.id} "${name}" is ${found.state}`);
    const others = othersEnabled(lines.need('controller', await gitlab.controllers()), found.id);
    for (const other of others)
      lines.add(
        'controller',
        'right',
        `controller ${other} is enabled: jobs start only if it admits them, too`,
      );
    return found;
  }
  if (!setup.mayChange) {
    lines.add('controller', 'missing', `there is no controller "${name}"`);
    return undefined;
  }
  const made = await makeOnce(
    () => namedControllers(setup),
    ([one]) => one,
    () => gitlab.createController(name),
  );
  const controller = lines.need('controller', made);
  lines.add('controller', 'done', `made controller ${controller.id} "${name}": ${controller.state}`);
  return controller;
}

export const namedControllers = async ({ gitlab, name }: Admin) =>
  mapped(await gitlab.controllers(), (all) => all.filter(({ description }) => description === name));

export async function findController(admin: Admin, lines: SetupLines): Promise<AdminController | undefined> {
  const [found, ...others] = lines.need('controller', await namedControllers(admin));
  if (found === undefined || others.length === 0) return found;
  const ids = [found, ...others].map(({ id }) => id).join(', ');
  const says = `GitLab has several controllers called "${admin.name}": ${ids}`;
  throw lines.stop('controller', says, 'give one another description, or use --name');
}

/** GitLab's description of a token names its place. A token of this place that is not stored was lost. */
const descriptionOf = ({ store, name }: Admin): string => `${name} for ${store.place('router-token')}`;

/**
 * - `current`: the stored one, if GitLab still accepts it.
 * - `older`: made for this place before the stored one, by a rotation that did not end.
 * - `lost`: made for this place, and never stored.
 * - `isForeign`: someone else stored the value, so its token is unknown, and none of ours counts as lost.
 */
export async function readTokens(admin: Admin, controllerId: number, lines: SetupLines) {
  const stored = await admin.store.read('router-token');
  const tokens = lines.need('token', await admin.gitlab.tokens(controllerId));
  const ours = tokens.filter(({ description }) => description === descriptionOf(admin));
  const [, ofController, ofToken] = /^controller (\d+), token (\d+)$/.exec(stored?.note ?? '') ?? [];
  const current =
    Number(ofController) === controllerId ? tokens.find(({ id }) => id === Number(ofToken)) : undefined;
  const isForeign = stored !== undefined && ofToken === undefined;
  const after = current?.id ?? 0;
  return {
    ...{ isKept: stored !== undefined, isForeign, current },
    older: ours.filter(({ id }) => id < after),
    lost: isForeign ? [] : ours.filter(({ id }) => id > after),
  };
}

export async function makeToken(
  admin: Admin,
  controllerId: number,
  lost: readonly ControllerToken[],
  lines: SetupLines,
): Promise<number> {
  for (const { id } of lost) lines.need('token', await admin.gitlab.revokeToken(controllerId, id));
  // If the answer is lost, so is the token: the next run revokes it.
  const made = lines.need('token', await admin.gitlab.createToken(controllerId, descriptionOf(admin)));
  await admin.store.write('router-token', made.token, `controller ${controllerId}, token ${made.id}`);
  return made.id;
}

export async function setUpToken(setup: Setup, controller: AdminController | undefined, lines: SetupLines) {
  const { mayChange, store } = setup;
  const place = store.place('router-token');
  const missing = () => lines.add('token', 'missing', `there is no token of this controller in ${place}`);
  if (controller === undefined) return missing();
  const { current, older, lost, isForeign } = await readTokens(setup, controller.id, lines);
  if (isForeign)
    return lines.add(
      'token',
      'unknown',
      `${place} holds a token that setup did not make: whether GitLab takes it is not known`,
      'tollgate gitlab rotate-token puts another one in its place',
    );
  if (current === undefined) {
    if (!mayChange) return missing();
    const tokenId = await makeToken(setup, controller.id, lost, lines);
    return lines.add('token', 'done', `made token ${tokenId}, kept in ${place}`);
  }
  lines.add('token', 'right', `token ${current.id} is in ${place}`);
  for (const { id } of mayChange ? lost : []) {
    lines.need('token', await setup.gitlab.revokeToken(controller.id, id));
    lines.add('token', 'done', `the value of token ${id} was lost: revoked`);
  }
  if (older.length === 0) return;
  const says = `a rotation did not end: token ${older.map(({ id }) => id).join(', ')} is still valid`;
  lines.add('token', 'wrong', says, 'tollgate gitlab rotate-token goes on');
}

/** Adds the controller's scope: without one GitLab asks about no job. It never removes a scope. */
export async function setUpScope(setup: Setup, controller: AdminController | undefined, lines: SetupLines) {
  const { gitlab, runnerIds } = setup;
  const wantsInstance = runnerIds.length === 0;
  const wantedText = wantsInstance ? 'the instance' : `runners ${runnerIds.join(', ')}`;
  const missing = () => lines.add('scope', 'missing', `GitLab does not ask about jobs of ${wantedText}`);
  if (controller === undefined) return missing();
  const found = scopesIn(lines.need('scope', await gitlab.scopes(controller.id)));
  if (found.hasInstance && !wantsInstance)
    throw lines.stop(
      'scope',
      'its scope is the whole instance',
      'a controller has the whole instance or single runners: remove it (glab runner-controller scope delete), or leave --runner out',
    );
  const hasScope = found.hasInstance || found.runnerIds.length > 0;
  const lacking = wantsInstance
    ? (['instance'] as const).filter(() => !hasScope)
    : runnerIds.filter((id) => !found.runnerIds.includes(id));
  if (lacking.length === 0) {
    const existing = found.hasInstance ? 'the whole instance' : `runners ${found.runnerIds.join(', ')}`;
    return lines.add('scope', 'right', `GitLab asks about jobs of ${existing}`);
  }
  if (controller.state === 'enabled')
    throw lines.stop(
      'scope',
      `the controller is enabled and lacks the scope of ${wantedText}: jobs would fail immediately if no relay answers`,
      'tollgate controller dry-run, then this command again, then tollgate controller enable',
    );
  if (!setup.mayChange) return missing();
  for (const scope of lacking) lines.need('scope', await addScope(gitlab, controller.id, scope));
  lines.add('scope', 'done', `GitLab asks about jobs of ${wantedText}`);
}

export const addScope = (gitlab: GitLabAdministration, controllerId: number, scope: number | 'instance') =>
  makeOnce(
    () => gitlab.scopes(controllerId),
    (scopes) => {
      const { hasInstance, runnerIds } = scopesIn(scopes);
      return (scope === 'instance' ? hasInstance : runnerIds.includes(scope)) || undefined;
    },
    () => gitlab.addScope(controllerId, scope),
  );

type Scopes = Extract<Awaited<ReturnType<GitLabAdministration['scopes']>>, { ok: true }>['value'];

const scopesIn = ({ instance_level_scopings, runner_level_scopings = [] }: Scopes) => ({
  hasInstance: instance_level_scopings.length > 0,
  runnerIds: runner_level_scopings.map(({ runner_id }) => runner_id),
});
