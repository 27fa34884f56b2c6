/** One month with one way of estimating: questions, ends, losses and sweeps in the order of their time. */

import { ledgerKeys } from '../../../functions/core/store/index.ts';
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import { handClock } from '../../local/clock.ts';
import { seededRandom } from '../../local/random.ts';
import type { Admissions } from './admissions.ts';
import { type Audit, audit } from './audit.ts';
import { type Course, CourseOfGroup } from './course.ts';
import { drawEditions } from './draw-editions.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { Workload } from './draw-workload.ts';
import type { SweepTotals } from './ends.ts';
import { type EstimateName, learnerOf } from './estimators.ts';
import { expectationOf } from './expectation.ts';
import type { ExpectedWaits } from './expected-waits.ts';
import type { Comparisons } from './findings.ts';
import { EditionInForce } from './in-force.ts';
import { monthProcesses } from './month-processes.ts';
import { MonthStream } from './month-stream.ts';
import { type Parts, PRODUCT } from './parts.ts';
import { PerfectKnowledge } from './perfect-knowledge.ts';
import { questionsByRoot, type SimulatedQuestion, SimulatedQuestions } from './questions.ts';
import { SimulatedGitLab, type SimulatedRun } from './simulated-gitlab.ts';
import type { RelayAnswer } from './simulated-relay.ts';
import { type SlotTimes, SlotWatch } from './slot-times.ts';
import { SIMULATED_INSTANCE, type TableKind, WatchedStore } from './watched-store.ts';
import { MONTH_DAYS, MONTH_START_MS } from './workload.ts';

export interface MonthResult {
  readonly estimate: EstimateName;
  readonly jobs: number;
  readonly admitted: number;
  readonly rejected: number;
  /** Questions whose answers GitLab never heard. */
  readonly askedAgain: number;
  /** Rejected, and would have fitted with perfect knowledge of durations, by what refused them. */
  readonly wronglyRejected: { readonly budget: number; readonly slots: number };
  readonly relays: Readonly<Admissions['counts']>;
  /** Outcomes of events. */
  readonly ends: Readonly<Record<string, number>>;
  readonly sweeps: Readonly<SweepTotals>;
  readonly slots: SlotTimes;
  readonly waits: Readonly<ExpectedWaits['counts']>;
  readonly gitlabCalls: number;
  readonly transactions: number;
  /** Edits of limits and moves of groups while it went on. */
  readonly edits: number;
  /** What happened against the expectation; usage only where the rollup ran. */
  readonly comparisons: Comparisons;
  readonly audit: Audit;
  readonly course: Course;
}

interface MonthOptions {
  readonly workload: Workload;
  readonly estimate: EstimateName;
  /** @default memory */
  readonly table?: TableKind;
  /** Whether the table's stream is rolled up. @default with the product's own way of estimating */
  readonly rollsUp?: boolean;
  /** @default the product's own */
  readonly parts?: Partial<Parts>;
  /** So many days of it and no more, whatever is under way then. @default all, and one more in which everything ends */
  readonly days?: number;
  /** It is over with the first thing that is otherwise than expected. */
  readonly stopsAtFinding?: boolean;
  /** Told each simulated day. */
  readonly onDay?: (day: number) => void;
}

