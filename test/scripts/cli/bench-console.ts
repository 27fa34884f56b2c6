import { join } from 'node:path';
import type { Hono } from 'hono';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { createApi } from '../../../functions/console/api/create-api.ts';
import { API_PATH } from '../../../functions/console/api/http.ts';
import { createPages } from '../../../functions/console/pages/create-pages.ts';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { createLimitEdits } from '../../../functions/core/limits/create-limit-edits.ts';
import { createUploads } from '../../../functions/core/limits/limit-table.ts';
import type { SignInEnv } from '../../../functions/core/signin/model.ts';
import { readDirectory, readPolicy } from '../../../scripts/policy/read-documents.ts';
import { servedTo, USERS } from '../../functions/console/house.ts';
import { someLimits } from '../../policies/documents.ts';
import type { budgetBench } from './budget/budget-bench.ts';

/** The pages and the API over the tables and documents of a bench. */
export function consoleOn(
  { clock, table, tables, rollup, folder }: Awaited<ReturnType<typeof budgetBench>>,
  { store = tables.store, user = USERS.finance, lastJobId = 0 } = {},
) {
  const policy = readPolicy(join(folder, 'policy.yaml'));
  const groups = readDirectory(join(folder, 'directory.yaml'));
  const ledger = createLedger({ store, clock });
  const newId = (): string => 'id';
  const parts = { policy, directory: async () => groups, clock, zone: 'UTC' };
  const limitEdits = createLimitEdits({ ...parts, table, ledger, newId });
  const read = createConsoleRead({
    ...parts,
    limitEdits,
    limitTable: table,
    packedLimits: someLimits({}, policy),
    ledger,
    usage: rollup,
    places: async () => placesOf(groups),
    recentJobIds: async () => [lastJobId],
  });
  const rest = { ...parts, limitEdits, read, log: silentLog };
  const uploads = createUploads({ table, clock, newId });
  const pages = createPages({ ...rest, uploads, origin: 'https://budget.example.com' });
  const api = createApi(rest);
  const call = async (part: Hono<SignInEnv>, below: string, path: string, init?: RequestInit) =>
    servedTo(user, below, part).request(path, init);
  return {
    page: async (path: string, init?: RequestInit) => (await call(pages, '/', path, init)).text(),
    api: async (path: string, init?: RequestInit) =>
      (await call(api, API_PATH, `${API_PATH}${path}`, init)).json(),
  };
}
