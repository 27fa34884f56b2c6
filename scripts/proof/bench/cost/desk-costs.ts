/** Table costs of limits and the console: a visit, and the programs that run by the clock when nothing has changed. */
import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { createConsoleRead } from '../../../../functions/answers/create-console-read.ts';
import { placesNow } from '../../../../functions/answers/reading/limits-now.ts';
import { createConsoleApp } from '../../../../functions/console/app.ts';
import { createAssets, SCRIPT_HREF, STYLE_HREF } from '../../../../functions/console/pages/assets.ts';
import { NOT_BEGUN } from '../../../../functions/core/directory/chunks.ts';
import { readWholeDirectory } from '../../../../functions/core/directory/directory-part.ts';
import { DirectoryDraft, type GroupTree, writeGroups } from '../../../../functions/core/directory/draft.ts';
import { DynamoDirectoryTable } from '../../../../functions/core/directory/dynamo-directory-table.ts';
import { silentLog } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { createLimitsDesk } from '../../../../functions/core/limits/create-limits-desk.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/dynamo-limit-table.ts';
import { MemoryNotifier } from '../../../../functions/core/notify/message.ts';
import { dynamoSessionStore } from '../../../../functions/core/signin/dynamo-session-store.ts';
import type { SignInEnv } from '../../../../functions/core/signin/model.ts';
import { Sessions } from '../../../../functions/core/signin/sessions.ts';
import { dynamoAlertRecords } from '../../../../functions/core/thresholds/alert-records.ts';
import { DynamoRollupStore } from '../../../../functions/core/usage/rollup-store.ts';
import { dynamoCursorStore } from '../../../../functions/notices/cursor.ts';
import { sendNotices } from '../../../../functions/notices/send-notices.ts';
import { dynamoImportedVersions } from '../../../../functions/ssm-limits/imported-versions.ts';
import { MemoryParameters } from '../../../../functions/ssm-limits/memory-parameters.ts';
import { runOn } from '../../../../functions/ssm-limits/run.ts';
import { VISIT_PAGES } from '../../../cli/cost/assumptions.ts';
import type { VisitUnits } from '../../../cli/cost/units.ts';
import { handClock } from '../../../local/clock.ts';
import { createPages } from '../../../local/console-pages.ts';
import { CountingTable } from './counting-table.ts';
import { sampleRules } from './job-costs.ts';

const INSTANCE = 'gitlab.example.com';
const START_MS = Date.UTC(2026, 10, 21, 9);
const MINUTE_MS = 60_000;
/** All groups are below one root, as in large companies. */
const ROOT = 1;
const BUDGET = { money: 100, per: 'month' } as const;
const PARAMETER_PATH = '/tollgate/prod/limits';

interface Units {
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** @param options.parameters - those in Parameter Store that hold limits. */
export async function measureDesk(options: { readonly groups: number; readonly parameters: number }) {
  const sample = await sampleDesk(options.groups);
  const visit = await measureVisit(sample);
  const noticesRun = await measureNoticesRun(sample);
  return { visit, noticesRun, parameterRun: await measureParameterRun(sample, options.parameters) };
}

type SampleDesk = Awaited<ReturnType<typeof sampleDesk>>;

/** A deployment in which every group has a budget. */
async function sampleDesk(groups: number) {
  const table = new CountingTable();
  const clock = handClock(START_MS);
  const at = { table, instance: INSTANCE, clock, random: () => 0.5 };
  const { policy, limits: packed } = sampleRules(0);
  const directoryTable = new DynamoDirectoryTable(at);
  await writeDirectory(directoryTable, groups);
  const limitTable = new DynamoLimitTable(at);
  const ledger = createLedger({ store: new DynamoStore(at), clock, random: at.random });
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `sample${ids}`;
  };
  /** A new process: it has to read the limits and the groups. */
  const started = () => {
    const places = placesNow({ table: directoryTable, packed: undefined, clock });
    const directory = async () => (await places())?.directory;
    const desk = createLimitsDesk({ table: limitTable, policy, directory, ledger, clock, newId });
    return { places, directory, desk };
  };
  const groupIds = Array.from({ length: groups }, (_, index) => ROOT + index);
  const document = { limits: groupIds.map((id) => ({ on: { group: id }, ...BUDGET })) };
  await started().desk.apply([{ kind: 'replace', document }], {
    actor: 'sample',
    rights: [{ role: 'finance' }],
    why: 'sample',
    source: 'sample',
    base: undefined,
    confirmed: true,
  });
  return {
    ...{ at, clock, policy, packed, directoryTable, limitTable, ledger, started, groupIds },
    usage: new DynamoRollupStore(at),
    measured: async (run: () => Promise<unknown>): Promise<Units> => {
      const before = { ...table.units() };
      await run();
      const { reads, writes } = table.units();
      return { readUnits: reads - before.reads, writeUnits: writes - before.writes };
    },
  };
}

