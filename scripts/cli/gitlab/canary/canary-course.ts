import type {
  CanaryJob,
  GitLabAdministration,
  GitLabPipelines,
} from '../../../../functions/core/gitlab/index.ts';
import type { CanaryOutcome, RouterPatience } from '../../../../functions/core/ledger/index.ts';
import { RelayError } from '../../../../relay/relay-error.ts';
import type { Router } from '../../../../relay/router/router.ts';
import type { WireSchema } from '../../../../relay/wire/schema.ts';
import type { Clock } from '../../../local/clock.ts';
import { refused, type SetupLine } from '../setup-line.ts';
import { armCanary, makeCanaryController, removeCanary } from './canary-controller.ts';
import { endedJobs, startCanaryJobs } from './canary-jobs.ts';
import { type CanaryPlace, canaryPlace } from './canary-place.ts';
import { type AskedAnswer, type CanaryStreams, openCanaryStreams } from './canary-streams.ts';
import { canaryVerdict, isToRun } from './canary-verdict.ts';

/** Plan of a canary run. */
export interface CanaryCourse {
  readonly gitlab: GitLabAdministration;
  readonly pipelines: GitLabPipelines;
  /** Number or path. */
  readonly projectAsked: string;
  readonly runnerId: number | undefined;
  readonly runnerTag: string | undefined;
  /** Undefined: as GitLab says. */
  readonly routerUrl: string | undefined;
  /** The schema of our responses, which the run proves. */
  readonly schema: WireSchema;
  /** @throws {RelayError} for an address or files that make no sense. */
  readonly routerAt: (url: string, token: string) => Router;
  /** From the start of the pipeline to the end of both jobs. */
  readonly waitMs: number;
  /** Time that the admitted job's request is kept open, to measure the router timeout. 0: not measured. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly stop: AbortSignal;
  readonly tell: (text: string) => void;
}

interface CanaryReport {
  readonly lines: readonly SetupLine[];
  /** Undefined: the jobs proved neither variant. */
  readonly outcome: CanaryOutcome | undefined;
}

/** A token that was just made is known to the router within moments. */
const STREAMS_MS_MAX = 30_000;

/** Checks, removes remains of an earlier run, proves, and always removes its own objects. */
export async function canaryCourse(course: CanaryCourse): Promise<CanaryReport> {
  const read = await canaryPlace(course);
  if ('line' in read) return { lines: [read.line], outcome: undefined };
  const { place } = read;
  const lines = [...(await removeCanary(course, place.project.id))];
  if (lines.some(({ standing }) => standing === 'wrong')) return { lines, outcome: undefined };
  let proof: CanaryReport;
  try {
    proof = await prove(course, place);
  } finally {
    course.tell('taking the second controller away');
    lines.push(...(await removeCanary(course, place.project.id)));
  }
  return { lines: [...proof.lines, ...lines], outcome: proof.outcome };
}

async function prove(course: CanaryCourse, place: CanaryPlace): Promise<CanaryReport> {
  const { gitlab, tell, clock } = course;
  const failed = (line: SetupLine): CanaryReport => ({ lines: [line], outcome: undefined });
  const metadata = await gitlab.metadata();
  if (!metadata.ok) return failed(refused('version', metadata.refusal));
  const { version, kas } = metadata.value;
  const url = course.routerUrl ?? kas?.externalUrl;
  if (url == null)
    return failed(wrong('router', 'GitLab tells no address of its job router', 'say it with --router'));
  tell('making the second controller');
  const made = await makeCanaryController(gitlab);
  if (!made.ok) return failed(refused('controller', made.refusal));
  let router: Router;
  try {
    router = course.routerAt(url, made.value.token);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return failed(wrong('router', error.message, 'look at --router and TOLLGATE_CA_FILE'));
  }
  const streams = openCanaryStreams({ router, schema: course.schema, clock, random: course.random });
  try {
    tell('opening streams to the job router');
    const trouble = await streams.opened(STREAMS_MS_MAX);
    if (trouble !== undefined)
      return failed(wrong('router', `no stream to ${url}: ${trouble}`, 'npm run doctor shows the way there'));
    const armed = await armCanary(gitlab, made.value.controllerId, place.runner.id);
    if (!armed.ok) return failed(refused('scope', armed.refusal));
    const first = await sing(course, place, streams, version);
    if (course.patienceMs === 0 || first.patience?.gaveUp !== true) return first;
    // The job that the router gave up has failed: that says nothing of "admitted".
    tell('the router gave up; once more, answered at once');
    const second = await sing({ ...course, patienceMs: 0 }, place, streams, version);
    const outcome = second.outcome && { ...second.outcome, patience: first.patience };
    return { lines: [patienceLine(first.patience), ...second.lines], outcome };
  } finally {
    // Requests until the controller is disabled get responses.
    await gitlab.setState(made.value.controllerId, 'disabled');
    await streams.close();
  }
}

