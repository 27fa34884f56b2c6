/** A canary run: removes what an earlier run left, checks the runner, proves both answers, and removes its own objects. */
import {
  CANARY_DESCRIPTION,
  type GitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import { isTerminal, JOB_STATUSES, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import type { CanaryJob, GitLabPipelines } from '../../../functions/core/gitlab/pipelines.ts';
import type { ArmOutcome, CanaryOutcome } from '../../../functions/core/ledger/controller.ts';
import { RelayError } from '../../../relay/relay-error.ts';
import type { Router } from '../../../relay/router/router.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import type { Clock } from '../../local/clock.ts';
import { openCanaryStreams } from './canary-streams.ts';
import { addScope } from './setup-controller.ts';
import { madeOnce, mapped, SetupLines } from './setup-step.ts';

export interface Canary {
  readonly gitlab: GitLabAdministration;
  readonly pipelines: GitLabPipelines;
  readonly projectAsked: string;
  readonly runnerTag: string;
  readonly routerUrl: string | undefined;
  /** The schema of our responses, which the run proves. */
  readonly schema: WireSchema;
  /** @throws {RelayError} for a wrong address. */
  readonly routerAt: (url: string, token: string) => Router;
  /** From the start of the pipeline to the end of both jobs. */
  readonly waitMs: number;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly progress: (text: string) => void;
}

const STREAMS_MS_MAX = 30_000;
const POLL_MS = 2_000;
const RUNS = 'tollgate-canary-runs';
const FAILS = 'tollgate-canary-fails';
const CANARY_JOBS: readonly string[] = [FAILS, RUNS];

/** @returns undefined if the jobs proved neither answer. */
export async function runCanary(canary: Canary, lines: SetupLines): Promise<CanaryOutcome | undefined> {
  // Removals are listed after the proof.
  const [removed, proof] = [new SetupLines(), new SetupLines()];
  const found = await lines.step(async () =>
    lines.need('project', await canary.pipelines.project(canary.projectAsked)),
  );
  if (found === undefined) return undefined;
  const remove = () => removed.step(() => removeCanary(canary, found.id, removed));
  await remove();
  try {
    if (removed.has('wrong')) return undefined;
    return await proof.step(async () => {
      if (found.default_branch == null)
        throw proof.stop('project', 'it is empty', 'push the .gitlab-ci.yml of docs/platform.md to it');
      const project = { id: found.id, path: found.path_with_namespace, branch: found.default_branch };
      return await prove(canary, project, await findRunner(canary, proof), proof);
    });
  } finally {
    if (!removed.has('wrong')) await remove();
    lines.all.push(...proof.all, ...removed.all);
  }
}

/** Of this canary, or one that was killed. It disables the controller first, so that no job waits for it. */
async function removeCanary(
  { gitlab, pipelines }: Canary,
  projectId: number,
  lines: SetupLines,
): Promise<void> {
  for (const { id, description, state } of lines.need('controller', await gitlab.controllers())) {
    if (description !== CANARY_DESCRIPTION) continue;
    if (state !== 'disabled') lines.need('controller', await gitlab.setState(id, 'disabled'));
    for (const token of lines.need('controller', await gitlab.tokens(id)))
      lines.need('controller', await gitlab.revokeToken(id, token.id));
    lines.need('controller', await gitlab.deleteController(id));
    lines.add('controller', 'done', `controller ${id} of the canary is gone, with scope and token`);
  }
  for (const pipelineId of lines.need('pipeline', await pipelines.unfinished(projectId))) {
    const jobs = lines.need('pipeline', await pipelines.jobs(projectId, pipelineId));
    if (!jobs.every(({ name }) => CANARY_JOBS.includes(name))) continue;
    lines.need('pipeline', await pipelines.cancel(projectId, pipelineId));
    lines.add('pipeline', 'done', `canceled pipeline ${pipelineId}`);
  }
}

/** Finds the runner, and refuses if jobs of others could meet the canary. Changes nothing. */
async function findRunner({ gitlab, pipelines, runnerTag }: Canary, lines: SetupLines): Promise<number> {
  const ids = lines.need('runner', await gitlab.instanceRunners([runnerTag])).map(({ id }) => id);
  const refuse = (says: string): Error =>
    lines.stop(
      'runner',
      says,
      `the canary needs a runner of the instance of its own: one tag, ${runnerTag}, that no other runner has, and no jobs without tags`,
    );
  const [id, ...more] = ids;
  if (id === undefined) throw refuse(`no runner of the instance has the tag ${runnerTag}`);
  if (more.length > 0) throw refuse(`several runners have the tag ${runnerTag}: ${ids.join(', ')}`);
  const { tag_list: tags, run_untagged, paused } = lines.need('runner', await pipelines.runner(id));
  if (run_untagged) throw refuse(`runner ${id} takes jobs without tags`);
  if (tags.length > 1) throw refuse(`runner ${id} has ${tags.length} tags`);
  if (paused) throw refuse(`runner ${id} is paused`);
  return id;
}

interface Project {
  readonly id: number;
  readonly path: string;
  readonly branch: string;
}

async function prove(
  canary: Canary,
  project: Project,
  runnerId: number,
  lines: SetupLines,
): Promise<CanaryOutcome | undefined> {
  const { gitlab, progress, clock, schema } = canary;
  const { version, kas } = lines.need('version', await gitlab.metadata());
  const url = canary.routerUrl ?? kas?.externalUrl;
  if (url == null)
    throw lines.stop('router', 'GitLab tells no address of its job router', 'add --router <url>');
  progress('making the second controller');
  // In dry run and without a scope: GitLab asks it about no job yet.
  const made = await madeOnce(
    async () =>
      mapped(await gitlab.controllers(), (all) =>
        all.find(({ description }) => description === CANARY_DESCRIPTION),
      ),
    () => gitlab.createController(CANARY_DESCRIPTION),
  );
  const { id: controllerId } = lines.need('controller', made);
  const { token } = lines.need('controller', await gitlab.createToken(controllerId, CANARY_DESCRIPTION));
  const streams = openCanaryStreams(openRouter(canary, url, token, lines), schema, clock);
  try {
    progress('opening streams to the job router');
    const failure = await streams.opened(STREAMS_MS_MAX);
    if (failure !== undefined)
      throw lines.stop('router', `no stream to ${url}: ${failure}`, 'npm run doctor shows the way there');
    // From now on GitLab asks about this runner's jobs, and obeys. Streams must be open before.
    lines.need('scope', await addScope(gitlab, controllerId, runnerId));
    lines.need('scope', await gitlab.setState(controllerId, 'enabled'));
    const found = await runJobs(canary, project, streams, lines);
    return (
      found && {
        ...{ ...found, checkedAtMs: clock.nowMs(), gitlabVersion: version },
        ...{ descriptors: schema.hash, runnerId },
      }
    );
  } finally {
    // Requests until the controller is disabled get responses.
    await gitlab.setState(controllerId, 'disabled');
    await streams.close();
  }
}

function openRouter({ routerAt }: Canary, url: string, token: string, lines: SetupLines): Router {
  try {
    return routerAt(url, token);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    throw lines.stop('router', error.message, 'check --router and TOLLGATE_CA_FILE');
  }
}

/** Runs the two jobs, answers for them, and judges both. Undefined: they prove nothing, which does not contradict an earlier proof. */
async function runJobs(
  canary: Canary,
  project: Project,
  streams: ReturnType<typeof openCanaryStreams>,
  lines: SetupLines,
): Promise<Pick<CanaryOutcome, 'admitted' | 'rejected'> | undefined> {
  const { pipelines, runnerTag } = canary;
  const started = await pipelines.start(project.id, project.branch);
  const { id: pipelineId } = lines.need('pipeline', started);
  const jobs = lines.need('pipeline', await pipelines.jobs(project.id, pipelineId));
  const [fails, runs] = jobs.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const named = jobs.map(({ name }) => name).sort();
  const hasTags = jobs.every(({ tag_list }) => tag_list.join() === runnerTag);
  if (fails === undefined || runs === undefined || named.join() !== CANARY_JOBS.join() || !hasTags) {
    // Its jobs are not the canary's, so the clean-up would leave it.
    await pipelines.cancel(project.id, pipelineId);
    throw lines.stop(
      'project',
      `the pipeline has the jobs ${named.join(', ')}; expected ${CANARY_JOBS.join(' and ')}, each with the tag ${runnerTag}`,
      'use the .gitlab-ci.yml of docs/platform.md, with the tag of the runner',
    );
  }
  const reason = `tollgate canary ${Date.now().toString(16)}: this job was to be rejected`;
  streams.expect(
    new Map([
      [runs.id, { outcome: 'admitted' }],
      [fails.id, { outcome: 'rejected', reason }],
    ]),
  );
  const ended = await waitForJobs(canary, project.id, pipelineId, lines);
  const evidenceOf = async ({ id }: CanaryJob): Promise<Evidence> => {
    const job = ended.find((each) => each.id === id);
    if (job === undefined) throw new Error('the pipeline has lost one of its jobs');
    const said = job.status === 'failed' ? await pipelines.failureMessage(project.path, id) : undefined;
    const message = said?.ok === true ? said.value : undefined;
    return { job, isAsked: streams.asked.has(id), isReceived: streams.received.has(id), message };
  };
  const judged = (part: 'admitted' | 'rejected', [outcome, says, remedy]: Verdict): ArmOutcome => {
    lines.add(part, outcome === 'proven' ? 'right' : 'wrong', says, remedy);
    return outcome;
  };
  const [ran, failed] = [await evidenceOf(runs), await evidenceOf(fails)];
  const admitted = judged('admitted', unasked(ran) ?? admittedVerdict(ran, failed));
  const rejected = judged('rejected', unasked(failed) ?? rejectedVerdict(failed, reason));
  const unreadable = streams.unreadable();
  if (unreadable > 0) lines.add('router', 'wrong', `${unreadable} requests could not be read`, DESCRIPTORS);
  return admitted === 'unreached' && rejected === 'unreached' ? undefined : { admitted, rejected };
}

/** Returns the jobs when both have ended, at the timeout, or on abort. */
async function waitForJobs(
  { pipelines, clock, waitMs, stop, progress }: Canary,
  projectId: number,
  pipelineId: number,
  lines: SetupLines,
): Promise<readonly CanaryJob[]> {
  const untilMs = clock.monotonicMs() + waitMs;
  const isOver = ({ status }: CanaryJob): boolean =>
    JOB_STATUSES.some((known) => known === status && isTerminal(known));
  for (;;) {
    const jobs = lines.need('pipeline', await pipelines.jobs(projectId, pipelineId));
    progress(jobs.map(({ name, status }) => `${name} is ${status}`).join(', '));
    if (jobs.every(isOver) || stop.aborted || clock.monotonicMs() >= untilMs) return jobs;
    await clock.sleep(POLL_MS);
  }
}

interface Evidence {
  readonly job: CanaryJob;
  /** GitLab asked about it, and the router received our response. */
  readonly isAsked: boolean;
  readonly isReceived: boolean;
  readonly message: string | undefined;
}

type Verdict = readonly [outcome: ArmOutcome, says: string, remedy?: string];

const DESCRIPTORS =
  'these descriptors are not of this GitLab: npm run proto:sync -- --ref v<version of KAS>, then the canary again; do not arm';
const BYPASS =
  'let the runner use the job router (FF_USE_JOB_ROUTER): tollgate fleet ls; GitLab needs the flag job_router_admission_control';
const NO_RUNNER =
  'start the runner, check its tag and that it may take jobs of this project; or give it more time with --wait';
const ANOTHER =
  'another controller may have rejected it: let its rules pass this project, then the canary again';

/** Undefined: GitLab asked about the job, and it has ended. */
function unasked(evidence: Evidence): Verdict | undefined {
  const { id, status } = evidence.job;
  if (status !== 'success' && status !== 'failed')
    return ['unreached', `job ${id} is ${status}: no runner took it`, NO_RUNNER];
  if (evidence.isAsked) return undefined;
  return hasRun(evidence)
    ? ['bypassed', `job ${id} ran and GitLab never asked about it`, BYPASS]
    : ['unreached', `job ${id} failed before GitLab asked: ${causeOf(evidence)}`, NO_RUNNER];
}

/** @param rejected - if it ran, GitLab took each response for the other */
function admittedVerdict(evidence: Evidence, rejected: Evidence): Verdict {
  const { id } = evidence.job;
  if (hasRun(evidence)) return ['proven', `we admitted job ${id}, and it ran`];
  if (!evidence.isReceived || (rejected.isAsked && hasRun(rejected)))
    return ['contrary', `"admitted" failed job ${id}`, DESCRIPTORS];
  return ['unreached', `we admitted job ${id}, and it failed: ${causeOf(evidence)}`, ANOTHER];
}

/** @param reason - our text, by which the rejected job is recognised */
function rejectedVerdict(evidence: Evidence, reason: string): Verdict {
  const { job, message } = evidence;
  const rejected = `we rejected job ${job.id}, and it`;
  if (hasRun(evidence)) return ['contrary', `${rejected} ran`, DESCRIPTORS];
  if (message !== undefined && !message.includes(reason))
    return ['unreached', `${rejected} failed for another reason: ${message}`, ANOTHER];
  return ['proven', `${rejected} failed${message === undefined ? '' : ' with our text'}`];
}

/** A job that failed on the runner has run, too: the router let it through. */
const hasRun = ({ job }: Evidence): boolean =>
  job.status === 'success' || (job.status === 'failed' && job.failure_reason !== REJECTED_BY_ROUTER);

const causeOf = ({ job, message }: Evidence): string => message ?? job.failure_reason ?? job.status;
