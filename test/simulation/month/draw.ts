/** Draws the month before it begins: groups, projects, and every job with all that will happen to it. */
import { DAY_MS } from '../../../policies/limits/calendar.ts';
import {
  drawPipeline,
  drawSeconds,
  type JobKind,
  logNormal,
  STAGES,
  seededRandom,
} from '../../../scripts/local/random.ts';
import type { JobPlan } from '../gitlab.ts';
import { costOf, priceAt } from '../rulebook/rule-set.ts';
import {
  ASKED_AGAIN_MS,
  DELAY_MS,
  MONTH_DAYS,
  MONTH_END_MS,
  MONTH_START_MS,
  OUTAGE,
  PROJECT_SIGMA,
  PROJECT_WEIGHT_POWER,
  QUEUE_MS,
  RUNNER_CLASSES,
  RUNNERS_PER_CLASS,
  SIMULATED_PRICES,
  TABLE_SILENT,
  TROUBLE,
  type WorkloadShape,
} from './shape.ts';
import { between, indexAt, shareEnds, startsWithin } from './starts.ts';

export interface DrawnGroup {
  readonly id: number;
  readonly name: string;
  readonly level: 1 | 2 | 3;
  readonly parentId?: number;
}

interface DrawnProject {
  readonly id: number;
  readonly name: string;
  readonly groupIds: readonly [root: number, middle: number, leaf: number];
  readonly medianSeconds: ReadonlyMap<string, number>;
}

export interface MonthJob extends JobPlan {
  readonly project: DrawnProject;
  readonly askedAtMs: number;
  /** The first answer never reaches GitLab, which asks again this much later. */
  readonly askedAgainMs?: number;
  readonly queueMs: number;
  readonly durationSeconds: number;
  readonly outcome: 'runs' | 'bypass' | 'routerFailure' | 'canceledBeforeStart' | 'vanished';
  readonly endDelaysMs: readonly number[];
  readonly lateRunningMs?: number;
}

export interface Workload {
  readonly shape: WorkloadShape;
  readonly groups: readonly DrawnGroup[];
  readonly projects: readonly DrawnProject[];
  readonly jobs: readonly MonthJob[];
}

export function drawWorkload(shape: WorkloadShape): Workload {
  const random = seededRandom(shape.seed);
  const { groups, projects } = drawGroups(shape, random);
  return { shape, groups, projects, jobs: drawJobs(shape, projects, random) };
}

export const trueMicros = (
  { runnerClass, durationSeconds }: Pick<MonthJob, 'runnerClass' | 'durationSeconds'>,
  atMs: number,
): number => costOf(durationSeconds, priceAt(SIMULATED_PRICES, atMs).rates[runnerClass] ?? 0, 1);

function drawGroups(shape: WorkloadShape, random: () => number): Pick<Workload, 'groups' | 'projects'> {
  const [roots, middles, leaves] = shape.groupsByLevel;
  const level1 = times(roots, (index): DrawnGroup => ({ id: 100 + index, name: `root${index}`, level: 1 }));
  const level2 = times(middles, (index) => below(level1, index, 1_000 + index, 'team', 2));
  const level3 = times(leaves, (index) => below(level2, index, 10_000 + index, 'unit', 3));
  const projects = times(shape.projects, (index): DrawnProject => {
    const leaf = level3[index % leaves];
    const middle = level2.find(({ id }) => id === leaf?.parentId);
    if (leaf === undefined || middle === undefined) throw new RangeError('a month needs groups of level 3');
    const medians = STAGES.flat().map(
      ({ name, medianSeconds }) => [name, logNormal(medianSeconds, PROJECT_SIGMA, random)] as const,
    );
    return {
      ...{ id: 100_000 + index, name: `service${index}`, medianSeconds: new Map(medians) },
      groupIds: [middle.parentId ?? 0, middle.id, leaf.id],
    };
  });
  return { groups: [...level1, ...level2, ...level3], projects };
}

function below(
  parents: readonly DrawnGroup[],
  index: number,
  id: number,
  word: string,
  level: 2 | 3,
): DrawnGroup {
  const parent = parents[index % parents.length];
  if (parent === undefined) throw new RangeError(`a month needs groups of level ${level - 1}`);
  return { id, name: `${word}${index}`, level, parentId: parent.id };
}

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const FIRST_DAY = Math.ceil(MONTH_START_MS / DAY_MS);

