/** A month of made-up jobs before today, so that pages show a past: decided and charged on a clock of that time. */

import { setTimeout as sleep } from 'node:timers/promises';
import { decide } from '../../functions/core/admission/decide.ts';
import { type LedgerClock, silentLog, systemClock } from '../../functions/core/environment/environment.ts';
import type { RunnerDetail } from '../../functions/core/gitlab/cached-answers.ts';
import { chargeBypass } from '../../functions/core/job-ends/charge-bypass.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { recordItem } from '../../functions/core/ledger/items.ts';
import type { RulesInForce } from '../../functions/core/rules.ts';
import { placeRecords } from '../../functions/core/usage/contribution.ts';
import { rollUp } from '../../functions/core/usage/roll-up.ts';
import type { TableStreamRecord } from '../../functions/settle/consume.ts';
import type { Directory, DirectoryProject } from '../../policies/directory.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import { type LimitSet, limitsOfGroup, limitsOn } from '../../policies/limits/limits.ts';
import type { RanOutcome } from '../../policies/request/recorded.ts';
import { unitRow } from '../../policies/unit.ts';
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
  readonly nowMs: number;
  readonly onDays?: (missing: number) => void;
}

export const PAST_DAYS = 30;
/** Hours at which jobs ask: few jobs together, because a group may have few slots. */
const WAVE_HOURS = [9, 14] as const;
const DAYS_AT_ONCE = 6;
const DEADLINE_MS = 30_000;
const TIMEOUT_MS = 10_000;

/** Loads the missing days of the 30 before today, the last ones first. @returns the number of jobs written now */
export async function loadPastMonth(options: PastMonthOptions): Promise<number> {
  const { ledger, rulesFor, directory, nowMs, onDays } = options;
  const projects = pastProjects(directory);
  if (projects.length === 0) return 0;
  const today = Math.floor(nowMs / DAY_MS);
  const days = Array.from({ length: PAST_DAYS }, (_, index) => today - 1 - index);
  const firsts = await ledger.store.readRecords(days.map(firstJobId), { timeoutMs: TIMEOUT_MS });
  const missing = days.filter((_, index) => firsts[index] === undefined);
  if (missing.length === 0) return 0;
  const rules = await rulesFor(
    projects.map(({ id, groupId }) => ({ jobId: 1, projectId: id, namespaceId: groupId })),
  );
  const scales = scalesOf(directory, rules.limits, nowMs);
  onDays?.(missing.length);
  let jobs = 0;
  for (let done = 0; done < missing.length; done += DAYS_AT_ONCE) {
    const some = missing.slice(done, done + DAYS_AT_ONCE);
    const planned = some.map((day) => ({ day, jobs: jobsOfDay(day, directory, scales) }));
    // The first job of a day marks it as loaded, so it comes last. Repeating a job changes nothing.
    for (const part of [[1, undefined] as const, [0, 1] as const])
      jobs += await live(
        planned.map((each) => ({ ...each, jobs: each.jobs.slice(...part) })),
        options,
      );
  }
  return jobs;
}

async function live(
  days: readonly { readonly day: number; readonly jobs: readonly PastJob[] }[],
  options: PastMonthOptions,
): Promise<number> {
  const { store, keys } = options.ledger;
  for (const { day, jobs } of days)
    for (const [wave, hour] of WAVE_HOURS.entries()) {
      const planned = jobs.filter(({ request }) => request.jobId % WAVE_HOURS.length === wave);
      await liveWave(planned, day * DAY_MS + hour * 3_600_000, options);
    }
  const ids = days.flatMap(({ jobs }) => jobs.map(({ request }) => request.jobId));
  const records = (await store.readRecords(ids, { timeoutMs: TIMEOUT_MS })).filter(
    (record) => record !== undefined,
  );
  const inserts = records.map((record) => ({
    eventName: 'INSERT',
    dynamodb: { SequenceNumber: String(record.jobId), NewImage: recordItem(record, keys) },
  }));
  await countUsage(inserts, options);
  return records.length;
}

