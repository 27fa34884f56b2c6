/** What the search for bypass costs, and what it cannot miss. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { dynamoSweepCheckpoints } from '../../../functions/core/ledger/checkpoints.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { newSweepMemory } from '../../../functions/sweep/run.ts';
import { house, MINUTE_MS, range, VISIT_MS } from './house.ts';

const HOUR_MS = 60 * MINUTE_MS;

/** The house with every record that is read counted, and charges that the ledger remembers. */
function counted() {
  const marks = dynamoSweepCheckpoints({ table: new MemoryTable(), instance: 'gitlab.example.com' });
  const one = house({ marks });
  const charges: number[] = [];
  let recordsRead = 0;
  let settled = 0;
  const known = new Set<number>();
  const ledger = {
    ...one.ledger,
    readRecords: async (jobIds: readonly number[]) => {
      recordsRead += jobIds.length;
      return one.ledger.readRecords(jobIds);
    },
    settle: async (ends: Parameters<typeof one.ledger.settle>[0]) => {
      settled += ends.length;
      return one.ledger.settle(ends);
    },
  };
  const chargeBypass = async (gitlabJobs: readonly GitLabJob[]) =>
    gitlabJobs.map(({ jobId }) => {
      if (known.has(jobId)) return 'unchanged' as const;
      known.add(jobId);
      charges.push(jobId);
      return 'bypass' as const;
    });
  let memory = newSweepMemory();
  return {
    ...one,
    charges,
    marks,
    restart: (): void => {
      memory = newSweepMemory();
    },
    /** One run, after so long that every runner with jobs is visited. */
    visit: async (over: Parameters<typeof one.sweep>[0] = {}, afterMs = VISIT_MS) => {
      one.clock.advance(afterMs);
      [recordsRead, settled] = [0, 0];
      const before = one.gitlab.total;
      const report = await one.sweep({ ledger, chargeBypass, memory, ...over });
      return { report, recordsRead, settled, calls: one.gitlab.total - before };
    },
  };
}

test('a page of a hundred jobs that were looked at costs one call and no read of the ledger, visit after visit', async () => {
  const { clock, gitlab, visit, finished, ledger, hold } = counted();
  await visit();
  const jobIds = range(1, 100);
  await hold(jobIds);
  gitlab.put(...jobIds.map((jobId) => finished(jobId, 10)));
  await ledger.settle(jobIds.map((jobId) => ({ jobId, durationSeconds: 10, endedAtMs: clock.nowMs() })));
  // Its webhooks came: each is read once, and settled by nobody a second time.
  expect(await visit()).toMatchObject({ recordsRead: 100, settled: 0, calls: 2 });
  for (let again = 1; again <= 5; again += 1) {
    const { recordsRead, settled, calls } = await visit();
    expect({ recordsRead, settled }).toEqual({ recordsRead: 0, settled: 0 });
    expect(calls).toBeLessThanOrEqual(2);
  }
});

test('the share of unadmitted jobs is counted once a job, with a bypass that the webhook had charged', async () => {
  const { clock, gitlab, visit, hold, finished, gitlabJob, ledger } = counted();
  await visit();
  await hold([1, 2, 3]);
  gitlab.put(finished(1, 10), finished(2, 10), gitlabJob(3), finished(4, 10), gitlabJob(5));
  await ledger.settle([{ jobId: 1, durationSeconds: 10, endedAtMs: clock.nowMs() }]);
  const sum = { ran: 0, unadmitted: 0 };
  for (let again = 1; again <= 4; again += 1) {
    const { report } = await visit();
    sum.ran += report.ran;
    sum.unadmitted += report.unadmitted;
    if (again === 2) gitlab.put(finished(3, 60), finished(5, 60));
  }
  expect(sum).toEqual({ ran: 5, unadmitted: 2 });
});

test('whatever starts when, in whatever order of ids, whichever runs are cut short or forgotten, each bypass is charged', async () => {
  const aJob = fc.record({
    startMinute: fc.integer({ min: 1, max: 60 }),
    seconds: fc.integer({ min: 1, max: 600 }),
    runnerId: fc.integer({ min: 7, max: 8 }),
    ahead: fc.integer({ min: 0, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(aJob, { minLength: 1, maxLength: 12 }),
      fc.array(fc.constantFrom('restart', 'short', 'lost marks', 'whole', 'whole'), { minLength: 1 }),
      async (jobs, runs) => {
        const one = counted();
        await one.visit();
        const startOfAll = one.clock.nowMs();
        const others = new Set<number>();
        // Ids in no order of their starts, with crowds of others between them.
        const idOf = (index: number): number => 1_000 * ((index * 7) % 13) + 500;
        for (let minute = 1; minute <= 75; minute += 1) {
          for (const [index, job] of jobs.entries()) {
            const startedAtMs = startOfAll + job.startMinute * MINUTE_MS;
            const nowMs = one.clock.nowMs();
            if (nowMs < startedAtMs) continue;
            const over = nowMs >= startedAtMs + job.seconds * 1_000;
            const { runnerId } = job;
            one.gitlab.put(
              over
                ? one.finished(idOf(index), job.seconds, { startedAtMs, runnerId, createdAtMs: startOfAll })
                : one.gitlabJob(idOf(index), { startedAtMs, runnerId, createdAtMs: startOfAll }),
            );
            for (let other = 0; other < job.ahead; other += 1) {
              const jobId = idOf(index) + 1 + other;
              if (others.has(jobId)) continue;
              others.add(jobId);
              one.gitlab.put(one.finished(jobId, 1, { runnerId, createdAtMs: nowMs }));
            }
          }
          const kind = runs[minute % runs.length];
          if (kind === 'restart') one.restart();
          const write = async (): Promise<void> => {
            throw new Error('the process died');
          };
          const over =
            kind === 'short'
              ? { callsMax: 3 }
              : kind === 'lost marks'
                ? { marks: { read: one.marks.read, write } }
                : {};
          await one.visit(over).catch((error: unknown) => {
            if (!(error instanceof Error && error.message === 'the process died')) throw error;
            one.restart();
          });
        }
        // A deep search of each runner finds whatever none of these could.
        for (let later = 1; later <= 8; later += 1) {
          one.clock.advance(HOUR_MS);
          await one.visit();
        }
        const missing = [...one.gitlab.jobs.keys()].filter((jobId) => !one.charges.includes(jobId));
        if (missing.length > 0) throw new Error(`never charged: ${missing.join(', ')}`);
      },
    ),
    { numRuns: 60 },
  );
});