function drawJobs(
  shape: WorkloadShape,
  projects: readonly DrawnProject[],
  random: () => number,
): readonly MonthJob[] {
  const startOf = startsWithin(MONTH_START_MS, FIRST_DAY, MONTH_DAYS);
  const weightEnds = shareEnds(projects.map((_, index) => (index + 1) ** PROJECT_WEIGHT_POWER));
  const jobs: MonthJob[] = [];
  for (let pipelineId = 1; jobs.length < shape.jobs; pipelineId += 1) {
    const project = projects[indexAt(weightEnds, random())];
    if (project === undefined) throw new RangeError('a month needs projects');
    const drawn = drawPipeline(startOf(random), random, (kind, atMs) => {
      const job = drawJob(project, pipelineId, kind, atMs, random);
      return { job, endsAtMs: atMs + job.queueMs + job.durationSeconds * 1000 };
    });
    jobs.push(...drawn.flatMap(({ job }) => (job.askedAtMs < MONTH_END_MS ? [job] : [])));
  }
  const asked = jobs.slice(0, shape.jobs).sort((a, b) => a.askedAtMs - b.askedAtMs);
  return asked.map((job, index) => {
    const runner = RUNNERS_PER_CLASS * (RUNNER_CLASSES as readonly string[]).indexOf(job.runnerClass);
    return { ...job, jobId: index + 1, runnerId: 1 + runner + ((index + 1) % RUNNERS_PER_CLASS) };
  });
}

function drawJob(
  project: DrawnProject,
  pipelineId: number,
  kind: JobKind,
  atMs: number,
  random: () => number,
): MonthJob {
  const ran = drawSeconds(kind, project.medianSeconds.get(kind.name) ?? kind.medianSeconds, random);
  const outcome = drawOutcome(random());
  const reordered = random() < TROUBLE.reordered;
  const askedAtMs = Math.round(afterOutage(atMs));
  const askedAgainMs = outcome === 'bypass' ? undefined : drawAskedAgain(askedAtMs, random);
  const { name: jobName, runnerClass, timeoutSeconds } = kind;
  return {
    ...{ jobId: 0, pipelineId, jobName, project, projectId: project.id, runnerClass, runnerId: 0 },
    ...{ timeoutSeconds, askedAtMs, outcome },
    ...(askedAgainMs !== undefined && { askedAgainMs }),
    queueMs: Math.round(between(QUEUE_MS.least, QUEUE_MS.most, random)),
    durationSeconds: Math.round(ran * 1000) / 1000,
    endDelaysMs: outcome === 'vanished' ? [] : drawDelays(reordered, random),
    ...(reordered && { lateRunningMs: Math.round(random() * DELAY_MS.reordered) }),
  };
}

function drawOutcome(share: number): MonthJob['outcome'] {
  let until = 0;
  for (const outcome of ['bypass', 'routerFailure', 'canceledBeforeStart', 'vanished'] as const) {
    until += TROUBLE[outcome];
    if (share < until) return outcome;
  }
  return 'runs';
}

function drawDelays(reordered: boolean, random: () => number): readonly number[] {
  if (random() < TROUBLE.lostEnd) return [];
  const first = Math.round(random() * (reordered ? DELAY_MS.reordered : DELAY_MS.usual));
  return random() < TROUBLE.repeatedEnd ? [first, Math.round(random() * DELAY_MS.repeated)] : [first];
}

/** Not around outages: a fallback answer belongs to one request. */
function drawAskedAgain(askedAtMs: number, random: () => number): number | undefined {
  if (random() >= TROUBLE.askedAgain) return undefined;
  const [soon, later] = ASKED_AGAIN_MS;
  const { least, most } = random() < 0.5 ? soon : later;
  const againMs = Math.round(between(least, most, random));
  const aroundMs = 15 * 60_000;
  const isQuiet = [OUTAGE, TABLE_SILENT].every(
    ({ fromMs, untilMs }) => askedAtMs > untilMs + aroundMs || askedAtMs + againMs < fromMs - aroundMs,
  );
  return isQuiet ? againMs : undefined;
}

function afterOutage(atMs: number): number {
  if (atMs < OUTAGE.fromMs || atMs >= OUTAGE.untilMs) return atMs;
  const share = (atMs - OUTAGE.fromMs) / (OUTAGE.untilMs - OUTAGE.fromMs);
  return OUTAGE.untilMs + share * OUTAGE.backlogMs;
}
