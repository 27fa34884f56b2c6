/** A month of jobs before today, decided and charged by the real ledger on a clock of then, so that pages show a past. */
import { decide } from '../../functions/admit/decide.ts';
import type { RulesInForce } from '../../functions/admit/rules-in-force.ts';
import { createLedger } from '../../functions/ledger/create-ledger.ts';
import type { LedgerClock } from '../../functions/ledger/ledger.ts';
import { systemClock } from '../../functions/ledger/system-clock.ts';
import { silentLog } from '../../functions/shared/log.ts';
import { limitsOn } from '../../policies/limits/limits.ts';
import type { Directory, DirectoryProject } from '../../policies/place/directory.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { seededRandom } from '../pipeline/seeded-random.ts';
import { logNormal } from '../simulate/log-normal.ts';
import { type JobKind, STAGES, WEEKDAY_WEIGHTS } from '../simulate/workload.ts';
import type { LocalLedger } from './ledger-source.ts';

export interface PastMonth {
  /** Asked about now, to be counted; none: the month was there already. */
  readonly jobIds: readonly number[];
}

export interface PastMonthOptions {
  readonly ledger: Pick<LocalLedger, 'store'>;
  readonly rulesFor: RulesInForce['rulesFor'];
  readonly directory: Directory;
  /** The month ends before this day (UTC). */
  readonly nowMs: number;
}

export const PAST_DAYS = 30;
const DAY_MS = 86_400_000;
/** 1970 began on a Thursday; `WEEKDAY_WEIGHTS` begins on Monday. */
const FIRST_WEEKDAY = 3;
/** Of all projects together, on the busiest day: some 1 000 in the month, which take seconds to write. */
const JOBS_A_DAY = 48;
const PROJECTS_MAX = 20;
/** When their jobs ask: few at a time, for a group may have few slots. */
const WAVE_HOURS = [9, 14] as const;
/** Ids of a day's jobs; GitLab's own are far above. */
const IDS_A_DAY = 1_000;
const DEADLINE_MS = 30_000;
const READ_TIMEOUT_MS = 5_000;
/** How much of a budget its projects are to use in a month. */
const BUDGET_SHARE = 0.95;
/** What a job of the workload costs on average, at the prices of policies/policy.yaml. */
const USUAL_MICROS = 210_000;
/** How much shorter or longer jobs may be than the workload's. */
const SCALE = { least: 0.05, most: 3 } as const;
const TAGS: Readonly<Record<JobKind['runnerClass'], readonly string[]>> = {
  small: [],
  medium: ['kubernetes_runner'],
  large: ['functions-pilot-linux-amd64'],
};
const KINDS = STAGES.flat();

/** Loads what is missing of the 30 days before today: the same day always has the same jobs. */
export async function loadPastMonth(options: PastMonthOptions): Promise<PastMonth> {
  const { ledger, directory, nowMs } = options;
  const today = Math.floor(nowMs / DAY_MS);
  const days = Array.from({ length: PAST_DAYS }, (_, index) => today - PAST_DAYS + index);
  const projects = [...directory.projectById.values()].slice(0, PROJECTS_MAX);
  const firsts = await ledger.store.readRecords(
    days.map((day) => day * IDS_A_DAY),
    { timeoutMs: READ_TIMEOUT_MS },
  );
  const scales = await scalesOf(projects, options);
  const jobIds: number[] = [];
  for (const [index, day] of days.entries()) {
    if (firsts[index] !== undefined) continue;
    const planned = jobsOf(day, projects, scales, directory);
    for (const [wave, hour] of WAVE_HOURS.entries()) {
      const asking = planned.filter((_, place) => place % WAVE_HOURS.length === wave);
      await live(asking, day * DAY_MS + hour * 3_600_000, options);
    }
    jobIds.push(...planned.map(({ request }) => request.jobId));
  }
  return { jobIds };
}

