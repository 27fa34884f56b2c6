/** One month with one way of estimating: questions, ends, losses and sweeps in the order of their time. */
import type { JobTruth } from '../../functions/gitlab/job-truth.ts';
import { createLedger } from '../../functions/ledger/create-ledger.ts';
import type { LimitClaim } from '../../policies/claim.ts';
import { seededRandom } from '../pipeline/seeded-random.ts';
import { type Admissions, twoRelays } from './admissions.ts';
import { Agenda } from './agenda.ts';
import { type Audit, audit } from './audit.ts';
import { type Course, CourseOfGroup } from './course.ts';
import type { PlannedJob } from './draw-jobs.ts';
import type { Workload } from './draw-workload.ts';
import { ledgerEnds, type SweepTotals } from './ends.ts';
import { type EstimateName, learnerOf } from './estimators.ts';
import { monthRules } from './month-rules.ts';
import { PerfectKnowledge } from './perfect-knowledge.ts';
import { isAway, type Run, SimulatedGitLab } from './simulated-gitlab.ts';
import { type SlotTimes, SlotWatch } from './slot-times.ts';
import { VirtualClock } from './virtual-clock.ts';
import { type TableKind, WatchedStore } from './watched-store.ts';
import { MONTH_END_MS, MONTH_START_MS } from './workload.ts';

export interface MonthResult {
  readonly estimate: EstimateName;
  readonly jobs: number;
  readonly admitted: number;
  readonly rejected: number;
  /** Rejected, and would have fitted with perfect knowledge of durations, by what refused them. */
  readonly wronglyRejected: { readonly budget: number; readonly slots: number };
  readonly relays: Readonly<Admissions['counts']>;
  /** Outcomes of events. */
  readonly ends: Readonly<Record<string, number>>;
  readonly sweeps: Readonly<SweepTotals>;
  readonly slots: SlotTimes;
  readonly gitlabCalls: number;
  readonly transactions: number;
  readonly audit: Audit;
  readonly course: Course;
}

export interface MonthOptions {
  readonly workload: Workload;
  readonly estimate: EstimateName;
  /** @default memory */
  readonly table?: TableKind;
  /** Told each simulated day. */
  readonly onDay?: (day: number) => void;
}

/** Questions that arrive within this share a batch, as in the relay. */
const BATCH_MS = 250;
const BATCH_JOBS_MAX = 96;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The longest timeout, the grace and the last repetition are over by then. */
const DRAIN_MS = DAY_MS;

