import type { Context, Hono } from 'hono';
import type { GitLabVersion } from './hook-request.ts';

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
}

/** GitLab's runner controllers: two of its fields came with 18.10. */
export class ControllerBook {
  readonly #known: Map<number, LocalController>;
  readonly #before1810: boolean;

  constructor(controllers: readonly LocalController[], version: GitLabVersion) {
    this.#known = new Map(controllers.map((each) => [each.id, each]));
    this.#before1810 = version === '18.9';
  }

  find(id: number): LocalController | undefined {
    return this.#known.get(id);
  }

  change(id: number, change: Partial<Omit<LocalController, 'id'>>): void {
    const controller = this.#known.get(id);
    if (controller === undefined) throw new Error(`there is no runner controller ${id}`);
    this.#known.set(id, { ...controller, ...change });
  }

  listed(): readonly object[] {
    return [...this.#known.values()].map(({ id, description = '', state }) => ({ id, description, state }));
  }

  shown({ id, description = '', state, connected = false }: LocalController): object {
    return { id, description, state, ...(!this.#before1810 && { connected }) };
  }

  scopes({ instanceScope = false, runnerScopes = [] }: LocalController): object {
    return {
      instance_level_scopings: instanceScope ? [{}] : [],
      ...(!this.#before1810 && { runner_level_scopings: runnerScopes.map((id) => ({ runner_id: id })) }),
    };
  }
}

const STATES = ['enabled', 'dry_run', 'disabled'] as const;

/** `GET` and `PUT /runner_controllers…` for administrators. */
export function controllerRoutes(app: Hono, book: ControllerBook): void {
  const asked = (c: Context): LocalController | undefined => book.find(Number(c.req.param('id')));
  const missing = (c: Context): Response => c.json({ message: '404 Not found' }, 404);

  app.get('/runner_controllers', (c) => c.json(book.listed()));
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
    const wanted = STATES.find((each) => each === state);
    if (wanted === undefined) return c.json({ error: 'state does not have a valid value' }, 400);
    book.change(controller.id, { state: wanted });
    return c.json(book.shown({ ...controller, state: wanted }));
  });
}
