/** The runner controller: found or made, its token, and its scope. */
import type { AdminAnswer } from '../../../functions/core/gitlab/admin-calls.ts';
import type {
  AdminController,
  ControllerToken,
  GitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { madeOnce, type Setup, type SetupLines } from './setup-step.ts';

/** Finds the controller, or makes it in dry run. An adopted one keeps its state. Undefined: there is none yet. */
export async function setUpController(setup: Setup, lines: SetupLines): Promise<AdminController | undefined> {
  const { gitlab, mode, name } = setup;
  const found = lines.need('controller', await namedControllers(gitlab, setup));
  const [first, ...others] = found;
  if (others.length > 0) {
    const ids = found.map(({ id }) => id).join(', ');
    const says = `GitLab has several controllers called "${name}": ${ids}`;
    throw lines.stop('controller', says, 'say which with --controller');
  }
  if (first !== undefined) {
    lines.add('controller', 'right', `controller ${first.id} "${first.description}" is ${first.state}`);
    // The list does not say whether it is connected.
    const whole = await gitlab.controller(first.id);
    return whole.ok ? whole.value : first;
  }
  if (mode !== 'change') {
    const would = `would make a controller "${name}" in dry_run`;
    lines.missing('controller', mode, would, `there is no controller "${name}"`);
    return undefined;
  }
  const made = await madeOnce(
    async () => {
      const now = await namedControllers(gitlab, setup);
      return now.ok ? { ok: true, value: now.value[0] } : now;
    },
    () => gitlab.createController(name),
  );
  const controller = lines.need('controller', made);
  lines.add('controller', 'done', `made controller ${controller.id} "${name}": ${controller.state}`);
  return controller;
}

/** Finds controllers by number, which wins, or by description. */
export async function namedControllers(
  gitlab: GitLabAdministration,
  { name, controllerId }: Pick<Setup, 'name' | 'controllerId'>,
): Promise<AdminAnswer<readonly AdminController[]>> {
  if (controllerId === undefined) {
    const all = await gitlab.controllers();
    return all.ok ? { ok: true, value: all.value.filter(({ description }) => description === name) } : all;
  }
  const one = await gitlab.controller(controllerId);
  return one.ok ? { ok: true, value: [one.value] } : one;
}

type TokenSetup = Pick<Setup, 'gitlab' | 'store' | 'name'>;

/** The tokens of a controller, compared with the stored one. */
interface TokenReading {
  readonly isKept: boolean;
  /** The stored one, if it is known which it is and GitLab still accepts it. */
  readonly current: ControllerToken | undefined;
  /** Made for this place before the stored one: a rotation that did not end. */
  readonly older: readonly ControllerToken[];
  /** Made for this place, and never stored. */
  readonly lost: readonly ControllerToken[];
  /** Someone else stored the value, so its token is unknown. */
  readonly isForeign: boolean;
}

const MAKES_MAX = 3;

/** GitLab's description of a token names its place. A token of this place that is not stored was lost. */
const descriptionOf = ({ store, name }: TokenSetup): string => `${name} for ${store.place('router-token')}`;

export async function readTokens(
  setup: TokenSetup,
  controllerId: number,
  lines: SetupLines,
): Promise<TokenReading> {
  const kept = await setup.store.read('router-token');
  const tokens = lines.need('token', await setup.gitlab.tokens(controllerId));
  const ours = tokens.filter(({ description }) => description === descriptionOf(setup));
  const [, ofController, ofToken] = /^controller (\d+), token (\d+)$/.exec(kept?.note ?? '') ?? [];
  const current =
    Number(ofController) === controllerId ? tokens.find(({ id }) => id === Number(ofToken)) : undefined;
  const isForeign = kept !== undefined && ofToken === undefined;
  const after = current?.id ?? 0;
  return {
    isKept: kept !== undefined,
    current,
    older: current === undefined ? [] : ours.filter(({ id }) => id < after),
    // With an unknown stored value, none of our tokens counts as lost.
    lost: isForeign ? [] : ours.filter(({ id }) => id > after),
    isForeign,
  };
}

/** Makes and stores a token, and revokes those that were made and lost before. @returns its id */
export async function makeToken(
  setup: TokenSetup,
  controllerId: number,
  lost: readonly ControllerToken[],
  lines: SetupLines,
): Promise<number> {
  const { gitlab, store } = setup;
  const listed = async () => lines.need('token', await gitlab.tokens(controllerId));
  let stray = lost;
  for (let tries = 1; ; tries += 1) {
    for (const { id } of stray) lines.need('token', await gitlab.revokeToken(controllerId, id));
    const known = new Set((await listed()).map(({ id }) => id));
    const made = await gitlab.createToken(controllerId, descriptionOf(setup));
    if (made.ok || made.refusal.code !== 'unavailable' || tries >= MAKES_MAX) {
      const { id, token } = lines.need('token', made);
      await store.write('router-token', token, `controller ${controllerId}, token ${id}`);
      return id;
    }
    // It may have been made, and then its value is lost.
    stray = (await listed()).filter(
      ({ id, description }) => !known.has(id) && description === descriptionOf(setup),
    );
  }
}

/** Stores the relays' token where they read it, and checks that GitLab knows it. */
export async function setUpToken(
  setup: Setup,
  controller: AdminController | undefined,
  lines: SetupLines,
): Promise<void> {
  const { gitlab, mode, store, nowMs } = setup;
  const place = store.place('router-token');
  const would = `would make a token and keep it in ${place}`;
  const is = `there is no token of this controller in ${place}`;
  if (controller === undefined) return lines.missing('token', mode, would, is);
  const { current, older, lost, isForeign } = await readTokens(setup, controller.id, lines);
  if (isForeign)
    return lines.add(
      'token',
      'unknown',
      `${place} holds a token that setup did not make: whether GitLab takes it is not known`,
      'tollgate gitlab rotate-token puts another one in its place',
    );
  if (current === undefined) {
    if (mode !== 'change') return lines.missing('token', mode, would, is);
    const tokenId = await makeToken(setup, controller.id, lost, lines);
    const replaced = lost.length === 0 ? '' : `; ${lost.length} whose value was lost revoked`;
    return lines.add('token', 'done', `made token ${tokenId}, kept in ${place}${replaced}`);
  }
  lines.add('token', 'right', `token ${current.id} is in ${place}, ${usedText(current, nowMs())}`);
  for (const { id } of lost) {
    const says = `token ${id} was made and its value lost`;
    if (mode !== 'change') {
      lines.missing('token', mode, `would revoke token ${id}, whose value was lost`, says);
      continue;
    }
    const revoked = await gitlab.revokeToken(controller.id, id);
    if (revoked.ok) lines.add('token', 'done', `${says}: revoked`);
    else lines.refuse('token', revoked.refusal);
  }
  if (older.length === 0) return;
  const ids = older.map(({ id }) => id).join(', ');
  const says = `a rotation did not end: token ${ids} is still valid`;
  lines.add('token', 'wrong', says, 'tollgate gitlab rotate-token goes on');
}

/** GitLab records the last use every 40 to 55 minutes. Tokens of controllers do not expire. */
function usedText({ createdAtMs, lastUsedAtMs }: ControllerToken, nowMs: number): string {
  const age = `${Math.max(0, Math.floor((nowMs - createdAtMs) / DAY_MS))} days old`;
  if (lastUsedAtMs === undefined) return `${age}; GitLab before 18.10 does not say when it was used`;
  return lastUsedAtMs === null
    ? `${age}, never used yet`
    : `${age}, last used ${new Date(lastUsedAtMs).toISOString().slice(0, 16)}Z or up to an hour later`;
}

const ONE_KIND =
  'a controller has the whole instance or single runners: remove one (glab runner-controller scope delete), or leave the flag out';

/** Adds the controller's scope: without one GitLab asks about no job. It never removes a scope. */
export async function setUpScope(
  setup: Setup,
  controller: AdminController | undefined,
  lines: SetupLines,
): Promise<void> {
  const { gitlab, mode } = setup;
  const wanted = await wantedRunners(setup, lines);
  const isInstance = wanted.length === 0;
  const wantedText = isInstance ? 'the instance' : `runners ${wanted.join(', ')}`;
  const missing = () =>
    lines.missing(
      'scope',
      mode,
      `would give it the scope of ${wantedText}`,
      'it has no scope: GitLab asks about no job',
    );
  if (controller === undefined) return missing();
  const { hasInstance, runnerIds, knowsRunners } = scopesIn(
    lines.need('scope', await gitlab.scopes(controller.id)),
  );
  const existing = `runners ${runnerIds.join(', ')}`;
  const right = (of: string) => lines.add('scope', 'right', `GitLab asks about jobs of ${of}`);
  if (isInstance && !setup.scope.instance && runnerIds.length > 0) return right(existing);
  if (isInstance && hasInstance) return right('the whole instance');
  if (isInstance && runnerIds.length > 0) throw lines.stop('scope', `its scope is ${existing}`, ONE_KIND);
  if (!isInstance && hasInstance) throw lines.stop('scope', 'its scope is the whole instance', ONE_KIND);
  if (!isInstance && !knowsRunners)
    throw lines.stop(
      'scope',
      'GitLab 18.9 has no scopes of single runners',
      'upgrade to 18.10, or leave the flag out',
    );
  const lacking = isInstance ? (['instance'] as const) : wanted.filter((id) => !runnerIds.includes(id));
  if (lacking.length === 0) return right(existing);
  if (controller.state === 'enabled')
    throw lines.stop(
      'scope',
      `the controller is enabled and lacks the scope of ${wantedText}: jobs would fail at once where no relay answers`,
      'tollgate controller dry-run, then this command again, then tollgate controller enable',
    );
  if (mode !== 'change') return missing();
  for (const scope of lacking) lines.need('scope', await addScope(gitlab, controller.id, scope));
  lines.add('scope', 'done', `GitLab asks about jobs of ${wantedText}`);
}

/** Adds one scope and reads it back. */
export const addScope = (
  gitlab: GitLabAdministration,
  controllerId: number,
  scope: number | 'instance',
): Promise<AdminAnswer<true>> =>
  madeOnce(
    async () => {
      const now = await gitlab.scopes(controllerId);
      if (!now.ok) return now;
      const { hasInstance, runnerIds } = scopesIn(now.value);
      const isThere = scope === 'instance' ? hasInstance : runnerIds.includes(scope);
      return { ok: true, value: isThere ? true : undefined };
    },
    () => gitlab.addScope(controllerId, scope),
  );

type Scopes = Extract<Awaited<ReturnType<GitLabAdministration['scopes']>>, { ok: true }>['value'];

const scopesIn = ({ instance_level_scopings, runner_level_scopings }: Scopes) => ({
  hasInstance: instance_level_scopings.length > 0,
  runnerIds: (runner_level_scopings ?? []).map(({ runner_id }) => runner_id),
  knowsRunners: runner_level_scopings !== undefined,
});

/** Finds the runners by number, by tags and by owner; each flag adds some. Empty: the instance. */
async function wantedRunners({ gitlab, scope }: Setup, lines: SetupLines): Promise<readonly number[]> {
  const { runnerIds, tags, owner } = scope;
  if (tags.length === 0 && owner === undefined) return runnerIds;
  const runners = lines.need('scope', await gitlab.instanceRunners(tags));
  const namesOwners = runners.length === 0 || runners.some(({ created_by }) => created_by !== undefined);
  if (owner !== undefined && !namesOwners)
    throw lines.stop(
      'scope',
      'this GitLab does not say who made a runner',
      'name runners with --runner or --runner-tag',
    );
  const found = runners.filter(({ created_by }) => owner === undefined || created_by?.username === owner);
  if (found.length === 0)
    throw lines.stop(
      'scope',
      'no runner of the instance is like that',
      'only runners of the instance can be scoped; look at their tags and owners',
    );
  return [...new Set([...runnerIds, ...found.map(({ id }) => id)])].sort((a, b) => a - b);
}