async function sing(
  course: CanaryCourse,
  place: CanaryPlace,
  streams: CanaryStreams,
  gitlabVersion: string,
): Promise<CanaryReport & { readonly patience?: RouterPatience }> {
  streams.expect();
  const started = await startCanaryJobs(course.pipelines, place);
  if ('line' in started) return { lines: [started.line], outcome: undefined };
  const text = `tollgate canary ${Math.floor(course.random() * 2 ** 32).toString(16)}: this job was to be rejected`;
  streams.know(
    new Map(
      started.jobs.map((job) => [
        job.id,
        isToRun(job)
          ? { answer: { outcome: 'admitted' }, afterMs: course.patienceMs }
          : { answer: { outcome: 'rejected', reason: text }, afterMs: 0 },
      ]),
    ),
  );
  const ended = await endedJobs(course, place.project.id, started);
  if ('line' in ended) return { lines: [ended.line], outcome: undefined };
  const evidence = async (job: CanaryJob) => {
    const said =
      job.status === 'failed'
        ? await course.pipelines.failureMessage(place.project.path_with_namespace, job.id)
        : undefined;
    return { job, asked: streams.asked.get(job.id), message: said?.ok === true ? said.value : undefined };
  };
  const runs = ended.jobs.find(isToRun);
  const fails = ended.jobs.find((job) => !isToRun(job));
  if (runs === undefined || fails === undefined) throw new Error('the pipeline has lost one of its jobs');
  const { admitted, rejected, lines } = canaryVerdict(await evidence(runs), await evidence(fails), text);
  const patience = routerPatience(course.patienceMs, streams.asked.get(runs.id));
  const found = [
    ...(patience === undefined ? [] : [patienceLine(patience)]),
    ...lines,
    ...otherLines(streams),
  ];
  // A run without requests does not contradict an earlier proof.
  if (admitted === 'unreached' && rejected === 'unreached') return { lines: found, outcome: undefined };
  const outcome: CanaryOutcome = {
    ...{ checkedAtMs: course.clock.nowMs(), admitted, rejected, gitlabVersion },
    ...{ descriptors: course.schema.hash, runnerId: place.runner.id },
    ...(patience !== undefined && { patience }),
  };
  return { lines: found, outcome, ...(patience !== undefined && { patience }) };
}

/** Undefined: not measured, no request came, or delivery is unknown. */
function routerPatience(keptMs: number, asked: AskedAnswer | undefined): RouterPatience | undefined {
  if (keptMs === 0 || asked === undefined) return undefined;
  if (asked.gaveUpAfterMs !== undefined) return { waitedMs: Math.floor(asked.gaveUpAfterMs), gaveUp: true };
  return asked.heard ? { waitedMs: keptMs, gaveUp: false } : undefined;
}

const patienceLine = ({ waitedMs, gaveUp }: RouterPatience): SetupLine => ({
  part: 'patience',
  standing: 'right',
  says: gaveUp
    ? `the router gave up after ${waitedMs / 1_000} s: whatever waits for a slot must be answered before`
    : `the router waited ${waitedMs / 1_000} s for its answer`,
});

function otherLines({ others }: CanaryStreams): readonly SetupLine[] {
  const { strangers, unreadable } = others;
  return [
    ...(unreadable > 0
      ? [
          wrong(
            'router',
            `${unreadable} questions could not be read with these descriptors`,
            'npm run proto:sync -- --ref v<version of KAS>',
          ),
        ]
      : []),
    ...(strangers > 0
      ? [
          wrong(
            'runner',
            `${strangers} jobs of others were asked about, and admitted`,
            'give the canary a runner of its own',
          ),
        ]
      : []),
  ];
}

const wrong = (part: SetupLine['part'], says: string, remedy: string): SetupLine => ({
  ...{ part, says, remedy },
  standing: 'wrong',
});