async function liveWave(
  planned: readonly PastJob[],
  atMs: number,
  { ledger: { store }, rulesFor }: PastMonthOptions,
): Promise<void> {
  const clock: LedgerClock = { ...systemClock, nowMs: () => atMs };
  const deps = { ledger: createLedger({ store, clock }), currentRules: rulesFor, clock, log: silentLog };
  const asking = planned.filter(({ unasked }) => !unasked).map(({ request }) => request);
  const decisions = await decide(asking, clock.monotonicMs() + DEADLINE_MS, deps);
  const rejected = new Set(asking.filter((_, index) => decisions[index]?.outcome !== 'admitted'));
  const ran = planned.filter(({ request }) => !rejected.has(request));
  const gitlabJobs = ran.map(({ request, runsSeconds, outcome, retryCount, queuedSeconds }) => {
    const { jobId, projectId, projectPath, jobName, pipelineId, ref, runnerTags, runnerId } = request;
    return {
      ...{ jobId, projectId, projectPath, jobName, pipelineId, ref, runnerTags, runnerId },
      ...{ status: outcome, retryCount, queuedSeconds, startedAtMs: atMs, durationSeconds: runsSeconds },
      finishedAtMs: atMs + Math.ceil(runsSeconds * 1_000),
    };
  });
  await chargeBypass(gitlabJobs, {
    ...deps,
    currentRules: () => rulesFor(planned.map((job) => job.request)),
  });
}

interface CountUsageDeps {
  readonly ledger: Pick<LocalLedger, 'keys' | 'usage'>;
  readonly directory: Directory | undefined;
  readonly zone: string;
  readonly clock: Parameters<typeof rollUp>[1]['clock'];
  readonly onProblem: (text: string) => void;
}

const TRIES_MAX = 3;
/** Leaves the machine to decisions: a job that is written several times meanwhile is counted once. */
const PAUSE_MS = 1_000;

async function countUsage(
  Records: readonly TableStreamRecord[],
  { ledger, directory, zone, clock, onProblem }: CountUsageDeps,
): Promise<void> {
  const deps = {
    ...{ store: ledger.usage, keys: ledger.keys, clock, random: Math.random, log: silentLog },
    placeOf: placeRecords(directory, zone),
  };
  for (let tries = 1; tries <= TRIES_MAX; tries += 1)
    if ((await rollUp({ Records }, deps)).batchItemFailures.length === 0) return;
  onProblem('some jobs are not counted in what the console shows of the past');
}

