/** A month of made-up jobs before today, so that pages show a past: decided and charged on a clock of that time. */

import { setTimeout as sleep } from 'node:timers/promises';
import { decide } from '../../functions/core/admission/decide.ts';
import { type LedgerClock, silentLog, systemClock } from '../../functions/core/environment/environment.ts';
import type { JobTruth } from '../../functions/core/gitlab/gitlab.ts';
import type { RunnerDetail } from '../../functions/core/gitlab/kept-answers.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { recordItem } from '../../functions/core/ledger/items.ts';
import type { JobRecord } from '../../functions/core/ledger/ledger.ts';
import type { RulesInForce } from '../../functions/core/rules.ts';
import { settleTruths } from '../../functions/core/truth/settle-truths.ts';
import { placeBy } from '../../functions/core/usage/contribution.ts';
import { rollUp } from '../../functions/core/usage/roll-up.ts';
import type { TableStreamRecord } from '../../functions/settle/consume.ts';
import type { Directory, DirectoryProject } from '../../policies/directory.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { type LimitSet, limitsOfGroup, limitsOn } from '../../policies/limits/limits.ts';
import type { PeriodKind } from '../../policies/limits/period.ts';
import type { RanOutcome } from '../../policies/request/recorded.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { unitRow } from '../../policies/unit.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import type { LocalLedger } from './ledger-source.ts';
import {
  drawPipeline,
  drawSeconds,
  type JobKind,
  logNormal,
  seededRandom,
  WEEKDAY_WEIGHTS,
  weightOfDay,
} from './random.ts';
import { STREAM_BATCH_MAX } from './sqlite-table.ts';

export interface PastMonthOptions extends CountUsageDeps {
  readonly ledger: Pick<LocalLedger, 'store' | 'keys' | 'usage'>;
  readonly rulesFor: RulesInForce['rulesFor'];
  readonly directory: Directory;
  /** The month ends before this day (UTC). */
  readonly nowMs: number;
  /** Called before some days are written, with the number of missing days that are written. */
  readonly onDays?: (done: number, total: number) => void;
  /** @default this process's */
  readonly monotonicMs?: () => number;
}

export interface PastMonth {
  /** Jobs written now; 0: the month was there already. */
  readonly jobs: number;
  /** Days not written in time; the next start continues. */
  readonly daysLeft: number;
}

export const PAST_DAYS = 30;
/** Hours at which jobs ask: few jobs together, because a group may have few slots. */
const WAVE_HOURS = [9, 14] as const;
/** Days counted together: about a hundred jobs, as many as a stream's batch. */
const DAYS_AT_ONCE = 6;
/** On a machine that is too busy for the whole month the run starts without the rest. */
const LOAD_MS_MAX = 8_000;
const DEADLINE_MS = 30_000;
const TIMEOUT_MS = 10_000;

/** Loads the missing days of the 30 before today, the last ones first. */
export async function loadPastMonth(options: PastMonthOptions): Promise<PastMonth> {
  const { rulesFor, directory, nowMs, onDays, monotonicMs = systemClock.monotonicMs } = options;
  const days = await missingDays(options);
  if (days.length === 0) return { jobs: 0, daysLeft: 0 };
  const untilMs = monotonicMs() + LOAD_MS_MAX;
  const rules = await rulesFor(
    pastProjects(directory).map(({ id, groupId }) => ({ jobId: 1, projectId: id, namespaceId: groupId })),
  );
  const scales = scalesOf(directory, rules.limits, nowMs);
  let jobs = 0;
  let daysLeft = days.length;
  while (daysLeft > 0 && monotonicMs() < untilMs) {
    onDays?.(days.length - daysLeft, days.length);
    const some = days.slice(Math.max(0, daysLeft - DAYS_AT_ONCE), daysLeft);
    const planned = some.map((day) => ({ day, jobs: jobsOfDay(day, directory, scales) }));
    // The first job of a day marks it as loaded, so it comes last. Repeating a job changes nothing.
    jobs += await live(
      planned.map((each) => ({ ...each, jobs: each.jobs.slice(1) })),
      options,
    );
    jobs += await live(
      planned.map((each) => ({ ...each, jobs: each.jobs.slice(0, 1) })),
      options,
    );
    daysLeft -= some.length;
  }
  return { jobs, daysLeft };
}

async function missingDays({ ledger, directory, nowMs }: PastMonthOptions): Promise<readonly number[]> {
  if (directory.projectById.size === 0) return [];
  const today = Math.floor(nowMs / DAY_MS);
  const days = Array.from({ length: PAST_DAYS }, (_, index) => today - PAST_DAYS + index);
  const firsts = await ledger.store.readRecords(days.map(firstJobId), { timeoutMs: TIMEOUT_MS });
  return days.filter((_, index) => firsts[index] === undefined);
}

