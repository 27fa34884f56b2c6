import type { Context, Hono } from 'hono';
import { isoText } from './bodies.ts';
import { forbidden, isAdministrator, licenceOf, listPage, notFound, routesBelow } from './instance.ts';
import type { GitLabState } from './state.ts';

export interface LocalController {
  readonly id: number;
  readonly description?: string;
  readonly state: (typeof STATES)[number];
  readonly connected?: boolean;
  readonly instanceScope?: boolean;
  readonly runnerScopes?: readonly number[];
  readonly createdAtMs?: number;
}

interface LocalControllerToken {
  readonly id: number;
  readonly controllerId: number;
  readonly description: string;
  readonly value: string;
  readonly createdAtMs: number;
  lastUsedAtMs?: number;
}

const STATES = ['enabled', 'dry_run', 'disabled'] as const;

export class ControllerTokenBook {
  readonly #tokens = new Map<number, LocalControllerToken>();
  #made = 0;

  make(controllerId: number, description: string, atMs: number, random: () => number): LocalControllerToken {
    this.#made += 1;
    const value = `glrct-${tokenText(random)}`;
    const token = { id: this.#made, controllerId, description, value, createdAtMs: atMs };
    this.#tokens.set(token.id, token);
    return token;
  }

  of(controllerId: number): readonly LocalControllerToken[] {
    return [...this.#tokens.values()].filter((token) => token.controllerId === controllerId);
  }

  revoke(token: LocalControllerToken): void {
    this.#tokens.delete(token.id);
  }

  /** Uses a token as a relay does that opens a stream. @returns true if GitLab accepts it. */
  use(value: string, atMs: number): boolean {
    const token = [...this.#tokens.values()].find((each) => each.value === value);
    if (token !== undefined) token.lastUsedAtMs = atMs;
    return token !== undefined;
  }
}

export const tokenText = (random: () => number): string =>
  Array.from({ length: 20 }, () => Math.floor(random() * 36).toString(36)).join('');

export function controllerRoutes(app: Hono, state: GitLabState): void {
  const { controllers, controllerTokens: tokens, clock, runners } = state;
  const isBefore1810 = state.version === '18.9';
  /** GitLab never reuses an id: the router may still hold a stream of a deleted controller. */
  let lastId = Math.max(0, ...controllers.keys());
  const route = routesBelow(app, '/runner_controllers/:id', (c) =>
    controllers.get(Number(c.req.param('id'))),
  );
  const change = (controller: LocalController, changed: Partial<LocalController>): LocalController => {
    const after = { ...controller, ...changed };
    controllers.set(after.id, after);
    return after;
  };
  const tokenEntity = (token: LocalControllerToken) => ({
    ...{ id: token.id, runner_controller_id: token.controllerId, description: token.description },
    ...(!isBefore1810 && { last_used_at: isoText(token.lastUsedAtMs) }),
    ...datesAt(token.createdAtMs),
  });
  const conflict = (c: Context, message: string) => c.json({ message }, 409);
  const stateIn = (text: unknown) => STATES.find((each) => each === text);
  const noState = (c: Context) => c.json({ error: 'state does not have a valid value' }, 400);

  for (const path of ['/runner_controllers', '/runner_controllers/*'])
    app.use(path, async (c, next) => {
      if (!isAdministrator(state)) return forbidden(c);
      return licenceOf(state) === 'ultimate' ? next() : notFound(c);
    });

  app.get('/runner_controllers', (c) => listPage(c, [...controllers.values()], listEntity));
  app.post('/runner_controllers', async (c) => {
    const { description = '', state: text = 'disabled' } = await jsonOf(c);
    const wanted = stateIn(text);
    if (wanted === undefined) return noState(c);
    lastId += 1;
    const made = { id: lastId, description: String(description), state: wanted, createdAtMs: clock.nowMs() };
    controllers.set(lastId, made);
    return c.json(listEntity(made), 201);
  });
  route('GET', '', (c, controller) =>
    c.json({
      ...listEntity(controller),
      ...(!isBefore1810 && { connected: controller.connected ?? false }),
    }),
  );
  route('PUT', '', async (c, controller) => {
    const wanted = stateIn((await jsonOf(c)).state);
    return wanted === undefined ? noState(c) : c.json(listEntity(change(controller, { state: wanted })));
  });
  route('DELETE', '', (c, { id }) => {
    for (const token of tokens.of(id)) tokens.revoke(token);
    controllers.delete(id);
    return c.body(null, 204);
  });

  route('GET', '/scopes', (c, { instanceScope = false, runnerScopes = [], createdAtMs }) =>
    c.json({
      instance_level_scopings: instanceScope ? [datesAt(createdAtMs)] : [],
      ...(!isBefore1810 && {
        runner_level_scopings: runnerScopes.map((id) => ({ runner_id: id, ...datesAt(createdAtMs) })),
      }),
    }),
  );
  route('POST', '/scopes/instance', (c, controller) => {
    const { instanceScope, runnerScopes = [] } = controller;
    if (instanceScope) return conflict(c, 'Instance-level scope already exists');
    if (runnerScopes.length > 0)
      return conflict(c, 'Runner controller already has runner-level scopes. Remove them first');
    change(controller, { instanceScope: true });
    return c.json(datesAt(clock.nowMs()), 201);
  });
  route('POST', '/scopes/runners/:runner', (c, controller) => {
    const { instanceScope, runnerScopes = [] } = controller;
    const runner = runners.get(Number(c.req.param('runner')));
    if (runner === undefined || isBefore1810) return notFound(c);
    if ((runner.type ?? 'instance_type') !== 'instance_type')
      return c.json({ message: 'Only instance-type runners can be scoped' }, 422);
    if (instanceScope)
      return conflict(c, 'Runner controller already has instance-level scope. Remove it first');
    if (runnerScopes.includes(runner.id)) return conflict(c, 'Runner scope already exists');
    change(controller, { runnerScopes: [...runnerScopes, runner.id] });
    return c.json({ runner_id: runner.id, ...datesAt(clock.nowMs()) }, 201);
  });

  route('GET', '/tokens', (c, { id }) => listPage(c, tokens.of(id), tokenEntity));
  route('POST', '/tokens', async (c, { id }) => {
    const { description = '' } = await jsonOf(c);
    const made = tokens.make(id, String(description), clock.nowMs(), state.random);
    return c.json({ ...tokenEntity(made), token: made.value }, 201);
  });
  route('DELETE', '/tokens/:token', (c, controller) => {
    const token = tokens.of(controller.id).find(({ id }) => id === Number(c.req.param('token')));
    if (token === undefined) return notFound(c);
    tokens.revoke(token);
    return c.body(null, 204);
  });
}

const CREATED_AT_MS = Date.UTC(2026, 0, 1);
const datesAt = (atMs = CREATED_AT_MS) => ({ created_at: isoText(atMs), updated_at: isoText(atMs) });

const listEntity = ({ id, description = '', state, createdAtMs }: LocalController): object => ({
  ...{ id, description, state },
  ...datesAt(createdAtMs),
});

const jsonOf = async (c: Context): Promise<Record<string, unknown>> =>
  (await c.req.json<Record<string, unknown>>().catch(() => ({}))) ?? {};
