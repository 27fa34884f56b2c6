/** Access table of pages, enforced first. Pages that are not listed are denied, as in the API. */
import { matchedRoutes } from 'hono/route';
import type { Roles } from '../../core/signin/model.ts';
import { type AccessTable, ANYBODY, EDIT, EVERYTHING, LOOK, mayEnter, whoMayEnter } from '../access.ts';
import type { PageContext } from './page-deps.ts';

export const PAGE_ACCESS: AccessTable = {
  // Users without a role get an explanation here.
  'GET /': ANYBODY,
  'GET /budgets': LOOK,
  'GET /me': ANYBODY,
  'POST /me/sessions': ANYBODY,
  'GET /go': ANYBODY,
  'GET /instance': EVERYTHING,
  'GET /:folder{groups|projects|runner-classes}/:name': LOOK,
  'GET /jobs': LOOK,
  'GET /jobs/:word': LOOK,
  'GET /shadow': LOOK,
  'GET /rollout': LOOK,
  'GET /rollout/step': EDIT,
  'POST /rollout/move': EVERYTHING,
  'POST /rollout/report': EDIT,
  'GET /coverage': LOOK,
  'GET /statements': LOOK,
  'GET /statements/:month': LOOK,
  'GET /statements/:month/:file': LOOK,
  'GET /reports': LOOK,
  'GET /reports/:file{spend.csv|groups.csv}': LOOK,
  'GET /break-glass': LOOK,
  'GET /history': LOOK,
  'GET /history/:edit': LOOK,
  'GET /history/:edit/undo': EDIT,
  'POST /history/:edit/undo': EDIT,
  'GET /edit': EDIT,
  'POST /edit': EDIT,
  'GET /ask': LOOK,
  'POST /ask': LOOK,
  'GET /requests': LOOK,
  'GET /requests/:id': EDIT,
  'POST /requests/:id': EDIT,
  'GET /import': EVERYTHING,
  'POST /import': EVERYTHING,
  'GET /export.csv': EVERYTHING,
};

export const NAVIGATION = [
  { href: '/', text: 'Budgets' },
  { href: '/requests', text: 'Requests' },
  { href: '/reports', text: 'Reports' },
  { href: '/statements', text: 'Statements' },
  { href: '/jobs', text: 'Jobs' },
  { href: '/shadow', text: 'Shadow' },
  { href: '/rollout', text: 'Rollout' },
  { href: '/coverage', text: 'Coverage' },
  { href: '/break-glass', text: 'Break-glass' },
  { href: '/import', text: 'CSV' },
  { href: '/history', text: 'History' },
] as const;

export type NavigationHref = (typeof NAVIGATION)[number]['href'];

export const mayOpen = (route: string, roles: Roles): boolean => mayEnter(PAGE_ACCESS, route, roles);

export const whoMayOpen = (route: string): string => whoMayEnter(PAGE_ACCESS, route);

/** The page a request is for: `GET /jobs/:word`. Undefined: there is none, only what catches the rest. */
export function routeOf(c: PageContext): string | undefined {
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
  const path = matchedRoutes(c).findLast((each) => each.method === method)?.path;
  return path === undefined ? undefined : `${method} ${path}`;
}