export async function simulateMonth({
  workload,
  estimate,
  table = 'memory',
  onDay,
}: MonthOptions): Promise<MonthResult> {
  const { shape, places, jobs } = workload;
  const clock = new VirtualClock(MONTH_START_MS);
  const learner = learnerOf(estimate);
  const rules = { ...monthRules(workload), estimator: learner.estimator };
  const gitlab = new SimulatedGitLab(places, clock);
  const slots = new SlotWatch((jobId) => gitlab.runs.get(jobId));
  const store = new WatchedStore({
    clock,
    limits: rules.limits,
    directory: rules.directory,
    random: seededRandom(shape.seed + 2),
    onRecord: (record) => {
      learner.learn(record);
      slots.written(record, clock.nowMs());
    },
    table,
  });
  let tokens = 0;
  const newToken = (): string => {
    tokens += 1;
    return `t${tokens}`;
  };
  const newLedger = (seed: number) => createLedger({ store, clock, random: seededRandom(seed), newToken });
  const relays = twoRelays({
    ledgers: [newLedger(shape.seed + 3), newLedger(shape.seed + 4)],
    clock,
    rules,
    places,
    random: seededRandom(shape.seed + 5),
  });
  const ends = ledgerEnds({ ledger: newLedger(shape.seed + 6), gitlab, clock, rules });
  const perfect = new PerfectKnowledge(workload, rules);
  const course = new CourseOfGroup(workload, rules, store);
  const events = new Agenda<JobTruth>();
  const result = { admitted: 0, rejected: 0, budget: 0, slots: 0 };

  function start(job: PlannedJob, claims?: readonly LimitClaim[]): void {
    const run = gitlab.start(job, clock.nowMs());
    perfect.started(run, clock.nowMs(), claims);
    sendEvents(run, gitlab, events);
  }

  async function ask(asking: readonly PlannedJob[]): Promise<void> {
    for (const batch of batchesOf(asking, places)) {
      for (const { job, claims, outcome } of await relays.ask(batch)) {
        if (outcome.outcome !== 'rejected') {
          result.admitted += 1;
          start(job, claims);
          continue;
        }
        result.rejected += 1;
        course.rejected(job);
        if (!perfect.wouldFit(job, clock.nowMs())) continue;
        const money = outcome.violations.some(({ reason }) => reason.code !== 'CONCURRENCY_FULL');
        result[money ? 'budget' : 'slots'] += 1;
      }
    }
  }

  const untilMs = MONTH_END_MS + DRAIN_MS;
  let asked = 0;
  for (let minuteMs = MONTH_START_MS; minuteMs < untilMs; minuteMs += MINUTE_MS) {
    const endMs = minuteMs + MINUTE_MS;
    for (;;) {
      const askMs = jobs[asked]?.askedAtMs ?? Number.POSITIVE_INFINITY;
      if (Math.min(askMs, events.nextMs) >= endMs) break;
      if (askMs <= events.nextMs) {
        const until = asked + arrivingWith(jobs, asked, Math.min(askMs + BATCH_MS, endMs));
        const arriving = jobs.slice(asked, until);
        asked = until;
        clock.advanceTo(arriving.at(-1)?.askedAtMs ?? askMs);
        for (const job of arriving) if (job.fate === 'bypass') start(job);
        await ask(arriving.filter(({ fate }) => fate !== 'bypass'));
      } else {
        // The stream's reader takes what has gathered for some seconds.
        clock.advanceTo(Math.min(endMs - 1, events.nextMs + STREAM_WINDOW_MS));
        for (const again of await ends.tell(events.takeUntil(clock.nowMs()))) events.add(endMs, again);
      }
    }
    clock.advanceTo(endMs);
    await relays.postUnmetered();
    course.look();
    await ends.sweep();
    if ((endMs - MONTH_START_MS) % HOUR_MS === 0) course.sample(clock.nowMs());
    if ((endMs - MONTH_START_MS) % DAY_MS === 0) onDay?.((endMs - MONTH_START_MS) / DAY_MS);
  }
  return {
    estimate,
    jobs: jobs.length,
    admitted: result.admitted,
    rejected: result.rejected,
    wronglyRejected: { budget: result.budget, slots: result.slots },
    relays: relays.counts,
    ends: ends.counts,
    sweeps: ends.sweeps,
    slots: slots.times,
    gitlabCalls: gitlab.calls,
    transactions: store.commits,
    audit: await audit({ store, ledger: newLedger(shape.seed + 7), gitlab, places }),
    course: course.course,
  };
}

/** Where GitLab's events gather before they are worked off, as the stream's batching window does. */
const STREAM_WINDOW_MS = 5_000;

function arrivingWith(jobs: readonly PlannedJob[], from: number, untilMs: number): number {
  let count = 1;
  while ((jobs[from + count]?.askedAtMs ?? Number.POSITIVE_INFINITY) < untilMs) count += 1;
  return count;
}

/** By root group, at most 96 jobs each. */
function batchesOf(jobs: readonly PlannedJob[], { projects }: Workload['places']): readonly PlannedJob[][] {
  const byRoot = new Map<number, PlannedJob[]>();
  for (const job of jobs) {
    const root = projects[job.project]?.groupIds[0] ?? 0;
    const batch = byRoot.get(root);
    if (batch === undefined) byRoot.set(root, [job]);
    else batch.push(job);
  }
  return [...byRoot.values()].flatMap((batch) =>
    Array.from({ length: Math.ceil(batch.length / BATCH_JOBS_MAX) }, (_, index) =>
      batch.slice(index * BATCH_JOBS_MAX, (index + 1) * BATCH_JOBS_MAX),
    ),
  );
}

/** Lost for good where GitLab is away when it ends or when it would be delivered. */
function sendEvents(run: Run, gitlab: SimulatedGitLab, events: Agenda<JobTruth>): void {
  const { job, endsAtMs } = run;
  const deliver = (delayMs: number, truth: JobTruth | undefined): void => {
    const lost = isAway(endsAtMs) || isAway(endsAtMs + delayMs);
    if (truth !== undefined && !lost) events.add(endsAtMs + delayMs, truth);
  };
  for (const delayMs of job.endDelaysMs) deliver(delayMs, gitlab.truth(run, endsAtMs));
  if (job.lateRunningMs !== undefined && endsAtMs > run.startsAtMs)
    deliver(job.lateRunningMs, gitlab.truth(run, run.startsAtMs));
}
