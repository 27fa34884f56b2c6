import type { Context, Hono } from 'hono';
import { isoText } from './bodies.ts';
import { forbidden, isAdministrator, licenceOf, listPage, notFound } from './instance.ts';
import type { GitLabState } from './state.ts';

export interface LocalController {
  readonly id: number;
  readonly description?: string;
  readonly state: (typeof STATES)[number];
  /** True if a token was used within the last hour. @default false */
  readonly connected?: boolean;
  /** @default false */
  readonly instanceScope?: boolean;
  /** Ids of runners of the instance. @default none */
  readonly runnerScopes?: readonly number[];
  /** Unix ms. @default the beginning of 2026 */
  readonly createdAtMs?: number;
}

interface LocalControllerToken {
  readonly id: number;
  readonly controllerId: number;
  readonly description: string;
  /** GitLab shows it once, when it makes the token. */
  readonly value: string;
  readonly createdAtMs: number;
  lastUsedAtMs?: number;
}

const STATES = ['enabled', 'dry_run', 'disabled'] as const;
const DESCRIPTION_MAX = 1_024;

export class ControllerBook {
  readonly #known: Map<number, LocalController>;
  /** GitLab never reuses an id: the router may still hold a stream of a deleted controller. */
  #lastId: number;

  constructor(controllers: readonly LocalController[]) {
    this.#known = new Map(controllers.map((each) => [each.id, each]));
    this.#lastId = Math.max(0, ...this.#known.keys());
  }

  find(id: number): LocalController | undefined {
    return this.#known.get(id);
  }

  /** @throws {Error} if the controller does not exist. */
  change(id: number, change: Partial<Omit<LocalController, 'id'>>): LocalController {
    const controller = this.#known.get(id);
    if (controller === undefined) throw new Error(`there is no runner controller ${id}`);
    const changed = { ...controller, ...change };
    this.#known.set(id, changed);
    return changed;
  }

  make(controller: Omit<LocalController, 'id'>): LocalController {
    this.#lastId += 1;
    const made = { ...controller, id: this.#lastId };
    this.#known.set(made.id, made);
    return made;
  }

  remove(id: number): void {
    this.#known.delete(id);
  }

  all(): readonly LocalController[] {
    return [...this.#known.values()];
  }
}

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

/** `/runner_controllers…`: controllers, their scopes and their tokens, with GitLab's order of checks. */
export function controllerRoutes(app: Hono, state: GitLabState): void {
  const { controllers, controllerTokens: tokens, clock, jobs } = state;
  const isBefore1810 = state.version === '18.9';
  const found = (c: Context): LocalController | undefined => controllers.find(Number(c.req.param('id')));
  const withController =
    (answer: (c: Context, controller: LocalController) => Response | Promise<Response>) => (c: Context) => {
      const controller = found(c);
      return controller === undefined ? notFound(c) : answer(c, controller);
    };
  const tokenEntity = (token: LocalControllerToken) => ({
    ...{ id: token.id, runner_controller_id: token.controllerId, description: token.description },
    ...(!isBefore1810 && { last_used_at: isoText(token.lastUsedAtMs) }),
    ...datesAt(token.createdAtMs),
  });
  const conflict = (c: Context, message: string) => c.json({ message }, 409);

  for (const path of ['/runner_controllers', '/runner_controllers/*'])
    app.use(path, async (c, next) => {
      if (!isAdministrator(state)) return forbidden(c);
      return licenceOf(state) === 'ultimate' ? next() : notFound(c);
    });

  app.get('/runner_controllers', (c) => listPage(c, controllers.all(), listEntity));
  app.post('/runner_controllers', async (c) => {
    const { description = '', state: asked = 'disabled' } = await jsonOf(c);
    const wanted = STATES.find((each) => each === asked);
    if (wanted === undefined) return c.json({ error: 'state does not have a valid value' }, 400);
    if (String(description).length > DESCRIPTION_MAX)
      return c.json({ message: 'Description is too long (maximum is 1024 characters)' }, 400);
    const made = { description: String(description), state: wanted, createdAtMs: clock.nowMs() };
    return c.json(listEntity(controllers.make(made)), 201);
  });
  app.get(
    '/runner_controllers/:id',
    withController((c, controller) =>
      c.json({
        ...listEntity(controller),
        ...(!isBefore1810 && { connected: controller.connected ?? false }),
      }),
    ),
  );
  app.put(
    '/runner_controllers/:id',
    withController(async (c, { id }) => {
      const { state: asked } = await jsonOf(c);
      const wanted = STATES.find((each) => each === asked);
      if (wanted === undefined) return c.json({ error: 'state does not have a valid value' }, 400);
      return c.json(listEntity(controllers.change(id, { state: wanted })));
    }),
  );
  app.delete(
    '/runner_controllers/:id',
    withController((c, { id }) => {
      for (const token of tokens.of(id)) tokens.revoke(token);
      controllers.remove(id);
      return c.body(null, 204);
    }),
  );

  app.get(
    '/runner_controllers/:id/scopes',
    withController((c, { instanceScope = false, runnerScopes = [], createdAtMs }) =>
      c.json({
        instance_level_scopings: instanceScope ? [datesAt(createdAtMs)] : [],
        ...(!isBefore1810 && {
          runner_level_scopings: runnerScopes.map((id) => ({ runner_id: id, ...datesAt(createdAtMs) })),
        }),
      }),
    ),
  );
  app.post(
    '/runner_controllers/:id/scopes/instance',
    withController((c, { id, instanceScope, runnerScopes = [] }) => {
      if (instanceScope) return conflict(c, 'Instance-level scope already exists');
      if (runnerScopes.length > 0)
        return conflict(c, 'Runner controller already has runner-level scopes. Remove them first');
      controllers.change(id, { instanceScope: true });
      return c.json(datesAt(clock.nowMs()), 201);
    }),
  );
  app.delete(
    '/runner_controllers/:id/scopes/instance',
    withController((c, { id }) => {
      controllers.change(id, { instanceScope: false });
      return c.body(null, 204);
    }),
  );
  app.post(
    '/runner_controllers/:id/scopes/runners/:runner',
    withController((c, { id, instanceScope, runnerScopes = [] }) => {
      const runner = jobs.runner(Number(c.req.param('runner')));
      if (runner === undefined || isBefore1810) return notFound(c);
      if ((runner.type ?? 'instance_type') !== 'instance_type')
        return c.json({ message: 'Only instance-type runners can be scoped' }, 422);
      if (instanceScope)
        return conflict(c, 'Runner controller already has instance-level scope. Remove it first');
      if (runnerScopes.includes(runner.id)) return conflict(c, 'Runner scope already exists');
      controllers.change(id, { runnerScopes: [...runnerScopes, runner.id] });
      return c.json({ runner_id: runner.id, ...datesAt(clock.nowMs()) }, 201);
    }),
  );

  app.get(
    '/runner_controllers/:id/tokens',
    withController((c, { id }) => listPage(c, tokens.of(id), tokenEntity)),
  );
  app.post(
    '/runner_controllers/:id/tokens',
    withController(async (c, { id }) => {
      const { description = '' } = await jsonOf(c);
      const made = tokens.make(id, String(description), clock.nowMs(), state.random);
      return c.json({ ...tokenEntity(made), token: made.value }, 201);
    }),
  );
  app.delete('/runner_controllers/:id/tokens/:token', (c) => {
    const token = tokens.of(Number(c.req.param('id'))).find(({ id }) => id === Number(c.req.param('token')));
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