export function startUsageCounter(deps: CountUsageDeps & { readonly ledger: LocalLedger }) {
  const read = async (signal: AbortSignal): Promise<void> => {
    try {
      for await (const records of deps.ledger.stream(signal)) {
        await countUsage(records, deps);
        if (records.length < STREAM_BATCH_MAX) await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    } catch (error) {
      deps.onProblem(`usage is not counted (${String(error)})`);
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
    idle(): Promise<void> {
      const endEarlier = end;
      // It begins before the other one ends, so that no record is missed.
      end = begin();
      return endEarlier();
    },
    stop: (): Promise<void> => end(),
  };
}

type PastJob = ReturnType<typeof jobsOfDay>[number];

/** All projects together, on the busiest day: some 480 in the month, which take two or three seconds to write. */
const JOBS_A_DAY = 24;
const WORKING_DAYS = 21;
const PROJECTS_MAX = 20;
const IDS_A_DAY = 500;
/** Share of a budget that the made-up month uses: a run then finds room and exhausts it. */
const BUDGET_SHARE = 0.25;
const USUAL_MICROS = 210_000;
const SCALE = { least: 0.05, most: 3 } as const;
const TAGS: Readonly<Record<JobKind['runnerClass'], readonly string[]>> = {
  small: [],
  medium: ['kubernetes'],
  large: ['large'],
};
const FAILS_SHARE = 0.06;
const CANCELED_SHARE = 0.02;
const RETRIES_SHARE = 0.05;
/** Most jobs find a runner soon, and some wait in a long queue. */
const QUEUED_MEDIAN_SECONDS = 18;
const QUEUED_SIGMA = 1.6;
const PAST_USERS = [42, 43, 44] as const;

/** The month's runners for the console. Their ids are above those of a run's runners. */
export const PAST_RUNNERS: ReadonlyMap<number, RunnerDetail> = new Map([
  [2011, { description: 'linux-small-1', version: '19.4.0' }],
  [2012, { description: 'build-host-old', version: '18.8.1' }],
  [2021, { description: 'k8s-medium-1', version: '19.4.0' }],
  [2022, { description: 'k8s-medium-2' }],
  [2031, { description: 'linux-large-1', version: '18.11.2' }],
]);

/** `unasked`: the job runs without a decision, because its runner bypasses the router. */
function runnerOf({ runnerClass }: JobKind, place: number, index: number) {
  const ofItsOwn = place % 3 === 2;
  const turn = Math.floor(index / 2) % 4;
  if (runnerClass === 'large') return { runnerId: 2031, unasked: false };
  if (runnerClass === 'medium')
    return ofItsOwn ? { runnerId: 2022, unasked: turn === 0 } : { runnerId: 2021, unasked: false };
  return ofItsOwn && turn < 2 ? { runnerId: 2012, unasked: true } : { runnerId: 2011, unasked: false };
}

/** Job ids of runs begin here, above those of any made-up day of this century. */
export const FIRST_RUN_JOB_ID = 25_000_000;

export const firstJobId = (day: number): number => day * IDS_A_DAY;

const pastProjects = ({ projectById }: Directory): readonly DirectoryProject[] =>
  [...projectById.values()].slice(0, PROJECTS_MAX);

function outcomeAt(drawn: number): RanOutcome {
  if (drawn < FAILS_SHARE) return 'failed';
  return drawn < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success';
}

function jobsOfDay(day: number, directory: Directory, scales: ReadonlyMap<number, number>) {
  const projects = pastProjects(directory);
  const random = seededRandom(day);
  const count = Math.max(1, Math.round((JOBS_A_DAY * weightOfDay(day)) / Math.max(...WEEKDAY_WEIGHTS)));
  const jobs = [];
  let jobId = firstJobId(day);
  for (let pipeline = 0; jobs.length < count; pipeline += 1) {
    const place = (pipeline + day) % projects.length;
    const project = projects[place];
    if (project === undefined) break;
    const kinds: JobKind[] = [];
    drawPipeline(0, random, (kind) => ({ endsAtMs: kinds.push(kind) }));
    const rootNamespaceId = directory.chainById.get(project.groupId)?.[0]?.id ?? project.groupId;
    for (const kind of kinds) {
      const runsSeconds = drawSeconds(kind, kind.medianSeconds, random) * (scales.get(project.id) ?? 1);
      const { runnerId, unasked } = runnerOf(kind, place, jobs.length);
      const request = {
        ...{ jobId, pipelineId: firstJobId(day) + pipeline, rootNamespaceId },
        ...{ projectId: project.id, projectPath: project.path, namespaceId: project.groupId },
        ...{ jobName: kind.name, runnerId, runnerTags: TAGS[kind.runnerClass], variables: {} },
        ...{ pipelineSource: 'push', ref: 'main', refProtected: true, image: 'alpine:3.22' },
        userId: PAST_USERS[pipeline % PAST_USERS.length] ?? 0,
        timeoutSeconds: Math.max(kind.timeoutSeconds, Math.ceil(runsSeconds) * 2),
      };
      jobs.push({
        ...{ request, runsSeconds, unasked, outcome: outcomeAt(random()) },
        retryCount: random() < RETRIES_SHARE ? 1 : 0,
        queuedSeconds: Math.round(logNormal(QUEUED_MEDIAN_SECONDS, QUEUED_SIGMA, random)),
      });
      jobId += 1;
    }
  }
  return jobs.slice(0, count);
}

/** Returns a factor per project, so that the smallest monthly budget above it suffices for all its projects. */
function scalesOf(directory: Directory, limits: LimitSet, nowMs: number): ReadonlyMap<number, number> {
  const projects = pastProjects(directory);
  const jobsEach = (JOBS_A_DAY * WORKING_DAYS) / projects.length;
  const chainOf = ({ groupId }: DirectoryProject) => directory.chainById.get(groupId) ?? [];
  return new Map(
    projects.map((project) => {
      const above = chainOf(project).map((group) => ({
        limits: limitsOfGroup(limits, group, nowMs),
        projects: projects.filter((each) => chainOf(each).some(({ id }) => id === group.id)).length,
      }));
      const shares = [...above, { limits: limitsOn(limits, 'instance'), projects: projects.length }].flatMap(
        (level) =>
          level.limits.flatMap(({ unit, per, amount, mode }) =>
            unitRow(unit).inCurrency && per === 'month' && mode === 'enforce' && typeof amount === 'number'
              ? [amount / level.projects]
              : [],
          ),
      );
      const scale = (Math.min(...shares) * BUDGET_SHARE) / (jobsEach * USUAL_MICROS);
      return [project.id, Math.min(SCALE.most, Math.max(SCALE.least, scale))];
    }),
  );
}
