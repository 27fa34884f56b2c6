/** Who may call what: the table that the API enforces before anything else runs. Denied unless it stands here. */
import { type AccessTable, ANYBODY, EDIT, EVERYTHING, LOOK } from '../access.ts';

/** Keyed by method and path below `/api/v1`. */
export const ACCESS: AccessTable = {
  'GET /openapi.json': ANYBODY,
  'GET /me': ANYBODY,
  'GET /groups': LOOK,
  'GET /groups/:id': LOOK,
  'GET /projects/:id': LOOK,
  'GET /runner-classes/:name': EVERYTHING,
  'GET /instance': EVERYTHING,
  'GET /usage': LOOK,
  'GET /jobs/:word': LOOK,
  'GET /shadow': LOOK,
  'GET /limits': LOOK,
  'GET /limits/history': LOOK,
  'POST /limits/preview': EDIT,
  'POST /limits/backtest': EDIT,
  'POST /limits/edits': EDIT,
  'GET /limits.csv': EVERYTHING,
  'POST /limits/import': EVERYTHING,
  'POST /grants': EDIT,
  'POST /grants/:id/revoke': EDIT,
  'POST /freezes': EDIT,
  'POST /freezes/:id/lift': EDIT,
  'GET /breakglass': LOOK,
  'POST /breakglass': EVERYTHING,
  'POST /breakglass/:id/end': EDIT,
  'POST /breakglass/:id/review': EDIT,
  'GET /requests': LOOK,
  'POST /requests': LOOK,
  'POST /requests/:id/decision': EDIT,
};