const pathOf = (id: number): string => (id === ROOT ? 'company' : `company/team-${id}`);

async function writeDirectory(table: DynamoDirectoryTable, groups: number): Promise<void> {
  const draft = await DirectoryDraft.open({ table, runId: 'sample', nowMs: START_MS });
  const tree: GroupTree = new Map(
    Array.from({ length: groups }, (_, index) => {
      const id = ROOT + index;
      return [id, [id, id === ROOT ? 0 : ROOT, pathOf(id), 1, 0]];
    }),
  );
  await writeGroups(tree, draft);
  await draft.flip(NOT_BEGUN, true);
}

/** The two requests of a sign-in: to GitLab, and back with the code. */
const SIGN_IN_REQUESTS = 2;
const FINANCE = { admin: false, finance: true, ownedGroupIds: [], viewerGroupIds: [] };

/** A new console process serves a user from the sign-in on, a page a minute: the overview, a group, the overview … */
async function measureVisit(sample: SampleDesk): Promise<VisitUnits> {
  const sessions = new Sessions({
    store: dynamoSessionStore(sample.at),
    roles: { read: async () => ({ username: 'fritz', name: 'Fritz', roles: FINANCE }) },
    clock: sample.clock,
    random: (bytes) => createHash('sha512').update(String(bytes)).digest().subarray(0, bytes),
  });
  const app = consoleOf(sample, sessions);
  const pages = Array.from({ length: VISIT_PAGES }, (_, index) =>
    index % 2 === 0 ? '/' : `/groups/${sample.groupIds[index % sample.groupIds.length]}`,
  );
  const paths = [STYLE_HREF, SCRIPT_HREF, ...pages];
  let answerBytes = 0;
  const units = await sample.measured(async () => {
    const session = await sessions.open(1, undefined);
    for (const path of paths) {
      const answer = await app.request(path, { headers: { session } });
      if (answer.status !== 200) throw new Error(`the sample page ${path} answers ${answer.status}`);
      answerBytes += (await answer.arrayBuffer()).byteLength;
      sample.clock.advance(MINUTE_MS);
    }
  });
  return { ...units, requests: paths.length + SIGN_IN_REQUESTS, answerBytes };
}

function consoleOf(sample: SampleDesk, sessions: Sessions): Hono {
  const { clock, policy, packed, limitTable, ledger, usage } = sample;
  const { places, directory, desk } = sample.started();
  const zone = 'UTC';
  const alerts = dynamoAlertRecords(sample.at);
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

/** A scheduled import from Parameter Store without changes. */
async function measureParameterRun(sample: SampleDesk, parameters: number): Promise<Units> {
  const store = new MemoryParameters();
  for (const id of sample.groupIds.slice(0, parameters)) {
    const value = JSON.stringify({ path: pathOf(id), limits: [BUDGET] });
    const editor = 'arn:aws:iam::123456789012:user/sample';
    store.put(`${PARAMETER_PATH}/${id}`, value, { arn: editor, atMs: sample.clock.nowMs() });
  }
  let refused = 0;
  const count = (): void => {
    refused += 1;
  };
  const deps = {
    path: PARAMETER_PATH,
    parameters: store,
    imported: dynamoImportedVersions(sample.at),
    desk: sample.started().desk,
    packed: { document: {}, limits: sample.packed },
    policy: sample.policy,
    directory: async () => (await readWholeDirectory(sample.directoryTable, { timeoutMs: 1_000 }))?.directory,
    clock: sample.clock,
    random: () => 0.5,
    log: silentLog,
    metrics: { add: count, flush: () => {} },
  };
  await runOn({}, deps);
  const units = await sample.measured(() => runOn({}, deps));
  if (refused > 0) throw new Error('sample parameters were refused');
  return units;
}

/** A run of the notices without events. */
async function measureNoticesRun(sample: SampleDesk): Promise<Units> {
  const { limitTable, policy, packed, ledger, usage, clock } = sample;
  const run = () =>
    sendNotices({
      ...{ limitTable, policy, packed, ledger, usage, clock },
      cursors: dynamoCursorStore(sample.at),
      alerts: dynamoAlertRecords(sample.at),
      directory: sample.started().directory,
      notify: new MemoryNotifier(),
      zone: 'UTC',
      consoleUrl: undefined,
      log: silentLog,
    });
  await run();
  await run();
  return sample.measured(run);
}
