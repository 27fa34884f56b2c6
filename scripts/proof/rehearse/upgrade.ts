import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ADMISSIONS_PATH } from '../../../functions/core/contract/admissions.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import type { JobTruth } from '../../../functions/core/gitlab/gitlab.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { inboxItem } from '../../../functions/core/ledger/items.ts';
import { ledgerKeys } from '../../../functions/core/store/keys.ts';
import { dynamoClient, dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { hintText } from '../../../functions/core/truth/webhook-hints.ts';
import * as names from '../../../functions/names.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { ensureTable, javaAvailable, startDynamoDbLocal } from '../../local/dynamodb-local.ts';
import { documentedUrlEvent, type HostedBundle, hostBundle } from './hosted-bundle.ts';
import { expectEqual, NotPossibleError } from './step.ts';

const TABLE = 'upgrade';
const INSTANCE = 'upgrade.example.com';
const BUNDLE_PROGRAM = 'scripts/build/bundle.ts';
const BUNDLE_MS_MAX = 180_000;
/** Each is admitted by one version, repeated with the other, and settled by both. */
const JOBS = [1, 2, 3, 4, 5, 6, 7, 8] as const;
const FUNCTIONS = ['admit', 'settle/stream'] as const;
type FunctionName = (typeof FUNCTIONS)[number];

interface Version {
  readonly admit: HostedBundle;
  readonly settle: HostedBundle;
}

/**
 * Runs the functions of an older version and the current ones on one table. Each decides and settles the other's jobs, as
 * during an upgrade and after its rollback.
 *
 * @throws {NotPossibleError} without Java, or in a clone without the older version.
 */
export async function rehearseUpgrade({
  root,
  folder,
  since,
}: {
  readonly root: string;
  readonly folder: string;
  /** A tag or commit. @default the newest tag, else the commit before the last */
  readonly since: string | undefined;
}): Promise<string> {
  if (!javaAvailable()) throw new NotPossibleError('it needs DynamoDB Local, and there is no Java here');
  const ref = since ?? olderRef(root);
  const old = await unpacked(ref, root, folder);
  const database = await startDynamoDbLocal();
  const running: HostedBundle[] = [];
  const start = async (from: string, name: FunctionName): Promise<HostedBundle> => {
    const bundle = await startFrom(from, name, database.endpoint, folder);
    running.push(bundle);
    return bundle;
  };
  const client = dynamoClient(database.endpoint);
  try {
    await ensureTable(client, TABLE);
    const version = async (from: string): Promise<Version> => ({
      admit: await start(from, 'admit'),
      settle: await start(from, 'settle/stream'),
    });
    await bothWays(await version(old), await version(root));
    const parts = { table: dynamoTable(client, TABLE), instance: INSTANCE };
    await expectBooks(new DynamoStore({ ...parts, clock: systemClock, random: Math.random }));
    return `${JOBS.length} jobs between ${ref} and now: settled once each, no drift`;
  } finally {
    for (const bundle of running) await bundle.close();
    client.destroy();
    await database.stop();
  }
}

async function bothWays(older: Version, newer: Version): Promise<void> {
  for (const jobId of JOBS) {
    const [first, second] = jobId % 2 === 0 ? [older, newer] : [newer, older];
    const answers = [await ask(first, jobId), await ask(second, jobId)];
    expectEqual(`what both answer to job ${jobId}`, answers, [
      `admitted d-${jobId}-1`,
      `admitted d-${jobId}-1`,
    ]);
    const [settles, repeats] = jobId % 4 < 2 ? [first, second] : [second, first];
    for (const version of [settles, repeats]) {
      const answer = await version.settle.invoke({ Records: [arrival(jobId)] });
      expectEqual(`what was left of job ${jobId}`, answer, { batchItemFailures: [] });
    }
  }
}

async function ask({ admit }: Version, jobId: number): Promise<string> {
  const place = { projectId: 1003, namespaceId: 102, rootNamespaceId: 100 };
  const requests = [{ jobId, ...place, image: 'golang:1.26', timeoutSeconds: 600 }];
  const body = JSON.stringify({ requests, remainingMs: 20_000 });
  const answer = await admit.invoke(documentedUrlEvent({ path: ADMISSIONS_PATH, body }));
  const parsed: unknown = isRecord(answer) ? JSON.parse(String(answer.body)) : undefined;
  const [decision]: unknown[] = isRecord(parsed) && Array.isArray(parsed.decisions) ? parsed.decisions : [];
  return isRecord(decision) ? `${decision.outcome} ${decision.decisionId}` : JSON.stringify(answer);
}

function arrival(jobId: number) {
  const nowMs = Date.now();
  const truth: JobTruth = {
    jobId,
    projectId: 1003,
    status: 'success',
    createdAtMs: nowMs - 90_000,
    startedAtMs: nowMs - 60_000,
    finishedAtMs: nowMs,
    durationSeconds: 60,
  };
  const body = hintText({ groupId: 100, truth });
  const item = { id: `delivery-${jobId}`, body, receivedAtMs: nowMs, untilMs: nowMs };
  return {
    eventName: 'INSERT',
    dynamodb: { SequenceNumber: String(jobId), NewImage: inboxItem(item, ledgerKeys(INSTANCE)) },
  };
}

async function expectBooks(store: DynamoStore): Promise<void> {
  const ledger = createLedger({ store });
  const states = await Promise.all(JOBS.map(async (jobId) => (await ledger.readRecord(jobId))?.state));
  expectEqual(
    'the jobs',
    states,
    JOBS.map(() => 'SETTLED'),
  );
  const { drift } = await ledger.rebuild({ repair: false });
  expectEqual('the counters that drift', drift.length, 0);
}

const git = (root: string, ...args: readonly string[]): string | undefined => {
  const { status, stdout } = spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};

function olderRef(root: string): string {
  const ref = git(root, 'describe', '--tags', '--abbrev=0') ?? git(root, 'rev-parse', '--short', 'HEAD~1');
  if (ref === undefined)
    throw new NotPossibleError(
      'git has no older version here (a shallow clone?); fetch one, or say --since <ref>',
    );
  return ref;
}

/** Builds the bundles of that version with its own script and the current packages. */
async function unpacked(ref: string, root: string, folder: string): Promise<string> {
  if (git(root, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`) === undefined)
    throw new NotPossibleError(`git does not have ${ref} here (a shallow clone?)`);
  const old = join(folder, 'older');
  mkdirSync(old);
  const run = promisify(execFile);
  const tar = join(folder, 'older.tar');
  await run('git', ['-C', root, 'archive', '--output', tar, ref]);
  await run('tar', ['-xf', tar, '-C', old]);
  const program = join(old, BUNDLE_PROGRAM);
  if (!existsSync(program)) throw new NotPossibleError(`${ref} has no ${BUNDLE_PROGRAM}`);
  await run(process.execPath, [program, ...FUNCTIONS], { cwd: old, timeout: BUNDLE_MS_MAX });
  return old;
}

async function startFrom(
  from: string,
  name: FunctionName,
  endpoint: string,
  folder: string,
): Promise<HostedBundle> {
  const bundle = name.replace('/', '-');
  const built = join(from, 'dist', bundle);
  if (!existsSync(join(built, 'handler.mjs')))
    throw new NotPossibleError(`${built} was not built: that version has no ${name}`);
  const own = join(folder, `${from === join(folder, 'older') ? 'older' : 'newer'}-${bundle}`);
  cpSync(built, own, { recursive: true });
  return hostBundle({
    folder: own,
    env: {
      HOME: own,
      AWS_REGION: 'local',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      [names.ENV_LEDGER_TABLE]: TABLE,
      [names.ENV_GITLAB_INSTANCE]: INSTANCE,
      [names.ENV_RULES_FILE]: join(own, 'rules.json'),
      [names.ENV_DYNAMODB_ENDPOINT]: endpoint,
    },
  });
}
