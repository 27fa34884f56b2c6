import type { Context, Hono } from 'hono';
import type { WallClock } from '../clock/clock.ts';
import type { Administration } from './administration.ts';
import { CONTROLLER_STATES, type ControllerBook, type LocalController } from './controller-routes.ts';
import type { LocalRunner } from './job.ts';
import { numberedPage } from './pagination.ts';
import { isoText } from './times.ts';

/** A controller's token: its value is told once. */
interface LocalControllerToken {
  readonly id: number;
  readonly controllerId: number;
  readonly description: string;
  readonly value: string;
  readonly createdAtMs: number;
  lastUsedAtMs?: number;
}

interface ControllerAdminParts {
  readonly book: ControllerBook;
  readonly administration: Administration;
  readonly clock: WallClock;
  readonly random: () => number;
  readonly runners: () => readonly LocalRunner[];
}

/** Active tokens of all controllers. */
export class ControllerTokenBook {
  readonly #tokens = new Map<number, LocalControllerToken>();
  #made = 0;

  make(controllerId: number, description: string, atMs: number, random: () => number): LocalControllerToken {
    this.#made += 1;
    const value = `glrct-${Array.from({ length: 20 }, () => Math.floor(random() * 36).toString(36)).join('')}`;
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

  /** As a relay does that opens a stream. @returns whether GitLab takes it. */
  use(value: string, atMs: number): boolean {
    const token = [...this.#tokens.values()].find((each) => each.value === value);
    if (token !== undefined) token.lastUsedAtMs = atMs;
    return token !== undefined;
  }
}

/** What administrators make and delete: controllers, their scopes, their tokens. In GitLab's order of checks. */
export function controllerAdminRoutes(
  app: Hono,
  tokens: ControllerTokenBook,
  parts: ControllerAdminParts,
): void {
  const { book, administration, clock, random } = parts;
  const missing = (c: Context): Response => c.json({ message: '404 Not found' }, 404);
  const asked = (c: Context): LocalController | undefined => book.find(Number(c.req.param('id')));
  const tokenShown = ({
    id,
    controllerId,
    description,
    createdAtMs,
    lastUsedAtMs,
  }: LocalControllerToken) => ({
    id,
    runner_controller_id: controllerId,
    description,
    ...(!book.before1810 && { last_used_at: isoText(lastUsedAtMs) }),
    created_at: isoText(createdAtMs),
    updated_at: isoText(createdAtMs),
  });

  for (const path of ['/runner_controllers', '/runner_controllers/*'])
    app.use(path, (c, next) => {
      if (!administration.isAdministrator) return Promise.resolve(c.json({ message: '403 Forbidden' }, 403));
      if (administration.licence !== 'ultimate') return Promise.resolve(missing(c));
      return next();
    });

  app.post('/runner_controllers', async (c) => {
    const { description = '', state = 'disabled' } = await jsonOf(c);
    const wanted = CONTROLLER_STATES.find((each) => each === state);
    if (wanted === undefined) return c.json({ error: 'state does not have a valid value' }, 400);
    if (String(description).length > 1_024)
      return c.json({ message: 'Description is too long (maximum is 1024 characters)' }, 400);
    const made = book.make({ description: String(description), state: wanted, createdAtMs: clock.nowMs() });
    return c.json(book.listed(made), 201);
  });
  app.delete('/runner_controllers/:id', (c) => {
    const controller = asked(c);
    if (controller === undefined) return missing(c);
    for (const token of tokens.of(controller.id)) tokens.revoke(token);
    book.remove(controller.id);
    return c.body(null, 204);
  });

  app.post('/runner_controllers/:id/scopes/instance', (c) => {
    const controller = asked(c);
    if (controller === undefined) return missing(c);
    if (controller.instanceScope) return c.json({ message: 'Instance-level scope already exists' }, 409);
    if ((controller.runnerScopes ?? []).length > 0)
      return c.json({ message: 'Runner controller already has runner-level scopes. Remove them first' }, 409);
    book.change(controller.id, { instanceScope: true });
    return c.json({ created_at: isoText(clock.nowMs()), updated_at: isoText(clock.nowMs()) }, 201);
  });
  app.delete('/runner_controllers/:id/scopes/instance', (c) => {
    const controller = asked(c);
    if (controller === undefined) return missing(c);
    book.change(controller.id, { instanceScope: false });
    return c.body(null, 204);
  });
  app.post('/runner_controllers/:id/scopes/runners/:runner', (c) => {
    const controller = asked(c);
    const runner = parts.runners().find(({ id }) => id === Number(c.req.param('runner')));
    if (controller === undefined || runner === undefined || book.before1810) return missing(c);
    if ((runner.type ?? 'instance_type') !== 'instance_type')
      return c.json({ message: 'Only instance-type runners can be scoped' }, 422);
    if (controller.instanceScope)
      return c.json({ message: 'Runner controller already has instance-level scope. Remove it first' }, 409);
    const { runnerScopes = [] } = controller;
    if (runnerScopes.includes(runner.id)) return c.json({ message: 'Runner scope already exists' }, 409);
    book.change(controller.id, { runnerScopes: [...runnerScopes, runner.id] });
    const nowText = isoText(clock.nowMs());
    return c.json({ runner_id: runner.id, created_at: nowText, updated_at: nowText }, 201);
  });

  app.get('/runner_controllers/:id/tokens', (c) => {
    const controller = asked(c);
    if (controller === undefined) return missing(c);
    const { entries, headers } = numberedPage(tokens.of(controller.id), new URL(c.req.url));
    return c.json(entries.map(tokenShown), 200, headers);
  });
  app.post('/runner_controllers/:id/tokens', async (c) => {
    const controller = asked(c);
    if (controller === undefined) return missing(c);
    const { description = '' } = await jsonOf(c);
    const made = tokens.make(controller.id, String(description), clock.nowMs(), random);
    return c.json({ ...tokenShown(made), token: made.value }, 201);
  });
  app.delete('/runner_controllers/:id/tokens/:token', (c) => {
    const token = tokens.of(Number(c.req.param('id'))).find(({ id }) => id === Number(c.req.param('token')));
    if (token === undefined) return missing(c);
    tokens.revoke(token);
    return c.body(null, 204);
  });
}

const jsonOf = async (c: Context): Promise<Record<string, unknown>> =>
  (await c.req.json<Record<string, unknown>>().catch(() => ({}))) ?? {};
