/** Access table of pages, enforced first. Pages that are not listed are denied, as in the API. */
import type { Roles } from '../../core/signin/model.ts';
import { type AccessTable, ALL_USERS, EDIT, FINANCE, isRoleAllowed, READ } from '../access.ts';

export const PAGE_ACCESS: AccessTable = {
  // Users without a role get an explanation here.
  'GET /': ALL_USERS,
  'GET /budgets': READ,
  'GET /me': ALL_USERS,
  'POST /me/sessions': ALL_USERS,
  'GET /go': ALL_USERS,
  'GET /instance': FINANCE,
  'GET /:folder{groups|projects|runner-classes}/:name': READ,
  'GET /jobs': READ,
  'GET /jobs/:word': READ,
  'GET /shadow': READ,
  'GET /rollout': READ,
  'GET /rollout/step': EDIT,
  'POST /rollout/move': FINANCE,
  'POST /rollout/report': EDIT,
  'GET /coverage': READ,
  'GET /statements': READ,
  'GET /statements/:month': READ,
  'GET /statements/:month/:file': READ,
  'GET /reports': READ,
  'GET /reports/:file{spend.csv|groups.csv}': READ,
  'GET /break-glass': READ,
  'GET /history': READ,
  'GET /history/:edit': READ,
  'GET /history/:edit/undo': EDIT,
  'POST /history/:edit/undo': EDIT,
  'GET /edit': EDIT,
  'POST /edit': EDIT,
  'GET /ask': READ,
  'POST /ask': READ,
  'GET /requests': READ,
  'GET /requests/:id': EDIT,
  'POST /requests/:id': EDIT,
  'GET /import': FINANCE,
  'POST /import': FINANCE,
  'GET /export.csv': FINANCE,
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
  { href: '/import', text: 'Import' },
  { href: '/history', text: 'History' },
] as const;

export type NavigationHref = (typeof NAVIGATION)[number]['href'];

export const mayOpen = (route: string, roles: Roles): boolean => isRoleAllowed(PAGE_ACCESS, route, roles);