/** Decides, charges and counts jobs. @returns the number of their records. */
async function live(
  days: readonly { readonly day: number; readonly jobs: readonly PastJob[] }[],
  options: PastMonthOptions,
): Promise<number> {
  const { ledger } = options;
  for (const { day, jobs } of days)
    for (const [wave, hour] of WAVE_HOURS.entries()) {
      const planned = jobs.filter(({ request }) => request.jobId % WAVE_HOURS.length === wave);
      await liveWave(planned, day * DAY_MS + hour * 3_600_000, options);
    }
  const ids = days.flatMap(({ jobs }) => jobs.map(({ request }) => request.jobId));
  const records = (await ledger.store.readRecords(ids, { timeoutMs: TIMEOUT_MS })).filter(
    (record) => record !== undefined,
  );
  await countUsage(
    records.map((record) => insertOf(record, ledger.keys)),
    options,
  );
  return records.length;
}

async function liveWave(
  planned: readonly PastJob[],
  atMs: number,
  { ledger: { store }, rulesFor }: PastMonthOptions,
): Promise<void> {
  const clock: LedgerClock = { ...systemClock, nowMs: () => atMs };
  const ledger = createLedger({ store, clock });
  const asking = planned.filter(({ unasked }) => !unasked);
  const requests = asking.map(({ request }) => request);
  const deps = { ledger, currentRules: rulesFor, clock, log: silentLog };
  const decisions = await decide(requests, clock.monotonicMs() + DEADLINE_MS, deps);
  const ran = asking.filter((_, index) => decisions[index]?.outcome === 'admitted');
  await ledger.settle(
    ran.map(({ request: { jobId }, runsSeconds, outcome, retryCount, queuedSeconds }) => ({
      ...{ jobId, outcome, retryCount, queuedSeconds, durationSeconds: runsSeconds },
      endedAtMs: atMs + Math.ceil(runsSeconds * 1_000),
    })),
  );
  const bypassing = planned.filter(({ unasked }) => unasked);
  const currentRules = () => rulesFor(bypassing.map(({ request }) => request));
  await settleTruths(
    bypassing.map((job) => endOf(job, atMs)),
    { ...deps, currentRules },
  );
}

/** The stream record of a job that is written once. */
const insertOf = (record: JobRecord, keys: LocalLedger['keys']) => ({
  eventName: 'INSERT',
  dynamodb: { SequenceNumber: String(record.jobId), NewImage: recordItem(record, keys) },
});

/** GitLab's report of a job that ran without a decision. */
const endOf = (
  { request, runsSeconds, outcome, retryCount, queuedSeconds }: PastJob,
  startedAtMs: number,
): JobTruth => ({
  jobId: request.jobId,
  projectId: request.projectId ?? 0,
  ...{ status: outcome, retryCount, queuedSeconds },
  ...withoutAbsent({
    projectPath: request.projectPath,
    jobName: request.jobName,
    pipelineId: request.pipelineId,
    ref: request.ref,
    runnerTags: request.runnerTags,
  }),
  runnerId: request.runnerId,
  startedAtMs,
  finishedAtMs: startedAtMs + Math.ceil(runsSeconds * 1_000),
  durationSeconds: runsSeconds,
});

export interface CountUsageDeps {
  readonly ledger: Pick<LocalLedger, 'keys' | 'usage'>;
  readonly directory: Directory | undefined;
  /** Zone of the days of usage. */
  readonly zone: string;
  readonly clock: Parameters<typeof rollUp>[1]['clock'];
  readonly onTrouble: (text: string) => void;
}

const TRIES_MAX = 3;
/** Leaves the machine to decisions: a job that is written several times meanwhile is counted once. */
const PAUSE_MS = 1_000;

/** Counts stream records. Counting a record again changes nothing. */
async function countUsage(
  Records: readonly TableStreamRecord[],
  { ledger, directory, zone, clock, onTrouble }: CountUsageDeps,
): Promise<void> {
  const deps = {
    ...{ store: ledger.usage, keys: ledger.keys, clock, random: Math.random, log: silentLog },
    placeOf: placeBy(directory, zone),
  };
  for (let tries = 1; tries <= TRIES_MAX; tries += 1)
    if ((await rollUp({ Records }, deps)).batchItemFailures.length === 0) return;
  onTrouble('some jobs are not counted in what the console shows of the past');
}