interface PlannedJob {
  readonly request: AdmissionRequest;
  readonly runsSeconds: number;
}

function jobsOf(
  day: number,
  projects: readonly DirectoryProject[],
  scales: ReadonlyMap<number, number>,
  directory: Directory,
): readonly PlannedJob[] {
  const random = seededRandom(day);
  const weight = (WEEKDAY_WEIGHTS[(day + FIRST_WEEKDAY) % 7] ?? 0) / Math.max(...WEEKDAY_WEIGHTS);
  // At least one: by the first of them a loaded day is known.
  const count = projects.length === 0 ? 0 : Math.max(1, Math.round(JOBS_A_DAY * weight));
  return Array.from({ length: count }, (_, index): readonly PlannedJob[] => {
    const project = projects[(index + day) % projects.length];
    const kind = KINDS[Math.floor(random() * KINDS.length)];
    if (project === undefined || kind === undefined) return [];
    const runsSeconds = logNormal(kind.medianSeconds, kind.sigma, random) * (scales.get(project.id) ?? 1);
    const jobId = day * IDS_A_DAY + index;
    const request = {
      jobId,
      jobName: kind.name,
      pipelineId: jobId,
      pipelineSource: 'push',
      projectId: project.id,
      projectPath: project.path,
      namespaceId: project.groupId,
      rootNamespaceId: directory.chainById.get(project.groupId)?.[0]?.id ?? project.groupId,
      ref: 'main',
      refProtected: true,
      image: 'alpine:3.22',
      runnerTags: TAGS[kind.runnerClass],
      timeoutSeconds: Math.max(kind.timeoutSeconds, Math.ceil(runsSeconds) * 2),
      variables: {},
    };
    return [{ request, runsSeconds }];
  }).flat();
}

/** By project: how much longer its jobs are, so that its groups' smallest monthly budget suits them. */
async function scalesOf(
  projects: readonly DirectoryProject[],
  { rulesFor, directory }: PastMonthOptions,
): Promise<ReadonlyMap<number, number>> {
  const { limits } = await rulesFor(
    projects.map(({ id, groupId }) => ({ jobId: 1, projectId: id, namespaceId: groupId })),
  );
  const jobsEach = (JOBS_A_DAY * 21) / Math.max(1, projects.length);
  const under = (groupId: number): number =>
    projects.filter((one) => directory.chainById.get(one.groupId)?.some(({ id }) => id === groupId)).length;
  return new Map(
    projects.map((project) => {
      const shares = (directory.chainById.get(project.groupId) ?? []).flatMap(({ id }) =>
        limitsOn(limits, `group/${id}`).flatMap(({ unit, per, amount }) =>
          unit === 'micros' && per === 'month' && typeof amount === 'number' ? [amount / under(id)] : [],
        ),
      );
      const scale = (Math.min(...shares) * BUDGET_SHARE) / (jobsEach * USUAL_MICROS);
      return [project.id, Math.min(SCALE.most, Math.max(SCALE.least, scale))];
    }),
  );
}

/** Asks about them at this moment, and charges those that were let in when they end. */
async function live(jobs: readonly PlannedJob[], atMs: number, options: PastMonthOptions): Promise<void> {
  const clock: LedgerClock = { ...systemClock, nowMs: () => atMs };
  const ledger = createLedger({ store: options.ledger.store, clock });
  const decisions = await decide(
    jobs.map(({ request }) => request),
    clock.monotonicMs() + DEADLINE_MS,
    { ledger, currentRules: options.rulesFor, clock, log: silentLog },
  );
  const ran = jobs.filter((_, index) => decisions[index]?.outcome === 'admitted');
  await ledger.settle(
    ran.map(({ request: { jobId }, runsSeconds }) => ({
      jobId,
      durationSeconds: runsSeconds,
      endedAtMs: atMs + Math.ceil(runsSeconds * 1_000),
    })),
  );
}
