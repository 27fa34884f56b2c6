/** Holds every answer that a test sees against its model: no field that is not described, none that is missing. */

import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import { expect } from 'vitest';
import { API_PATH } from '../../../functions/console/api/http.ts';
import type { z } from '../../../functions/core/schema.ts';

/** What the schema leaves out is not described. */
function hold(schema: z.ZodType, answer: unknown): void {
  const json: unknown = JSON.parse(JSON.stringify(answer));
  expect(schema.parse(json)).toEqual(json);
}

interface Described {
  readonly route: string;
  readonly asked: RegExp;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: unknown }>> }>
  >;
}

const routesOf = ({ openAPIRegistry }: Pick<OpenAPIHono, 'openAPIRegistry'>): readonly Described[] =>
  openAPIRegistry.definitions.flatMap((each): Described[] =>
    each.type !== 'route'
      ? []
      : [
          {
            route: `${each.route.method.toUpperCase()} ${each.route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
            asked: new RegExp(
              `^${each.route.method.toUpperCase()} ${API_PATH}${each.route.path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`,
            ),
            responses: each.route.responses as Described['responses'],
          },
        ],
  );

/** They are the same for every user. */
let known: readonly Described[] | undefined;

/** @param told - routes that answered with a success are added. */
export function describedApp<App extends Hono>(
  app: App,
  api: () => Pick<OpenAPIHono, 'openAPIRegistry'>,
  told: Set<string> = new Set(),
): App {
  known ??= routesOf(api());
  const routes = known;
  const { request } = app;
  app.request = async (...args: Parameters<typeof request>) => {
    const answer = await request(...args);
    const [input, init] = args;
    const { pathname } = new URL(input instanceof Request ? input.url : String(input), 'http://localhost');
    const asked = `${init?.method ?? 'GET'} ${pathname}`;
    const route = routes.find((each) => each.asked.test(asked));
    const schema = route?.responses[answer.status]?.content?.['application/json']?.schema;
    if (schema !== undefined) hold(schema as z.ZodType, await answer.clone().json());
    if (route !== undefined && answer.ok) told.add(route.route);
    return answer;
  };
  return app;
}