/** Counts everything that is written from now on. */
export function startUsageCounter(deps: CountUsageDeps & { readonly ledger: LocalLedger }) {
  const read = async (signal: AbortSignal): Promise<void> => {
    try {
      for await (const records of deps.ledger.stream(signal)) {
        await countUsage(records, deps);
        if (records.length < STREAM_BATCH_MAX) await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    } catch (error) {
      deps.onTrouble(`usage is not counted (${String(error)})`);
    }
  };
  const begin = () => {
    const stop = new AbortController();
    const done = read(stop.signal);
    return async (): Promise<void> => {
      stop.abort();
      await done;
    };
  };
  let end = begin();
  return {
    /** Resolves when everything written before is counted. */
    idle(): Promise<void> {
      const endEarlier = end;
      // It begins before the other one ends, so that no record is missed.
      end = begin();
      return endEarlier();
    },
    stop: (): Promise<void> => end(),
  };
}

interface DrawnEnd {
  readonly outcome: RanOutcome;
  /** Earlier runs of the same job. */
  readonly retryCount: number;
  readonly queuedSeconds: number;
}

const FAILS_SHARE = 0.06;
const CANCELED_SHARE = 0.02;
/** Share of failed jobs that are retried. */
const RETRIED_SHARE = 0.75;
const RETRIES_MAX = 2;
/** Most jobs find a runner soon, and some wait in a long queue. */
const QUEUED_MEDIAN_SECONDS = 18;
const QUEUED_SIGMA = 1.6;

/** Draws endings; a failed job may be followed by one or two retries. */
function withEnds<Job extends object>(
  jobs: readonly Job[],
  random: () => number,
): readonly (Job & DrawnEnd)[] {
  const ended: (Job & DrawnEnd)[] = [];
  for (const job of jobs) {
    for (let retryCount = 0; retryCount <= RETRIES_MAX; retryCount += 1) {
      const outcome = outcomeOf(random());
      const queuedSeconds = Math.round(logNormal(QUEUED_MEDIAN_SECONDS, QUEUED_SIGMA, random));
      ended.push({ ...job, outcome, retryCount, queuedSeconds });
      if (outcome !== 'failed' || random() >= RETRIED_SHARE) break;
    }
  }
  return ended;
}

const outcomeOf = (drawn: number): RanOutcome =>
  drawn < FAILS_SHARE ? 'failed' : drawn < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success';

interface PastJob extends DrawnEnd {
  readonly request: AdmissionRequest & { readonly runnerId: number };
  readonly runsSeconds: number;
  /** The job runs without a decision, because its runner bypasses the router. */
  readonly unasked: boolean;
}

/** All projects together, on the busiest day: some 480 in the month, which take two or three seconds to write. */
const JOBS_A_DAY = 24;
const WORKING_DAYS = 21;
const PROJECTS_MAX = 20;
/** Ids of a day's jobs. */
const IDS_A_DAY = 500;
/** Share of a budget that the made-up month uses: a run then finds room and exhausts it. */
const BUDGET_SHARE = 0.25;
/** Average cost of a job at the prices of policies/policy.yaml. */
const USUAL_MICROS = 210_000;
/** Bounds on the factor between these jobs and the workload's. */
const SCALE = { least: 0.05, most: 3 } as const;
const TAGS: Readonly<Record<JobKind['runnerClass'], readonly string[]>> = {
  small: [],
  medium: ['kubernetes'],
  large: ['large'],
};

/** Endings have their own seed: a change of one leaves the other unchanged. */
const ENDS_SEED = 1_000_003;
/** Users who can sign in here. */
const PAST_USERS = [42, 43, 44] as const;

/** The month's runners for the console. Their ids are above those of a run's runners. */
export const PAST_RUNNERS: ReadonlyMap<number, RunnerDetail> = new Map([
  [2011, { description: 'linux-small-1', version: '19.4.0' }],
  [2012, { description: 'build-host-old', version: '18.8.1' }],
  [2021, { description: 'k8s-medium-1', version: '19.4.0' }],
  [2022, { description: 'k8s-medium-2' }],
  [2031, { description: 'linux-large-1', version: '18.11.2' }],
]);

/** One project in three has its own runners: one always bypasses the router, and one sometimes. */
function runnerOf(
  { runnerClass }: JobKind,
  place: number,
  index: number,
): Pick<PastJob, 'unasked'> & { readonly runnerId: number } {
  const ofItsOwn = place % 3 === 2;
  const turn = Math.floor(index / 2) % 4;
  if (runnerClass === 'large') return { runnerId: 2031, unasked: false };
  if (runnerClass === 'medium')
    return ofItsOwn ? { runnerId: 2022, unasked: turn === 0 } : { runnerId: 2021, unasked: false };
  return ofItsOwn && turn < 2 ? { runnerId: 2012, unasked: true } : { runnerId: 2011, unasked: false };
}

/** Job ids of runs begin here, above those of any made-up day of this century. */
export const FIRST_RUN_JOB_ID = 25_000_000;

/** Days are counted from 1 January 1970, UTC. */
export const firstJobId = (day: number): number => day * IDS_A_DAY;

const pastProjects = ({ projectById }: Directory): readonly DirectoryProject[] =>
  [...projectById.values()].slice(0, PROJECTS_MAX);

/** @param scales - how much longer the jobs of a project are than the workload's, by its id. */
function jobsOfDay(
  day: number,
  directory: Directory,
  scales: ReadonlyMap<number, number>,
): readonly PastJob[] {
  const projects = pastProjects(directory);
  const random = seededRandom(day);
  const weight = weightOfDay(day) / Math.max(...WEEKDAY_WEIGHTS);
  // At least one: the first job marks the day as loaded.
  const count = projects.length === 0 ? 0 : Math.max(1, Math.round(JOBS_A_DAY * weight));
  const drawn: Drawn[] = [];
  for (let pipeline = 0; drawn.length < count; pipeline += 1) {
    const place = (pipeline + day) % projects.length;
    const project = projects[place];
    if (project === undefined) break;
    const scale = scales.get(project.id) ?? 1;
    const jobs = drawPipeline(0, random, (kind, atMs) => {
      const runsSeconds = drawSeconds(kind, kind.medianSeconds, random) * scale;
      return { project, place, pipeline, kind, runsSeconds, endsAtMs: atMs + runsSeconds * 1_000 };
    });
    drawn.push(...jobs);
  }
  const ended = withEnds(drawn, seededRandom(day + ENDS_SEED)).slice(0, count);
  return ended.map(({ project, place, pipeline, kind, runsSeconds, ...end }, index): PastJob => {
    const { outcome, retryCount, queuedSeconds } = end;
    const { runnerId, unasked } = runnerOf(kind, place, index);
    const request = {
      jobId: firstJobId(day) + index,
      jobName: kind.name,
      pipelineId: firstJobId(day) + pipeline,
      pipelineSource: 'push',
      projectId: project.id,
      projectPath: project.path,
      namespaceId: project.groupId,
      rootNamespaceId: directory.chainById.get(project.groupId)?.[0]?.id ?? project.groupId,
      ref: 'main',
      refProtected: true,
      image: 'alpine:3.22',
      runnerTags: TAGS[kind.runnerClass],
      runnerId,
      userId: PAST_USERS[pipeline % PAST_USERS.length] ?? 0,
      timeoutSeconds: Math.max(kind.timeoutSeconds, Math.ceil(runsSeconds) * 2),
      variables: {},
    };
    return { request, runsSeconds, unasked, outcome, retryCount, queuedSeconds };
  });
}

interface Drawn {
  readonly project: DirectoryProject;
  /** The place of the project among all. */
  readonly place: number;
  readonly pipeline: number;
  readonly kind: JobKind;
  readonly runsSeconds: number;
}

/** Amounts of a budget in a month, by period. A concurrency limit does not bound a month. */
const IN_A_MONTH: Readonly<Partial<Record<PeriodKind, number>>> = {
  day: WORKING_DAYS,
  week: 4,
  month: 1,
  quarter: 1 / 3,
  year: 1 / 12,
  once: 1,
};

/** Returns a factor per project, so that the smallest budget above it suffices for all its projects. */
function scalesOf(directory: Directory, limits: LimitSet, nowMs: number): ReadonlyMap<number, number> {
  const projects = pastProjects(directory);
  const jobsEach = (JOBS_A_DAY * WORKING_DAYS) / Math.max(1, projects.length);
  const under = (groupId: number): number =>
    projects.filter((one) => directory.chainById.get(one.groupId)?.some(({ id }) => id === groupId)).length;
  const ofAll = limitsOn(limits, 'instance').flatMap((limit) => sharesOf(limit, projects.length));
  return new Map(
    projects.map((project) => {
      const shares = (directory.chainById.get(project.groupId) ?? []).flatMap((group) =>
        limitsOfGroup(limits, group, nowMs).flatMap((limit) => sharesOf(limit, under(group.id))),
      );
      const scale = (Math.min(...ofAll, ...shares) * BUDGET_SHARE) / (jobsEach * USUAL_MICROS);
      return [project.id, Math.min(SCALE.most, Math.max(SCALE.least, scale))];
    }),
  );
}

/** Returns each project's share of a month, if the limit is a budget of money that rejects. */
function sharesOf({ unit, per, amount, mode }: Limit, projects: number): readonly number[] {
  const months = per === undefined ? undefined : IN_A_MONTH[per];
  if (!unitRow(unit).inCurrency || mode !== 'enforce' || typeof amount !== 'number' || months === undefined)
    return [];
  return [(amount * months) / projects];
}
