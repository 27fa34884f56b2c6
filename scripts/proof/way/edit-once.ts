/** One edit of limits as finance makes it: a CSV file, exported, changed and imported again through the console's API. */
import { Hono } from 'hono';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { API_PATH, createApi } from '../../../functions/console/api/create-api.ts';
import { silentLog, systemClock } from '../../../functions/core/environment/index.ts';
import { createLedger, MemoryStore } from '../../../functions/core/ledger/index.ts';
import { createLimitsDesk, DynamoLimitTable } from '../../../functions/core/limits/index.ts';
import type { SignInEnv, User } from '../../../functions/core/signin/index.ts';
import { MemoryRollupStore } from '../../../functions/core/usage/index.ts';
import { directoryOf } from '../../../policies/place/directory.ts';
import { benchPlace, benchRules } from '../bench/bench-rules.ts';
import { clientTable } from './client-table.ts';

const INSTANCE = 'way.example.com';
const FINANCE: User = {
  id: 7,
  username: 'fritz',
  name: 'Fritz',
  roles: { admin: false, finance: true, ownedGroupIds: [], viewerGroupIds: [] },
  sessionId: 'fritz',
  csrfToken: 'token',
};

/** Makes the file of limits live with another amount. @throws {Error} if it is refused. */
type EditOnce = (amount: number) => Promise<void>;

export async function startEditing(): Promise<EditOnce> {
  const { policy, limits, directory = directoryOf([]) } = benchRules(1);
  const limitTable = new DynamoLimitTable({
    table: clientTable(),
    instance: INSTANCE,
    clock: systemClock,
    random: Math.random,
  });
  const ledger = createLedger({ store: new MemoryStore({ instance: INSTANCE }) });
  const { root } = benchPlace(0);
  let ids = 0;
  const desk = createLimitsDesk({
    table: limitTable,
    policy,
    packed: { limits: [{ on: { group: root }, money: 900, per: 'month' }] },
    directory: async () => directory,
    ledger,
    clock: systemClock,
    newId: () => {
      ids += 1;
      return `id${ids}`;
    },
  });
  const read = createConsoleRead({
    desk,
    limitTable,
    packedLimits: limits,
    policy,
    ledger,
    usage: new MemoryRollupStore({ instance: INSTANCE }),
    places: async () => placesOf(directory),
    zone: 'UTC',
    clock: systemClock,
  });
  const api = createApi({
    desk,
    read,
    policy,
    directory: async () => directory,
    clock: systemClock,
    log: silentLog,
  });
  const app = new Hono<SignInEnv>()
    .use(async (c, next) => {
      c.set('user', FINANCE);
      await next();
    })
    .route(API_PATH, api);
  return async (amount) => {
    const exported = await (await app.request(`${API_PATH}/limits.csv`)).text();
    const answer = await app.request(`${API_PATH}/limits/import?why=budget+round&confirmed=yes`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: exported.replace(/(\D)\d+(?:\.\d+)?(,month)/, `$1${amount}$2`),
    });
    if (answer.status !== 200)
      throw new Error(`the edit was answered ${answer.status}: ${await answer.text()}`);
  };
}
