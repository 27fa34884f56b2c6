/** A canary run: checks the runner, removes what an earlier run left, proves both answers, and removes its own objects. */
import {
  CANARY_DESCRIPTION,
  type GitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import { isTerminal, JOB_STATUSES } from '../../../functions/core/gitlab/gitlab.ts';
import type { CanaryJob, CanaryProject, GitLabPipelines } from '../../../functions/core/gitlab/pipelines.ts';
import type { CanaryOutcome, RouterPatience } from '../../../functions/core/ledger/controller.ts';
import { RelayError } from '../../../relay/relay-error.ts';
import type { Router } from '../../../relay/router/router.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import type { Clock } from '../../local/clock.ts';
import { type CanaryStreams, openCanaryStreams } from './canary-streams.ts';
import { CANARY_JOBS, isToRun, judgeCanaryJobs } from './canary-verdict.ts';
import { addScope } from './setup-controller.ts';
import { madeOnce, mapped, SetupLines } from './setup-step.ts';

/** Default tag of the runner that only the canary uses. */
export const CANARY_TAG = 'tollgate-canary';

export interface Canary {
  readonly gitlab: GitLabAdministration;
  readonly pipelines: GitLabPipelines;
  /** Number or path. */
  readonly projectAsked: string;
  readonly runnerId: number | undefined;
  readonly runnerTag: string;
  /** Undefined: GitLab's own. */
  readonly routerUrl: string | undefined;
  /** The schema of our responses, which the run proves. */
  readonly schema: WireSchema;
  /** @throws {RelayError} for an address or files that are wrong. */
  readonly routerAt: (url: string, token: string) => Router;
  /** From the start of the pipeline to the end of both jobs. */
  readonly waitMs: number;
  /** Time that the admitted job's request is kept open, to measure the router timeout. 0: not measured. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly tell: (text: string) => void;
}

/** A token that was just made is known to the router within moments. */
const STREAMS_MS_MAX = 30_000;

/** @returns undefined if the jobs proved neither answer. */
export async function runCanary(canary: Canary, lines: SetupLines): Promise<CanaryOutcome | undefined> {
  const site = await lines.step(() => readSite(canary, lines));
  if (site === undefined) return undefined;
  // Removed settings are listed after the proof.
  const [removed, proof] = [new SetupLines(), new SetupLines()];
  const remove = () => removed.step(() => removeCanary(canary, site.project.id, removed));
  await remove();
  try {
    if (removed.has('wrong')) return undefined;
    return await proof.step(() => prove(canary, site, proof));
  } finally {
    canary.tell('taking the second controller away');
    if (!removed.has('wrong')) await remove();
    lines.all.push(...proof.all, ...removed.all);
  }
}

/** A project and a runner with which the canary disturbs no other jobs. */
interface CanarySite {
  readonly project: CanaryProject & { readonly default_branch: string };
  readonly runnerId: number;
  /** The runner's only one. */
  readonly tag: string;
}

const OWN_RUNNER = `the canary needs a runner of the instance of its own: one tag, ${CANARY_TAG}, that no other job has, and none without tags`;

/** Reads runner and project, and refuses if jobs of others could meet the canary. Changes nothing. */
async function readSite(canary: Canary, lines: SetupLines): Promise<CanarySite> {
  const { gitlab, pipelines, runnerTag } = canary;
  const project = lines.need('project', await pipelines.project(canary.projectAsked));
  const { path_with_namespace: path, default_branch } = project;
  if (default_branch == null)
    throw lines.stop('project', `${path} is empty`, 'push the .gitlab-ci.yml of docs/platform.md to it');
  const refuse = (what: string): Error => lines.stop('runner', what, OWN_RUNNER);
  let { runnerId } = canary;
  if (runnerId === undefined) {
    const ids = lines.need('runner', await gitlab.instanceRunners([runnerTag])).map(({ id }) => id);
    if (ids.length > 1) throw refuse(`several runners have the tag ${runnerTag}: ${ids.join(', ')}`);
    [runnerId] = ids;
  }
  if (runnerId === undefined) throw refuse(`no runner of the instance has the tag ${runnerTag}`);
  const runner = lines.need('runner', await pipelines.runner(runnerId));
  const [tag = '', ...more] = runner.tag_list;
  const wrong = [
    runner.runner_type !== 'instance_type' && 'is one of a group or project: it cannot be scoped',
    runner.run_untagged && 'takes jobs without tags: those of other projects would meet the canary',
    (tag === '' || more.length > 0) &&
      `has ${runner.tag_list.length} tags: jobs of other projects with one of them would meet the canary`,
    runner.paused && 'is paused: let it run, it takes the two jobs',
  ].find((what) => typeof what === 'string');
  if (wrong !== undefined) throw refuse(`runner ${runnerId} ${wrong}`);
  const same = lines.need('runner', await gitlab.instanceRunners([tag]));
  const other = same.find(({ id }) => id !== runnerId);
  if (other !== undefined)
    throw refuse(`runner ${other.id} has the tag ${tag} as well and may take the canary's jobs unasked`);
  const taken = lines.need('runner', await pipelines.projectsOf(runnerId));
  const foreign = taken.find((each) => each !== path);
  if (foreign !== undefined)
    throw refuse(`runner ${runnerId} took jobs of ${foreign} lately: such jobs would meet the canary`);
  return { project: { ...project, default_branch }, runnerId, tag };
}

/**
 * Removes what a canary made, this one or one that was killed. The controller is disabled first, so that nothing
 * waits for it. Jobs that still wait are canceled.
 */
export async function removeCanary(
  { gitlab, pipelines }: Canary,
  projectId: number,
  lines: SetupLines,
): Promise<void> {
  const need: SetupLines['need'] = (part, answer) => {
    if (answer.ok) return answer.value;
    const remedy = `${answer.refusal.remedy}; tollgate gitlab canary --cleanup takes away what is left`;
    return lines.need(part, { ok: false, refusal: { ...answer.refusal, remedy } });
  };
  for (const { id, description, state } of need('controller', await gitlab.controllers())) {
    if (description !== CANARY_DESCRIPTION) continue;
    if (state !== 'disabled') need('controller', await gitlab.setState(id, 'disabled'));
    for (const token of need('controller', await gitlab.tokens(id)))
      need('controller', await gitlab.revokeToken(id, token.id));
    need('controller', await gitlab.deleteController(id));
    lines.add('controller', 'done', `controller ${id} of the canary is gone, with scope and token`);
  }
  for (const pipelineId of need('pipeline', await pipelines.unfinished(projectId))) {
    const jobs = need('pipeline', await pipelines.jobs(projectId, pipelineId));
    if (!jobs.every(({ name }) => CANARY_JOBS.includes(name))) continue;
    need('pipeline', await pipelines.cancel(projectId, pipelineId));
    lines.add('pipeline', 'done', `canceled pipeline ${pipelineId}`);
  }
}

async function prove(
  canary: Canary,
  site: CanarySite,
  lines: SetupLines,
): Promise<CanaryOutcome | undefined> {
  const { gitlab, tell, clock, schema } = canary;
  const { version, kas } = lines.need('version', await gitlab.metadata());
  const url = canary.routerUrl ?? kas?.externalUrl;
  if (url == null)
    throw lines.stop('router', 'GitLab tells no address of its job router', 'say it with --router');
  tell('making the second controller');
  // In dry run and without a scope: GitLab asks it about nothing yet.
  const made = await madeOnce(
    async () =>
      mapped(await gitlab.controllers(), (all) =>
        all.find(({ description }) => description === CANARY_DESCRIPTION),
      ),
    () => gitlab.createController(CANARY_DESCRIPTION),
  );
  const { id: controllerId } = lines.need('controller', made);
  // A token whose value is lost goes with the controller.
  const { token } = lines.need('controller', await gitlab.createToken(controllerId, CANARY_DESCRIPTION));
  const router = openRouter(canary, url, token, lines);
  const streams = openCanaryStreams({ router, schema, clock, random: Math.random });
  try {
    tell('opening streams to the job router');
    const failure = await streams.opened(STREAMS_MS_MAX);
    if (failure !== undefined)
      throw lines.stop('router', `no stream to ${url}: ${failure}`, 'npm run doctor shows the way there');
    // From now on GitLab asks about this runner's jobs, and obeys. Streams must be open before.
    lines.need('scope', await addScope(gitlab, controllerId, site.runnerId));
    lines.need('scope', await gitlab.setState(controllerId, 'enabled'));
    const first = await runJobs(canary, site, streams, lines);
    if (first === 'gave up') {
      // The job that the router gave up has failed: that says nothing about "admitted".
      tell('the router gave up; once more, answered at once');
      const patience = streams.patience();
      const second = await runJobs({ ...canary, patienceMs: 0 }, site, streams, lines);
      return typeof second === 'object' ? outcomeOf(second, patience) : undefined;
    }
    return first && outcomeOf(first, streams.patience());
  } finally {
    // Requests until the controller is disabled get responses.
    await gitlab.setState(controllerId, 'disabled');
    await streams.close();
  }

  function outcomeOf(
    found: Pick<CanaryOutcome, 'admitted' | 'rejected'>,
    patience: RouterPatience | undefined,
  ): CanaryOutcome {
    return {
      ...{ ...found, checkedAtMs: clock.nowMs(), gitlabVersion: version },
      ...{ descriptors: schema.hash, runnerId: site.runnerId },
      ...(patience !== undefined && { patience }),
    };
  }
}

function openRouter({ routerAt }: Canary, url: string, token: string, lines: SetupLines): Router {
  try {
    return routerAt(url, token);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    throw lines.stop('router', error.message, 'look at --router and TOLLGATE_CA_FILE');
  }
}

/**
 * Runs the two jobs once, answers for them, and judges what became of them. Undefined: they proved nothing, which does not
 * contradict an earlier proof. `gave up`: the router did while the request was kept open.
 */
async function runJobs(
  canary: Canary,
  site: CanarySite,
  streams: CanaryStreams,
  lines: SetupLines,
): Promise<Pick<CanaryOutcome, 'admitted' | 'rejected'> | 'gave up' | undefined> {
  const { pipelines, patienceMs } = canary;
  streams.expect();
  const started = await lines.step(() => startJobs(canary, site, lines));
  if (started === undefined) return undefined;
  const number = Math.floor(Math.random() * 2 ** 32).toString(16);
  const reason = `tollgate canary ${number}: this job was to be rejected`;
  streams.know(
    new Map(
      started.jobs.map((job) => [
        job.id,
        isToRun(job)
          ? { answer: { outcome: 'admitted' }, afterMs: patienceMs }
          : { answer: { outcome: 'rejected', reason }, afterMs: 0 },
      ]),
    ),
  );
  const ended = await lines.step(() => waitForJobs(canary, site.project.id, started, lines));
  if (ended === undefined) return undefined;
  const evidence = async (wanted: boolean) => {
    const job = ended.find((each) => isToRun(each) === wanted);
    if (job === undefined) throw new Error('the pipeline has lost one of its jobs');
    const path = site.project.path_with_namespace;
    const said = job.status === 'failed' ? await pipelines.failureMessage(path, job.id) : undefined;
    return { job, sent: streams.sent.get(job.id), message: said?.ok === true ? said.value : undefined };
  };
  const [runs, fails] = [await evidence(true), await evidence(false)];
  const patience = patienceMs > 0 ? streams.patience() : undefined;
  if (patience !== undefined) {
    const seconds = `${patience.waitedMs / 1_000} s`;
    const says = patience.gaveUp
      ? `the router gave up after ${seconds}: whatever waits for a slot must be answered before`
      : `the router waited ${seconds} for its answer`;
    lines.add('patience', 'right', says);
    if (patience.gaveUp) return 'gave up';
  }
  const found = judgeCanaryJobs(runs, fails, reason, lines);
  const { foreign, unreadable } = streams.others;
  if (unreadable > 0)
    lines.add(
      'router',
      'wrong',
      `${unreadable} questions could not be read with these descriptors`,
      'npm run proto:sync -- --ref v<version of KAS>',
    );
  if (foreign > 0)
    lines.add('runner', 'wrong', `${foreign} jobs of others were asked about, and admitted`, OWN_RUNNER);
  return found.admitted === 'unreached' && found.rejected === 'unreached' ? undefined : found;
}

interface StartedJobs {
  readonly pipelineId: number;
  readonly jobs: readonly CanaryJob[];
}

/** Starts the pipeline of the default branch: two jobs, both for the canary's runner. */
async function startJobs({ pipelines }: Canary, site: CanarySite, lines: SetupLines): Promise<StartedJobs> {
  const { project, tag } = site;
  const started = await pipelines.start(project.id, project.default_branch);
  const { id: pipelineId } = lines.need('pipeline', started);
  const jobs = lines.need('pipeline', await pipelines.jobs(project.id, pipelineId));
  const named = jobs.map(({ name }) => name).sort();
  const isRight =
    named.join() === CANARY_JOBS.toSorted().join() && jobs.every(({ tag_list }) => tag_list.join() === tag);
  if (isRight) return { pipelineId, jobs };
  // Its jobs are not the canary's, so the clean-up would leave it.
  await pipelines.cancel(project.id, pipelineId);
  throw lines.stop(
    'project',
    `the pipeline has the jobs ${named.join(', ')}; expected ${CANARY_JOBS.join(' and ')}, each with the tag ${tag}`,
    'its .gitlab-ci.yml must be the one of docs/platform.md, with the tag of the runner',
  );
}

const POLL_MS = 2_000;

/** Returns the jobs when both have ended, at the timeout, or on abort. */
async function waitForJobs(
  { pipelines, clock, waitMs, stop, tell }: Canary,
  projectId: number,
  { pipelineId, jobs }: StartedJobs,
  lines: SetupLines,
): Promise<readonly CanaryJob[]> {
  const untilMs = clock.monotonicMs() + waitMs;
  const isOver = ({ status }: CanaryJob): boolean =>
    JOB_STATUSES.some((known) => known === status && isTerminal(known));
  for (let last = jobs; ; ) {
    tell(last.map(({ name, status }) => `${name} is ${status}`).join(', '));
    if (last.every(isOver) || stop.aborted || clock.monotonicMs() >= untilMs) return last;
    await clock.sleep(POLL_MS);
    last = lines.need('pipeline', await pipelines.jobs(projectId, pipelineId));
  }
}
