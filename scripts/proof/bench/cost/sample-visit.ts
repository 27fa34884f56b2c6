/** One person who looks at budgets, from the sign-in on, in the console's own app. */
import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import { createConsoleApp } from '../../../../functions/console/app.ts';
import { createAssets, SCRIPT_HREF, STYLE_HREF } from '../../../../functions/console/pages/assets/assets.ts';
import { silentLog } from '../../../../functions/core/environment/index.ts';
import { Sessions, type SignInEnv } from '../../../../functions/core/signin/index.ts';
import { VISIT_PAGES } from '../../../cli/cost/assumptions.ts';
import type { VisitUnits } from '../../../cli/cost/units.ts';
import { createPages } from '../../../local/console-pages.ts';
import { countedAlertRecords, countedSessions } from './counted-tables.ts';
import type { SampleDesk } from './sample-desk.ts';

const MINUTE_MS = 60_000;
/** Where the code of the sign-in came from and went to: to GitLab, and back. */
const SIGN_IN_REQUESTS = 2;
const FINANCE = { admin: false, finance: true, ownedGroupIds: [], viewerGroupIds: [] };

/** A process of the console serves it from its start. A page a minute: the overview, a group, the overview … */
export async function measureVisit(sample: SampleDesk): Promise<VisitUnits> {
  const sessions = new Sessions({
    store: countedSessions(sample.counted),
    roles: { read: async () => ({ username: 'fritz', name: 'Fritz', roles: FINANCE }) },
    clock: sample.clock,
    random: (bytes) => createHash('sha512').update(String(bytes)).digest().subarray(0, bytes),
  });
  const app = consoleOf(sample, sessions);
  const before = sample.units();
  const session = await sessions.open(1, undefined);
  const { groupIds } = sample;
  const pages = Array.from({ length: VISIT_PAGES }, (_, index) =>
    index % 2 === 0 ? '/' : `/groups/${groupIds[index % groupIds.length]}`,
  );
  const paths = [STYLE_HREF, SCRIPT_HREF, ...pages];
  let answerBytes = 0;
  for (const path of paths) {
    const answer = await app.request(path, { headers: { session } });
    if (answer.status !== 200) throw new Error(`the sample page ${path} answers ${answer.status}`);
    answerBytes += (await answer.arrayBuffer()).byteLength;
    sample.clock.advance(MINUTE_MS);
  }
  const after = sample.units();
  return {
    readUnits: after.readUnits - before.readUnits,
    writeUnits: after.writeUnits - before.writeUnits,
    requests: paths.length + SIGN_IN_REQUESTS,
    answerBytes,
  };
}

function consoleOf(sample: SampleDesk, sessions: Sessions): Hono {
  const { clock, policy, packed, limitTable, ledger, usage } = sample;
  const { places, directory, desk } = sample.started();
  const zone = 'UTC';
  const alerts = countedAlertRecords(sample.counted);
  const read = createConsoleRead({
    ...{ desk, limitTable, packedLimits: packed, policy, ledger, usage, alerts, places, zone, clock },
  });
  const pages = createPages({
    ...{ desk, read, policy, directory, clock, zone },
    uploads: { keep: async () => '', read: async () => undefined },
    origin: 'https://budget.example.com',
    log: silentLog,
  });
  const requireUser = createMiddleware<SignInEnv>(async (c, next) => {
    const user = await sessions.resume(c.req.header('session') ?? '');
    if (user === undefined) return c.body(null, 401);
    c.set('user', user);
    return next();
  });
  const signIn = { routes: new Hono<SignInEnv>(), requireUser };
  return createConsoleApp({
    ...{ desk, read, policy, directory, clock, pages, signIn },
    assets: createAssets(),
    log: silentLog,
  });
}
