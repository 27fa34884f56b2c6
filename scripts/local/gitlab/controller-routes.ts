import type { Context, Hono } from 'hono';
import type { GitLabVersion } from './hook-request.ts';
import { numberedPage } from './pagination.ts';
import { isoText } from './times.ts';

/** A runner controller as an administrator made it. */
export interface LocalController {
  readonly id: number;
  readonly description?: string;
  readonly state: 'enabled' | 'dry_run' | 'disabled';
  /** A token was used within the last hour. @default false */
  readonly connected?: boolean;
  /** @default false */
  readonly instanceScope?: boolean;
  /** Runners of the instance, by id. @default none */
  readonly runnerScopes?: readonly number[];
  /** Unix ms. @default the beginning of 2026 */
  readonly createdAtMs?: number;
}

const CREATED_AT_MS = Date.UTC(2026, 0, 1);
const datesOf = (atMs = CREATED_AT_MS) => ({ created_at: isoText(atMs), updated_at: isoText(atMs) });

/** GitLab's runner controllers: two of its fields came with 18.10. */
export class ControllerBook {
  readonly #known: Map<number, LocalController>;
  readonly before1810: boolean;
  /** GitLab never gives a number twice: the router may still look for a stream of one that is gone. */
  #lastId: number;

  constructor(controllers: readonly LocalController[], version: GitLabVersion) {
    this.#known = new Map(controllers.map((each) => [each.id, each]));
    this.before1810 = version === '18.9';
    this.#lastId = Math.max(0, ...this.#known.keys());
  }

  find(id: number): LocalController | undefined {
    return this.#known.get(id);
  }

  change(id: number, change: Partial<Omit<LocalController, 'id'>>): void {
    const controller = this.#known.get(id);
    if (controller === undefined) throw new Error(`there is no runner controller ${id}`);
    this.#known.set(id, { ...controller, ...change });
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

  listed({ id, description = '', state, createdAtMs }: LocalController): object {
    return { id, description, state, ...datesOf(createdAtMs) };
  }

  shown(controller: LocalController): object {
    const { connected = false } = controller;
    return { ...this.listed(controller), ...(!this.before1810 && { connected }) };
  }

  scopes({ instanceScope = false, runnerScopes = [], createdAtMs }: LocalController): object {
    const dates = datesOf(createdAtMs);
    return {
      instance_level_scopings: instanceScope ? [dates] : [],
      ...(!this.before1810 && {
        runner_level_scopings: runnerScopes.map((id) => ({ runner_id: id, ...dates })),
      }),
    };
  }
}

export const CONTROLLER_STATES = ['enabled', 'dry_run', 'disabled'] as const;

/** `GET` and `PUT /runner_controllers…` for administrators. */
export function controllerRoutes(app: Hono, book: ControllerBook): void {
  const asked = (c: Context): LocalController | undefined => book.find(Number(c.req.param('id')));
  const missing = (c: Context): Response => c.json({ message: '404 Not found' }, 404);

  app.get('/runner_controllers', (c) => {
    const { entries, headers } = numberedPage(book.all(), new URL(c.req.url));
    return c.json(
      entries.map((each) => book.listed(each)),
      200,
      headers,
    );
  });
  app.get('/runner_controllers/:id', (c) => {
    const controller = asked(c);
    return controller === undefined ? missing(c) : c.json(book.shown(controller));
  });
  app.get('/runner_controllers/:id/scopes', (c) => {
    const controller = asked(c);
    return controller === undefined ? missing(c) : c.json(book.scopes(controller));
  });
  app.put('/runner_controllers/:id', async (c) => {
    const controller = asked(c);
    if (controller === undefined) return missing(c);
    const { state } = await c.req.json<{ readonly state?: unknown }>();
    const wanted = CONTROLLER_STATES.find((each) => each === state);
    if (wanted === undefined) return c.json({ error: 'state does not have a valid value' }, 400);
    book.change(controller.id, { state: wanted });
    return c.json(book.listed({ ...controller, state: wanted }));
  });
}