/** Questions that arrive within this share a batch, as in the relay. */
const BATCH_MS = 250;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export async function simulateMonth({
  workload,
  estimate,
  table = 'memory',
  rollsUp = estimate === 'history',
  parts = {},
  days = MONTH_DAYS + 1,
  stopsAtFinding = false,
  onDay,
}: MonthOptions): Promise<MonthResult> {
  const { shape, places, jobs } = workload;
  const clock = handClock(MONTH_START_MS);
  const learner = learnerOf(estimate);
  const editions = drawEditions(workload);
  const inForce = new EditionInForce({ editions, places, estimator: learner.estimator, clock });
  const gitlab = new SimulatedGitLab(() => inForce.now.tree, clock);
  const runOf = (jobId: number): SimulatedRun | undefined => gitlab.runs.get(jobId);
  const slots = new SlotWatch(runOf);
  const expectation = expectationOf({ estimate, inForce, clock, runOf });
  const { findings } = expectation;
  const stream = new MonthStream({
    instance: SIMULATED_INSTANCE,
    keys: ledgerKeys(SIMULATED_INSTANCE),
    inForce,
    clock,
    random: seededRandom(shape.seed + 9),
    table: parts.rollupTable ?? PRODUCT.rollupTable,
  });
  const store = new WatchedStore({
    clock,
    random: seededRandom(shape.seed + 2),
    onRecord: (record) => {
      learner.learn(record);
      slots.written(record, clock.nowMs());
      if (rollsUp) stream.wrote(record);
    },
    onCommit: (writes) => expectation.records.committed(writes, (name) => store.counters.get(name)),
    table,
  });
  const { relays, ends, newLedger } = monthProcesses({
    seed: shape.seed,
    parts: { ...PRODUCT, ...parts },
    store,
    clock,
    inForce,
    gitlab,
    answers: expectation.answers,
    waits: expectation.waits,
    letGoOn: (job, atMs) => expectation.records.letGoOn(job, atMs),
  });
  const perfect = new PerfectKnowledge(inForce);
  const course = new CourseOfGroup(workload, editions, store);
  const questions = new SimulatedQuestions(jobs);
  const result = { admitted: 0, rejected: 0, askedAgain: 0, budget: 0, slots: 0 };

  function start(job: PlannedJob): void {
    const run = gitlab.start(job, clock.nowMs());
    perfect.started(run, clock.nowMs());
  }

  async function ask(arriving: readonly SimulatedQuestion[]): Promise<void> {
    result.askedAgain += arriving.filter(({ isHeard }) => !isHeard).length;
    for (const questions of questionsByRoot(arriving, inForce.now.tree)) hear(await relays.ask(questions));
  }

  function hear(answers: readonly RelayAnswer[]): void {
    for (const { question, outcome } of answers) {
      const { job, isHeard } = question;
      if (!isHeard) continue;
      if (outcome.outcome !== 'rejected') {
        result.admitted += 1;
        start(job);
        continue;
      }
      result.rejected += 1;
      course.rejected(job);
      if (!perfect.wouldFit(job, clock.nowMs())) continue;
      const money = outcome.violations.some(({ reason }) => reason.code !== 'CONCURRENCY_FULL');
      result[money ? 'budget' : 'slots'] += 1;
    }
  }

  /** Events gather for some seconds before the stream's reader takes them. */
  const hooksMs = (endMs: number): number =>
    gitlab.nextHookMs < endMs
      ? Math.min(endMs - 1, gitlab.nextHookMs + STREAM_WINDOW_MS)
      : Number.POSITIVE_INFINITY;

  // The longest timeout, the grace and the last repetition are over a day after the last question.
  const untilMs = MONTH_START_MS + days * DAY_MS;
  for (let minuteMs = MONTH_START_MS; minuteMs < untilMs; minuteMs += MINUTE_MS) {
    if (stopsAtFinding && !findings.isClean) break;
    const endMs = minuteMs + MINUTE_MS;
    for (;;) {
      const askMs = questions.nextMs;
      const endsMs = hooksMs(endMs);
      const nextMs = Math.min(askMs, endsMs, relays.nextMs);
      if (nextMs >= endMs) break;
      if (askMs === nextMs) {
        const arriving = questions.takeBefore(Math.min(askMs + BATCH_MS, endMs));
        clock.advanceTo(arriving.at(-1)?.atMs ?? askMs);
        for (const { job } of arriving) if (job.fate === 'bypass') start(job);
        await ask(arriving.filter(({ job }) => job.fate !== 'bypass'));
      } else {
        clock.advanceTo(nextMs);
        if (endsMs === nextMs)
          for (const again of await ends.tell(gitlab.takeHooks())) gitlab.sendAgain(endMs, again);
        else hear(await relays.work());
      }
      expectation.waits.look();
    }
    clock.advanceTo(endMs);
    await relays.postUnmetered();
    course.look();
    await ends.sweep();
    await stream.deliver();
    if ((endMs - MONTH_START_MS) % HOUR_MS === 0) course.sample(clock.nowMs());
    if ((endMs - MONTH_START_MS) % DAY_MS === 0) onDay?.((endMs - MONTH_START_MS) / DAY_MS);
  }
  expectation.records.over(gitlab.runs.values());
  await stream.deliver(1);
  if (rollsUp) stream.compare(expectation.books.jobs.values(), findings);
  return {
    estimate,
    jobs: jobs.length,
    admitted: result.admitted,
    rejected: result.rejected,
    askedAgain: result.askedAgain,
    wronglyRejected: { budget: result.budget, slots: result.slots },
    relays: relays.counts,
    ends: ends.counts,
    sweeps: ends.sweeps,
    slots: slots.times,
    waits: expectation.waits.counts,
    gitlabCalls: gitlab.calls,
    transactions: store.commits,
    edits: editions.length - 1,
    comparisons: findings.comparisons,
    audit: await audit({
      store,
      ledger: newLedger(),
      gitlab,
      books: expectation.books,
      editions,
    }),
    course: course.course,
  };
}

/** Where GitLab's events gather before they are worked off, as the stream's batching window does. */
const STREAM_WINDOW_MS = 5_000;
