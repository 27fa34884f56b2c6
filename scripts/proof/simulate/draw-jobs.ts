/** Every job of the month, with all that will happen to it. */

import { DAY_MS } from '../../../policies/limits/calendar.ts';
import {
  between,
  drawPipeline,
  drawSeconds,
  indexAt,
  type JobKind,
  startsWithin,
} from '../../local/random.ts';
import type { DrawnPlaces, DrawnProject } from './draw-groups.ts';
import {
  ASKED_AGAIN_MS,
  DELAY_MS,
  MONTH_DAYS,
  MONTH_END_MS,
  MONTH_START_MS,
  OUTAGE,
  QUEUE_MS,
  TABLE_SILENT,
  TROUBLE,
  type WorkloadShape,
} from './workload.ts';

/** What becomes of a job if it may run. All of it is drawn before anybody asks. */
export interface PlannedJob {
  readonly jobId: number;
  readonly pipelineId: number;
  /** Index into the projects of the places. */
  readonly project: number;
  readonly kind: JobKind;
  readonly askedAtMs: number;
  /** The first answer never reaches GitLab, which asks again so many ms later. */
  readonly askedAgainMs?: number;
  readonly queueMs: number;
  /** As GitLab tells it, with three decimals; never above the timeout. */
  readonly durationSeconds: number;
  readonly fate: 'runs' | 'bypass' | 'routerFailure' | 'canceledBeforeStart' | 'vanished';
  /** When events of its end are delivered, ms after the end. Empty: lost. */
  readonly endDelaysMs: readonly number[];
  /** When "running" is delivered, ms after the end. */
  readonly lateRunningMs?: number;
}

/** 1 November 2026, counted from 1970: the month begins an hour before it does in UTC. */
const FIRST_DAY = Math.ceil(MONTH_START_MS / DAY_MS);

export function drawJobs(
  shape: WorkloadShape,
  places: DrawnPlaces,
  random: () => number,
): readonly PlannedJob[] {
  const startOf = startsWithin(MONTH_START_MS, FIRST_DAY, MONTH_DAYS);
  const jobs: PlannedJob[] = [];
  for (let pipelineId = 1; jobs.length < shape.jobs; pipelineId += 1) {
    const index = indexAt(places.weightEnds, random());
    const project = places.projects[index];
    if (project === undefined) throw new RangeError('a month needs projects');
    const pipeline = { pipelineId, project, index, random };
    const drawn = drawPipeline(startOf(random), random, (kind, atMs) => {
      const job = drawJob(pipeline, kind, atMs);
      return { job, endsAtMs: atMs + job.queueMs + job.durationSeconds * 1000 };
    });
    // A pipeline of the last evening belongs to the month that asked last.
    jobs.push(...drawn.flatMap(({ job }) => (job.askedAtMs < MONTH_END_MS ? [job] : [])));
  }
  const asked = jobs.slice(0, shape.jobs).sort((a, b) => a.askedAtMs - b.askedAtMs);
  return asked.map((job, index) => ({ ...job, jobId: index + 1 }));
}

interface Pipeline {
  readonly pipelineId: number;
  readonly project: DrawnProject;
  readonly index: number;
  readonly random: () => number;
}

function drawJob({ pipelineId, project, index, random }: Pipeline, kind: JobKind, atMs: number): PlannedJob {
  const median = project.medianSeconds.get(kind.name) ?? kind.medianSeconds;
  const ran = drawSeconds(kind, median, random);
  const fate = drawFate(random());
  const reordered = random() < TROUBLE.reordered;
  const askedAtMs = Math.round(afterOutage(atMs));
  const askedAgainMs = fate === 'bypass' ? undefined : drawAskedAgain(askedAtMs, random);
  return {
    jobId: 0,
    pipelineId,
    project: index,
    kind,
    askedAtMs,
    ...(askedAgainMs !== undefined && { askedAgainMs }),
    queueMs: Math.round(between(QUEUE_MS.least, QUEUE_MS.most, random)),
    durationSeconds: Math.round(ran * 1000) / 1000,
    fate,
    endDelaysMs: fate === 'vanished' ? [] : drawDelays(reordered, random),
    ...(reordered && { lateRunningMs: Math.round(random() * DELAY_MS.reordered) }),
  };
}

function drawFate(share: number): PlannedJob['fate'] {
  let until = 0;
  for (const fate of ['bypass', 'routerFailure', 'canceledBeforeStart', 'vanished'] as const) {
    until += TROUBLE[fate];
    if (share < until) return fate;
  }
  return 'runs';
}

function drawDelays(reordered: boolean, random: () => number): readonly number[] {
  if (random() < TROUBLE.lostEnd) return [];
  const first = Math.round(random() * (reordered ? DELAY_MS.reordered : DELAY_MS.usual));
  return random() < TROUBLE.repeatedEnd ? [first, Math.round(random() * DELAY_MS.repeated)] : [first];
}

/** Not where GitLab or the table is silent: what the fallback answers belongs to one question. */
function drawAskedAgain(askedAtMs: number, random: () => number): number | undefined {
  if (random() >= TROUBLE.askedAgain) return undefined;
  const [soon, later] = ASKED_AGAIN_MS;
  const { least, most } = random() < 0.5 ? soon : later;
  const againMs = Math.round(between(least, most, random));
  const aroundMs = 15 * 60_000;
  const quiet = [OUTAGE, TABLE_SILENT].every(
    ({ fromMs, untilMs }) => askedAtMs > untilMs + aroundMs || askedAtMs + againMs < fromMs - aroundMs,
  );
  return quiet ? againMs : undefined;
}

/** What would have asked while GitLab was away asks afterwards, in the same order, within an hour. */
function afterOutage(atMs: number): number {
  if (atMs < OUTAGE.fromMs || atMs >= OUTAGE.untilMs) return atMs;
  const share = (atMs - OUTAGE.fromMs) / (OUTAGE.untilMs - OUTAGE.fromMs);
  return OUTAGE.untilMs + share * OUTAGE.backlogMs;
}
