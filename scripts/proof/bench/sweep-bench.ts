/** The sweep after a long silence of webhooks: how many calls ten thousand due holds cost, and whether memory stays flat. */

import type { JobsPage, JobTruth } from '../../../functions/core/gitlab/index.ts';
import { dynamoSweepMarks, type EndOutcome, type JobRecord } from '../../../functions/core/ledger/index.ts';
import { MemoryTable } from '../../../functions/core/store/index.ts';
import type { SweepReport } from '../../../functions/sweep/report.ts';
import { sweep } from '../../../functions/sweep/sweep.ts';
import { newSweepMemory } from '../../../functions/sweep/sweep-memory.ts';
import type { SweepLedger } from '../../../functions/sweep/sweep-run.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { VirtualTime } from '../../local/clock/virtual-time.ts';
import type { Figure } from './figure.ts';

const HOLDS = 10_000;
const PAGE = 100;
const RUNNERS = 10;
/** GitLab's answer, modelled. */
const CALL_MS = 100;
const TIMEOUT_SECONDS = 3_600;

export async function sweepFigures(): Promise<readonly Figure[]> {
  const told = await sweepOnce({ holds: HOLDS, runnersTold: true });
  const untold = await sweepOnce({ holds: HOLDS, runnersTold: false });
  const small = await sweepOnce({ holds: HOLDS / 10, runnersTold: true });
  return [
    calls('sweep of 10 000 due holds: GitLab calls', told, HOLDS / PAGE),
    // One batch of questions one by one tells the runners.
    calls('the same when the router does not tell the runners', untold, HOLDS / PAGE + 32 + RUNNERS),
    {
      name: 'sweep of 10 000 due holds: heap beyond a sweep of 1000',
      value: Math.max(0, told.heapBytes - small.heapBytes) / 2 ** 20,
      must: { atMost: 16 },
      unit: 'MB',
      kind: 'count',
      note: 'largest heap after collection while holds are written, above the heap before; GitLab and the table are computed, not kept',
    },
  ];
}

const calls = (name: string, { report, verifying }: Outcome, atMost: number): Figure => ({
  name,
  value: report.settled === HOLDS ? verifying / HOLDS : Number.NaN,
  must: { atMost: atMost / HOLDS },
  unit: 'per job',
  kind: 'count',
  note: `${verifying} calls, at most ${atMost}; ${report.calls} in the whole run, bypass search included`,
});

interface Outcome {
  readonly report: SweepReport;
  /** Calls made until the last due hold was written. */
  readonly verifying: number;
  readonly heapBytes: number;
}

async function sweepOnce(options: {
  readonly holds: number;
  readonly runnersTold: boolean;
}): Promise<Outcome> {
  const atMs = 3 * DAY_MS;
  const clock = new VirtualTime(atMs);
  let made = 0;
  let verifying = 0;
  const answer = async <T>(value: () => T): Promise<T> => {
    made += 1;
    await clock.sleep(CALL_MS);
    return value();
  };
  const heapBefore = heapBytes();
  let heapMost = 0;
  const table = computedLedger(options, () => {
    verifying = made;
    heapMost = Math.max(heapMost, heapBytes());
  });
  const report = await clock.run(
    sweep({
      gitlab: {
        job: (_projectId, jobId) => answer(() => truthOf(jobId)),
        jobsOfRunner: (runnerId, query) => answer(() => pageOf(runnerId, options.holds, query)),
        runners: () => answer(() => ({ runnerIds: Array.from({ length: RUNNERS }, (_, index) => index) })),
      },
      ledger: table,
      marks: dynamoSweepMarks({ table: new MemoryTable(), instance: 'gitlab.example.com' }),
      chargeBypass: async () => [],
      memory: newSweepMemory(),
      clock,
      chargeUnknown: 'nothing',
    }),
  );
  return { report, verifying, heapBytes: heapMost - heapBefore };
}

const heapBytes = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const runnerOf = (jobId: number): number => jobId % RUNNERS;

const truthOf = (jobId: number): JobTruth => ({
  jobId,
  projectId: 1,
  runnerId: runnerOf(jobId),
  status: 'success',
  startedAtMs: 0,
  finishedAtMs: 60_000,
  durationSeconds: 60,
});

/** Newest first, a hundred a page. */
function pageOf(
  runnerId: number,
  holds: number,
  { status, page }: { readonly status?: 'running'; readonly page?: string },
): JobsPage {
  const jobs: JobTruth[] = [];
  if (status === 'running') return { jobs };
  for (let jobId = page === undefined ? holds : Number(page) - 1; jobId > 0; jobId -= 1) {
    if (runnerOf(jobId) !== runnerId) continue;
    if (jobs.length === PAGE) return { jobs, next: String(jobs.at(-1)?.jobId) };
    jobs.push(truthOf(jobId));
  }
  return { jobs };
}

/** Holds that are all due, and computed: what the sweep keeps of them is all that is kept. */
function computedLedger(
  { holds, runnersTold }: { readonly holds: number; readonly runnersTold: boolean },
  onSettled: () => void,
): SweepLedger {
  const ended = new Uint8Array(holds + 1);
  let calls = 0;
  const settle: SweepLedger['settle'] = async (ends) =>
    ends.map(({ jobId }): EndOutcome => {
      calls += 1;
      if (ended[jobId] === 1) return 'unchanged';
      ended[jobId] = 1;
      // A collection takes milliseconds: now and then is enough to see the most.
      if (calls % 500 === 0) onSettled();
      return 'applied';
    });
  const misuse = async (): Promise<never> => {
    throw new Error('the sweep of this bench does not come here');
  };
  return {
    settle,
    dueJobs: async (_beforeMs, limit) => {
      const due: { jobId: number; dueAtMs: number }[] = [];
      for (let jobId = 1; jobId <= holds && due.length < limit; jobId += 1) {
        if (ended[jobId] === 0) due.push({ jobId, dueAtMs: DAY_MS });
      }
      return due;
    },
    readRecords: async (jobIds) => jobIds.map((jobId) => recordOf(jobId, runnersTold)),
    postpone: misuse,
    release: misuse,
    expire: misuse,
    endReservations: misuse,
  };
}

const recordOf = (jobId: number, runnersTold: boolean): JobRecord => ({
  jobId,
  state: 'HELD',
  generation: 1,
  rev: 1,
  facts: {
    projectId: 1,
    runnerClass: 'small',
    estimateSeconds: 60,
    costMicros: 60,
    microsPerMinute: 60,
    priceVersion: '1',
    policyVersion: '1',
    timeoutSeconds: TIMEOUT_SECONDS,
    ...(runnersTold && { asked: { runnerId: runnerOf(jobId) } }),
  },
  claims: [],
  violations: [],
  shadow: [],
  answered: 'ledger',
  flagged: false,
  decidedAtMs: 0,
  dueAtMs: DAY_MS,
  entries: 0,
});
