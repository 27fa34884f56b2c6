/** One run: load and faults, then quiet, then the ledger is compared with what the router heard. */
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { silentLog, systemClock } from '../../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { actionForJob } from '../../../functions/core/job-ends/actions.ts';
import { chargeBypass } from '../../../functions/core/job-ends/charge-bypass.ts';
import { concludeAll, newConcludeTally } from '../../../functions/core/job-ends/conclude.ts';
import { hintText } from '../../../functions/core/job-ends/webhook-hints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { decodeItem } from '../../../functions/core/ledger/items.ts';
import type { JobRecord } from '../../../functions/core/ledger/ledger.ts';
import { COUNTER_SK, INBOX_SK, ledgerKeys } from '../../../functions/core/store/keys.ts';
import { type Item, SK } from '../../../functions/core/store/operation.ts';
import { dynamoClient, dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import type { TableStreamRecord, TableStreamResponse } from '../../../functions/settle/consume.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { newInTable } from '../../local/dynamodb-local.ts';
import { seededRandom } from '../../local/random.ts';
import { until } from '../../local/timing.ts';
import {
  CHAOS_INSTANCE,
  CHAOS_PROJECTS,
  CHAOS_TABLE,
  type ChaosScene,
  chaosLimitOf,
  FAULTS,
  openScene,
  pathOfProject,
  rootOf,
} from './scene.ts';

const PER_SECOND = 20;
const FAULT_MS = { min: 1_200, spread: 1_800 };
const CALM_MS = { min: 500, spread: 1_000 };
const RUN_MS = { min: 500, spread: 2_500 };
/** After a fault of three seconds a decision is delivered within this: a second to gather, then three retries. */
const DELIVERED_MS_MAX = 15_000;
const QUIET_MS_MAX = 90_000;
const SAMPLES_MAX = 5;

interface AskedJob {
  readonly jobId: number;
  readonly projectId: number;
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly result: string;
}

function* drawFaults(random: () => number): Generator<string> {
  for (;;) {
    const order = Object.keys(FAULTS).map((name) => ({ name, at: random() }));
    for (const { name } of order.sort((a, b) => a.at - b.at)) yield name;
  }
}

export async function runChaos(seed: number, minutes: number, onProgress: (text: string) => void) {
  const random = seededRandom(seed);
  const deciding = new Map<number, number>();
  const lostJobs = new Set<number>();
  const unheardJobs = new Set<number>();
  onProgress('starting table, functions, router and relays …');
  const scene = await openScene(seededRandom(seed + 1), (text, relay) => {
    const line: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    if (!isRecord(line)) return;
    if (line.message === 'decision') {
      deciding.set(Number(line.jobId), relay);
      if (line.heard === false) unheardJobs.add(Number(line.jobId));
    }
    if (line.message === 'fallback answers lost' && Array.isArray(line.jobIds))
      for (const jobId of line.jobIds) lostJobs.add(Number(jobId));
  });
  const client = dynamoClient(scene.endpoint);
  const table = dynamoTable(client, CHAOS_TABLE);
  const parts = { instance: CHAOS_INSTANCE, clock: systemClock, random: Math.random };
  const store = new DynamoStore({ table, ...parts });
  const stream = await readStream(scene);
  try {
    const finishLoad = startLoad(scene, store, seededRandom(seed + 2));
    const { faults, cuts } = await breakThings(scene, random, minutes, onProgress);
    onProgress('no more faults; waiting for the last jobs and the ledger …');
    const asked = await finishLoad();
    await until(async () => {
      const gauge = 'tollgate_relay_unmetered_queued';
      const queued = scene.relays.map((relay) => relay.running()?.gauge(gauge) ?? 0);
      return (await Promise.all(queued)).every((count) => count === 0) && stream.seen.taken >= asked.length;
    }, QUIET_MS_MAX);
    const cut = (job: AskedJob): boolean =>
      cuts.some(({ fromMs, toMs }) => job.askedAtMs <= toMs && job.answeredAtMs >= fromMs);
    const answeredWith = (wanted: string) => asked.filter(({ result }) => result === wanted);
    const answered = [...answeredWith('admitted'), ...answeredWith('rejected')];
    const died = ({ jobId, answeredAtMs }: AskedJob): boolean =>
      scene.relays.some(
        ({ killedAtMs }, relay) =>
          (deciding.get(jobId) ?? relay) === relay &&
          killedAtMs.some((atMs) => atMs >= answeredAtMs && atMs - answeredAtMs <= DELIVERED_MS_MAX),
      );
    const isExplained = (job: AskedJob): boolean =>
      lostJobs.has(job.jobId) || unheardJobs.has(job.jobId) || died(job);
    const unreportedIn = (records: ReadonlyMap<number, JobRecord>) =>
      answered.filter((job) => isUnreported(job, records.get(job.jobId)));
    // The journal may be read after the last webhook.
    await until(async () => unreportedIn(await recordsIn(store)).every(isExplained), DELIVERED_MS_MAX);

    const ledger = createLedger({ store });
    const before = await recordsIn(store);
    const unreported = unreportedIn(before);
    // A webhook frees no rejected job and charges none that the ledger did not admit. The sweep does: it asks GitLab.
    const verdicts = asked.map((job) =>
      actionForJob(before.get(job.jobId), outcomeOf(job), systemClock.nowMs()),
    );
    const bypass = { ledger, currentRules: async () => scene.rules, clock: systemClock, log: silentLog };
    await concludeAll(verdicts, {
      ...{ ledger, tally: newConcludeTally(), chargeUnknown: 'nothing' },
      chargeBypass: (gitlabJobs) => chargeBypass(gitlabJobs, bypass),
    });
    const records = await recordsIn(store);
    const { drift } = await ledger.rebuild({ repair: false });

    const unanswered = asked.filter((job) => !answered.includes(job));
    const named = (jobs: readonly AskedJob[]) => jobs.map(({ jobId, result }) => `job ${jobId}: ${result}`);
    return {
      ...{ seed, minutes, faults, asked: asked.length },
      ...{ admitted: answeredWith('admitted').length, rejected: answeredWith('rejected').length },
      cut: unanswered.filter(cut).length,
      /** The relay's own decisions that the ledger never got: the sweep charged those that ran. */
      ...{
        diedWithRelay: unreported.filter(died).length,
        unheard: unreported.filter(({ jobId }) => unheardJobs.has(jobId)).length,
      },
      ...{ declaredLost: lostJobs.size, commits: stream.seen.commits },
      promises: {
        'requests without a response': named(unanswered.filter((job) => !cut(job))),
        'commits at which the ledger itself was over a limit': stream.seen.over,
        'decisions that the ledger never got, not declared lost, and not gone with a killed relay': named(
          unreported.filter((job) => !isExplained(job)),
        ),
        'jobs whose record differs from what the router heard': answered.flatMap((job) =>
          wrongOf(job, records.get(job.jobId)),
        ),
        'counters that differ from a recount': drift.map(({ key }) => `${key.subject} ${key.limit}`),
        'holds left': liveIn(records).map((jobId) => `job ${jobId}`),
      } satisfies Record<string, readonly string[]>,
    };
  } finally {
    await stream.stop();
    client.destroy();
    await scene.close();
  }
}

export type ChaosResult = Awaited<ReturnType<typeof runChaos>>;

export const chaosHolds = ({ promises }: ChaosResult): boolean =>
  Object.values(promises).every(({ length }) => length === 0);

export function chaosText({ promises, faults, ...counts }: ChaosResult): string {
  const list = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const lines = Object.entries(promises).map(([what, found]) => {
    const samples = found.length === 0 ? '' : ` (${found.slice(0, SAMPLES_MAX).join('; ')})`;
    return `${found.length === 0 ? 'holds ' : 'BROKEN'}    ${what}: ${found.length}${samples}`;
  });
  return [`Faults    ${list(faults)}`, `Counts    ${list(counts)}`, ...lines].join('\n');
}

function startLoad({ router }: ChaosScene, store: DynamoStore, random: () => number) {
  const asked: AskedJob[] = [];
  const open: Promise<void>[] = [];
  let isOver = false;
  const live = async (jobId: number): Promise<void> => {
    const projectId = CHAOS_PROJECTS[Math.floor(random() * CHAOS_PROJECTS.length)] ?? 0;
    const runMs = RUN_MS.min + random() * RUN_MS.spread;
    const askedAtMs = performance.now();
    const { result } = await router.admit(questionOf(jobId, projectId));
    const job = { jobId, projectId, askedAtMs, answeredAtMs: performance.now(), result };
    asked.push(job);
    if (result === 'admitted') await pause(runMs);
    const receivedAtMs = Date.now();
    const body = hintText({ groupId: rootOf(projectId), gitlabJob: outcomeOf(job) });
    const item = { id: `webhook ${jobId}`, body, receivedAtMs, untilMs: receivedAtMs + 3_600_000 };
    const receive = () => store.receive(item, { timeoutMs: 10_000 });
    await receive().catch(receive);
  };
  const asking = (async () => {
    const startedMs = performance.now();
    for (let jobId = 1; !isOver; jobId += 1) {
      open.push(live(jobId));
      await pause(Math.max(0, startedMs + (jobId * 1_000) / PER_SECOND - performance.now()));
    }
  })();
  return async (): Promise<readonly AskedJob[]> => {
    isOver = true;
    await asking;
    await Promise.all(open);
    return asked;
  };
}

function outcomeOf({ jobId, projectId, result }: AskedJob): GitLabJob {
  const nowMs = Date.now();
  const job = { jobId, projectId, projectPath: pathOfProject(projectId), finishedAtMs: nowMs };
  return result === 'admitted'
    ? { ...job, status: 'success', startedAtMs: nowMs - RUN_MS.min, durationSeconds: 0.5, runnerId: 12 }
    : { ...job, status: 'failed', failureReason: 'job_router_failure' };
}

const questionOf = (jobId: number, projectId: number) => ({
  id: jobId,
  job_info: {
    ...{ id: jobId, name: 'unit', stage: 'test', pipeline_id: 5_000 + Math.floor(jobId / 5), user_id: 7 },
    ...{ project_id: projectId, project_full_path: pathOfProject(projectId), tags: [] },
    ...{ namespace_id: rootOf(projectId), root_namespace_id: rootOf(projectId) },
  },
  runner_info: { id: 12, timeout: 3_600, tags: [] },
  ...{ image: { name: 'alpine:3.22' }, variables: [] },
});

async function breakThings(
  scene: ChaosScene,
  random: () => number,
  minutes: number,
  onProgress: (text: string) => void,
) {
  const endMs = performance.now() + minutes * 60_000;
  const faults: Record<string, number> = {};
  const cuts: { readonly fromMs: number; readonly toMs: number }[] = [];
  for (const name of drawFaults(random)) {
    if (performance.now() >= endMs) break;
    await pause(CALM_MS.min + random() * CALM_MS.spread);
    const relay = Math.floor(random() * scene.relays.length);
    const lastsMs = Math.round(FAULT_MS.min + random() * FAULT_MS.spread);
    onProgress(`${name} for ${lastsMs} ms`);
    faults[name] = (faults[name] ?? 0) + 1;
    const fromMs = performance.now();
    await FAULTS[name]?.begin(scene, relay);
    if (FAULTS[name]?.cuts) cuts.push({ fromMs, toMs: performance.now() });
    await pause(lastsMs);
    await FAULTS[name]?.end(scene, relay);
  }
  return { faults, cuts };
}

/** Reads the table's stream for the settling function, as Lambda does, retries failed records, and checks each counter. */
async function readStream({ endpoint, settle }: ChaosScene) {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBStreamsClient({ endpoint, region: 'local', credentials });
  const done = new AbortController();
  const { signal } = done;
  const keys = ledgerKeys(CHAOS_INSTANCE);
  const seen = { taken: 0, commits: 0, over: [] as string[] };
  const check = ({ dynamodb }: TableStreamRecord): void => {
    const image = dynamodb?.NewImage;
    if (image?.[SK]?.S !== COUNTER_SK) return;
    const item = decodeItem(image as Item, keys);
    if (item.kind !== 'counter') return;
    seen.commits += 1;
    const { key, committed, unchecked } = item.counter;
    // Relays admit on their own beyond a limit; the ledger must not.
    const checked = committed - Object.values(unchecked).reduce((sum, amount) => sum + amount, 0);
    const limit = chaosLimitOf(key.subject);
    if (limit !== undefined && checked > limit) seen.over.push(`${key.subject}: ${checked} of ${limit}`);
  };
  const settled = async (batch: readonly TableStreamRecord[]): Promise<number> => {
    const running = settle.running();
    const answer = await running?.invoke({ Records: batch }).catch(() => undefined);
    if (answer === undefined) return 0;
    const failed = (answer as TableStreamResponse).batchItemFailures.map((each) => each.itemIdentifier);
    const first = batch.findIndex(({ dynamodb }) => failed.includes(dynamodb?.SequenceNumber ?? ''));
    return first === -1 ? batch.length : first;
  };
  const batches = await newInTable({ client, tableName: CHAOS_TABLE, signal, pause: () => pause(50) });
  const reading = (async () => {
    for await (const batch of batches) {
      for (const record of batch) check(record);
      let left: readonly TableStreamRecord[] = batch.filter(isInbox);
      while (left.length > 0 && !signal.aborted) {
        const count = await settled(left);
        seen.taken += count;
        left = left.slice(count);
        if (left.length > 0) await pause(200);
      }
    }
  })();
  const stop = async (): Promise<void> => {
    done.abort();
    await reading;
    client.destroy();
  };
  return { seen, stop };
}

const isInbox = ({ eventName, dynamodb }: TableStreamRecord): boolean =>
  eventName === 'INSERT' && dynamodb?.NewImage?.[SK]?.S?.startsWith(INBOX_SK) === true;

async function recordsIn(store: DynamoStore): Promise<ReadonlyMap<number, JobRecord>> {
  const records = new Map<number, JobRecord>();
  for await (const item of store.scan())
    if (item.kind === 'record') records.set(item.record.jobId, item.record);
  return records;
}

const liveIn = (records: ReadonlyMap<number, JobRecord>): readonly number[] =>
  [...records.keys()].filter((jobId) => ['HELD', 'RUNNING'].includes(records.get(jobId)?.state ?? ''));

/** The ledger never got this decision of a relay. A rejection by the ledger may have come too late for the relay. */
const isUnreported = ({ result }: AskedJob, record: JobRecord | undefined): boolean =>
  record === undefined || (result === 'admitted' && record.state === 'REJECTED');

function wrongOf({ jobId, result }: AskedJob, record: JobRecord | undefined): readonly string[] {
  const state = record?.state ?? 'missing';
  const right = result === 'admitted' ? ['SETTLED'] : ['REJECTED', 'RELEASED', 'missing'];
  return right.includes(state) ? [] : [`job ${jobId}: ${result}, but its record is ${state}`];
}
