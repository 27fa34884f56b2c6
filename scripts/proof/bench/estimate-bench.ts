import {
  createEstimateCache,
  type EstimateCounts,
  type EstimateSource,
} from '../../../functions/core/estimates/index.ts';
import { NO_HISTORY } from '../../../policies/estimate/project-history.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { VirtualTime } from '../../local/clock/virtual-time.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import type { Figure } from './figure.ts';

/** The workload is fixed: half an hour of a busy afternoon, the same on every machine. */
const SEED = 20_261_121;
const MINUTES = 30;
const TICK_MS = 200;
/** Two pipelines a second, some 34 jobs: the busy hours of a million jobs a day. */
const PIPELINE_CHANCE = 0.4;
const PROJECTS = 300;
const ROOTS = 12;
const STAGE_JOBS_MAX = 16;
const STAGES_MAX = 3;
const STAGE_PAUSE_MS = 180_000;
/** Four batches a second of some 50 ms each keep one instance of the function busy now and then; the second is for bursts. */
const INSTANCES = 2;
const READ_MS = 8;
const SETTINGS = { defaultSeconds: 600, timeoutSeconds: 3_600 };

/** How often admissions have to read run histories: exact counts. */
export async function estimateFigures(): Promise<readonly Figure[]> {
  const { counts, admissions, batches } = await replay();
  const note = `${admissions} admissions in ${batches} batches, ${PROJECTS} projects, ${INSTANCES} function instances`;
  return [
    {
      name: 'admissions whose run history was cached, share of all',
      value: counts.hits / counts.lookups,
      must: { atLeast: 0.4 },
      unit: 'per job',
      kind: 'count',
      note,
    },
    {
      name: 'batch reads of run histories',
      value: counts.reads / admissions,
      must: { atMost: 0.08 },
      unit: 'per job',
      kind: 'count',
      note: `${((counts.reads / admissions) * 1000).toFixed(0)} calls per 1000 admissions, never more than one a batch`,
    },
  ];
}

interface Batch {
  readonly atMs: number;
  readonly requests: AdmissionRequest[];
}

async function replay() {
  const time = new VirtualTime();
  const source: EstimateSource = {
    read: async (projectIds) => {
      await time.sleep(READ_MS);
      return new Map(projectIds.map((projectId) => [projectId, NO_HISTORY]));
    },
  };
  const caches = Array.from({ length: INSTANCES }, () => createEstimateCache({ source, clock: time }));
  const batches = workload();
  let admissions = 0;
  for (const [index, { atMs, requests }] of batches.entries()) {
    if (time.nowMs() < atMs) await time.run(time.sleep(atMs - time.nowMs()));
    admissions += requests.length;
    const cache = caches[index % INSTANCES];
    if (cache !== undefined) await time.run(cache.estimatorFor(requests, SETTINGS, time.nowMs() + 2_000));
  }
  const counts = caches.map((cache) => cache.counts()).reduce(plus);
  return { counts, admissions, batches: batches.length };
}

/** Pipelines of a few stages; what one root group asks within a tick is one batch. */
function workload(): readonly Batch[] {
  const random = seededRandom(SEED);
  const batches = new Map<string, Batch>();
  let jobId = 0;
  for (let startMs = 0; startMs < MINUTES * 60_000; startMs += TICK_MS) {
    if (random() >= PIPELINE_CHANCE) continue;
    // A few projects run most pipelines.
    const projectId = Math.floor(PROJECTS * random() ** 3);
    const rootNamespaceId = projectId % ROOTS;
    const stages = 1 + Math.floor(random() * STAGES_MAX);
    for (let stage = 0; stage < stages; stage += 1) {
      const atMs = startMs + Math.floor((stage * STAGE_PAUSE_MS) / TICK_MS) * TICK_MS;
      const name = `${atMs}/${rootNamespaceId}`;
      const batch = batches.get(name) ?? { atMs, requests: [] };
      batches.set(name, batch);
      const jobs = 1 + Math.floor(random() * STAGE_JOBS_MAX);
      for (let job = 0; job < jobs; job += 1) {
        jobId += 1;
        batch.requests.push({ jobId, jobName: `job ${stage}.${job}`, projectId, rootNamespaceId });
      }
    }
  }
  return [...batches.values()].sort((a, b) => a.atMs - b.atMs);
}

const plus = (a: EstimateCounts, b: EstimateCounts): EstimateCounts => ({
  lookups: a.lookups + b.lookups,
  hits: a.hits + b.hits,
  reads: a.reads + b.reads,
  failedReads: a.failedReads + b.failedReads,
  timeouts: a.timeouts + b.timeouts,
});
