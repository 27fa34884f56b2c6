/** The sweep and the webhook end the same jobs, in any order, under every fault of the table and of GitLab. */
import fc from 'fast-check';
import { test } from 'vitest';
import type { LedgerClock } from '../../../functions/core/environment/environment.ts';
import { GitLabError, type GitLabJob } from '../../../functions/core/gitlab/gitlab.ts';
import { endOfJob } from '../../../functions/core/job-ends/actions.ts';
import { dynamoSweepCheckpoints } from '../../../functions/core/ledger/checkpoints.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { newSweepMemory } from '../../../functions/sweep/run.ts';
import { sweep } from '../../../functions/sweep/sweep.ts';
import { anAsk, claim, counter, someFacts } from '../../support/ledger/asks.ts';
import { MemoryStore, type StoreFault } from '../../support/ledger/memory-store.ts';
import { NOVEMBER_21_MS } from '../../support/ledger/test-clock.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { FakeGitLab } from './fake-gitlab.ts';

const RUNS = 1_000;
const MINUTE_MS = 60_000;
const SLOTS = counter('group/1', 'slots', 'now');

type Fate = 'ran' | 'rejected' | 'canceled' | 'gone';

const oneJob = fc.record({
  fate: fc.constantFrom<Fate>('ran', 'ran', 'rejected', 'canceled', 'gone'),
  seconds: fc.integer({ min: 1, max: 50 }),
  endsAtMinute: fc.integer({ min: 0, max: 4 }),
  webhooks: fc.integer({ min: 0, max: 3 }),
  runnerId: fc.integer({ min: 1, max: 2 }),
});

const fault: fc.Arbitrary<StoreFault | undefined> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('conflict', 'throttle', 'lost-before').map((kind) => ({ kind }) as StoreFault),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'lost-after' as const }) },
);

test('a job ended by sweeps and webhooks at the same moment is charged once, and nothing stays held', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(oneJob, { minLength: 1, maxLength: 6 }),
      fc.array(fault, { maxLength: 40 }),
      fc.array(fc.boolean(), { maxLength: 20 }),
      async (scheduler, jobs, faults, silences) => {
        const step = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
        let passedMs = 0;
        const clock: LedgerClock = {
          nowMs: () => NOVEMBER_21_MS + passedMs,
          monotonicMs: () => passedMs,
          sleep: () => step('sleep'),
        };
        const leftFaults: (StoreFault | undefined)[] = [];
        const store = new MemoryStore({
          instance: 'gitlab.example.com',
          clock,
          schedule: step,
          fault: () => leftFaults.shift(),
        });
        const [ledger, other] = [0, 1].map(() => createLedger({ store, clock, random: () => 0 }));
        if (ledger === undefined || other === undefined) throw new Error('two ledgers were made');
        const gitlab = new FakeGitLab();
        gitlab.step = step;
        const silent = [...silences];
        gitlab.fail = () =>
          silent.shift() === true ? new GitLabError('gitlab_unavailable', '502') : undefined;

        await scheduler.waitFor(
          ledger.hold(
            jobs.map((_, index) =>
              anAsk(
                index + 1,
                [claim('group/1', 60), claim('group/1', 1, undefined, { counter: SLOTS, unit: 'jobs' })],
                { facts: someFacts({ projectId: 1, timeoutSeconds: 60 }) },
              ),
            ),
            30_000,
          ),
        );
        leftFaults.push(...faults);

        const startMs = clock.nowMs();
        const truthOf = (index: number, over: boolean): GitLabJob | undefined => {
          const job = jobs[index];
          if (job === undefined || (over && job.fate === 'gone')) return undefined;
          const gitlabJob = { jobId: index + 1, projectId: 1, runnerId: job.runnerId, startedAtMs: startMs };
          if (!over) return { ...gitlabJob, status: 'running' };
          if (job.fate === 'canceled') return { jobId: index + 1, projectId: 1, status: 'canceled' };
          const ended = { durationSeconds: job.seconds, finishedAtMs: startMs + job.seconds * 1000 };
          return job.fate === 'ran'
            ? { ...gitlabJob, ...ended, status: 'success' }
            : { ...gitlabJob, ...ended, status: 'failed', failureReason: 'job_router_failure' };
        };
        const webhook = async (gitlabJob: GitLabJob): Promise<void> => {
          await step('webhook');
          const what = endOfJob(gitlabJob, clock.nowMs());
          if (what.kind === 'ran') await other.settle([what.end]);
          if (what.kind === 'gone') await other.release([{ jobId: gitlabJob.jobId, cause: what.cause }]);
        };
        const marks = dynamoSweepCheckpoints({ table: new MemoryTable(), instance: 'gitlab.example.com' });
        const run = async (memory = newSweepMemory()): Promise<void> => {
          await step('sweep');
          // A table that does not answer ends a run; the next begins anew.
          await sweep({
            gitlab,
            ledger,
            marks,
            chargeBypass: async () => {
              throw new Error('every job was admitted');
            },
            memory,
            clock,
            chargeUnknown: 'hold',
          }).catch((error: unknown) => {
            if (!(error instanceof Error && error.name === 'LedgerError')) throw error;
          });
        };

        const running: Promise<void>[] = [];
        const life = async (): Promise<void> => {
          for (let minute = 0; minute <= 20; minute += 5) {
            for (const [index, job] of jobs.entries()) {
              const gitlabJob = truthOf(index, job.endsAtMinute * 5 <= minute);
              if (gitlabJob === undefined) gitlab.jobs.delete(index + 1);
              else gitlab.put(gitlabJob);
              if (gitlabJob === undefined || job.endsAtMinute * 5 !== minute) continue;
              for (let time = 0; time < job.webhooks; time += 1) running.push(webhook(gitlabJob));
            }
            // Two at once, as when a run takes longer than its minute.
            running.push(run(), run());
            await step('minute');
            passedMs += 5 * MINUTE_MS;
          }
          await Promise.all(running);
        };
        await scheduler.waitFor(life());

        leftFaults.length = 0;
        silent.length = 0;
        // Longer than the hour that a hold waits whose 404 could not be trusted.
        for (let later = 0; later < 4; later += 1) {
          passedMs += 20 * MINUTE_MS;
          await scheduler.waitFor(run());
        }
        const expected = jobs.reduce(
          (sum, { fate, seconds }) => sum + (fate === 'ran' ? seconds : fate === 'gone' ? 60 : 0),
          0,
        );
        const counters = await scheduler.waitFor(ledger.readCounters([counter('group/1'), SLOTS]));
        const [spent, slots] = counters.map(({ committed }) => committed);
        if (spent !== expected || slots !== 0) {
          throw new Error(`spent ${spent} of ${expected}, ${slots} slots still taken`);
        }
        const { drift } = await scheduler.waitFor(ledger.rebuild({ repair: false }));
        if (drift.length > 0) throw new Error(`drift: ${JSON.stringify(drift)}`);
      },
    ),
    { numRuns: propertyRuns(RUNS) },
  );
});
