import type { BatchJob } from '../../../relay/commit/fair-queue.ts';
import { createGroupCommit } from '../../../relay/commit/group-commit.ts';
import { createLanes } from '../../../relay/commit/lanes.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import type { LedgerDecision } from '../../../relay/exchange.ts';
import { type WaitedDecision, WaitQueue } from '../../../relay/wait-queue.ts';
import { handClock } from '../../../scripts/local/clock.ts';
import { passOn } from './commit-bench.ts';
import { admittedOf, quotaViolation, rejectedFor } from './decisions.ts';

export interface SlotJob {
  readonly jobId: number;
  readonly root: number;
  readonly takes: Readonly<Record<string, number>>;
  readonly runMs: number;
}

interface Said {
  readonly jobId: number;
  readonly sentMs: number;
  readonly atMs: number;
  readonly outcome: LedgerDecision['outcome'];
  readonly waitedMs: number;
}

export type SlotHouse = ReturnType<typeof slotHouse>;

export interface SlotQuestion {
  readonly job: SlotJob;
  readonly arrivedAtMs: number;
  readonly answers: WaitedDecision[];
  answeredAtMs: number;
  gone: () => void;
}

/** The real queue and group commit, on a function that has slots and answers as the contract says. */
export function slotHouse(options: {
  readonly slots: Readonly<Record<string, number>>;
  readonly waitMs?: number;
  readonly answerWithinMs?: number;
  readonly weightOf?: (root: string) => number;
}) {
  const { slots, waitMs = 20_000, answerWithinMs = 20_000 } = options;
  const clock = handClock(1_000);
  const events: RelayEvent[] = [];
  const said: Said[] = [];
  const taken = new Map<string, number>();
  const asked = new Map<number, SlotJob>();
  const running = new Map<number, SlotJob>();
  const lanes = createLanes(clock);

  function end(jobId: number): void {
    const job = running.get(jobId);
    if (!running.delete(jobId) || job === undefined) return;
    for (const [name, amount] of Object.entries(job.takes)) taken.set(name, (taken.get(name) ?? 0) - amount);
  }

  function verdictOf(
    jobId: number,
    terms: ReturnType<WaitQueue['terms']>,
  ): readonly [LedgerDecision, number] {
    const job = asked.get(jobId);
    const {
      waitedMs = 0,
      turn: own = [],
      last = false,
    } = terms.jobs?.find((each) => each.jobId === jobId) ?? {};
    if (job === undefined) throw new Error('nobody asked about it');
    const counters = Object.keys(job.takes);
    const refused = counters.some(
      (name) =>
        (terms.lines?.includes(name) === true && !own.includes(name)) ||
        (taken.get(name) ?? 0) + (job.takes[name] ?? 0) > (slots[name] ?? 0),
    );
    if (!refused) {
      for (const name of counters) taken.set(name, (taken.get(name) ?? 0) + (job.takes[name] ?? 0));
      running.set(jobId, job);
      clock.after(job.runMs, () => end(jobId));
      return [admittedOf({ jobId }), waitedMs];
    }
    const violation = quotaViolation('group/1', 'CONCURRENCY_FULL', { unit: 'jobs', limit: 'jobs-now' });
    const leftMs = waitMs - waitedMs;
    return last || leftMs <= 0
      ? [rejectedFor(violation), waitedMs]
      : [{ outcome: 'waiting', leftMs, counters, violations: [violation], text: 'full' }, waitedMs];
  }

  const waiting: WaitQueue = new WaitQueue({
    lanes,
    commit: createGroupCommit({
      clock,
      lanes,
      observe: (event) => events.push(event),
      defer: setImmediate,
      send: (jobs: readonly BatchJob[]) =>
        new Promise((resolve) => {
          const sentMs = clock.monotonicMs();
          const inTurn = waiting.inOrder(jobs).map(({ request }) => request.jobId);
          const terms = waiting.terms(inTurn);
          clock.after(10, () => {
            const decisions = new Map(inTurn.map((jobId) => [jobId, verdictOf(jobId, terms)]));
            for (const [jobId, [{ outcome }, waitedMs]] of decisions)
              said.push({ jobId, sentMs, atMs: clock.monotonicMs(), outcome, waitedMs });
            resolve(
              jobs.map(
                ({ request }) =>
                  decisions.get(request.jobId)?.[0] ?? { outcome: 'undecided', cause: 'malformed' },
              ),
            );
          });
        }),
    }),
    ...{ clock, observe: (event) => events.push(event), deadlineMs: 2_000, answerWithinMs },
    ...(options.weightOf !== undefined && { weightOf: options.weightOf }),
  });
  return {
    ...{ clock, events, said, end, waiting },
    ask: (job: SlotJob) => {
      asked.set(job.jobId, job);
      const arrivedAtMs = clock.monotonicMs();
      const question: SlotQuestion = {
        ...{ job, arrivedAtMs, answers: [], answeredAtMs: Number.NaN },
        gone: () => {},
      };
      const { jobId, root } = job;
      const request = { jobId, projectId: root, rootNamespaceId: root };
      void waiting
        .decide(request, {
          arrivedAtMs,
          listenForEnd: (gone) => {
            question.gone = gone;
          },
        })
        .then((waited) => {
          question.answers.push(waited);
          question.answeredAtMs = clock.monotonicMs();
        });
      return question;
    },
    pass: passOn(clock),
  };
}
