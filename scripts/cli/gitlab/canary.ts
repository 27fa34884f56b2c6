/** A canary run: checks the runner, removes what an earlier run left, proves both answers, and removes its own objects. */
import {
  CANARY_DESCRIPTION,
  type GitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import { isTerminal, JOB_STATUSES } from '../../../functions/core/gitlab/gitlab.ts';
import type {
  CanaryJob,
  CanaryProject,
  CanaryRunner,
  GitLabPipelines,
} from '../../../functions/core/gitlab/pipelines.ts';
import type { CanaryOutcome, RouterPatience } from '../../../functions/core/ledger/controller.ts';
import { RelayError } from '../../../relay/relay-error.ts';
import type { Router } from '../../../relay/router/router.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import type { Clock } from '../../local/clock.ts';
import { type CanaryStreams, openCanaryStreams, type SentAnswer } from './canary-streams.ts';
import { CANARY_JOBS, isToRun, judgeCanaryJobs } from './canary-verdict.ts';
import { addScope } from './setup-controller.ts';
import { madeOnce, SetupLines } from './setup-step.ts';

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
  if (removed.all.some(({ standing }) => standing === 'wrong')) {
    lines.all.push(...removed.all);
    return undefined;
  }
  try {
    return await proof.step(() => prove(canary, site, proof));
  } finally {
    canary.tell('taking the second controller away');
    await remove();
    lines.all.push(...proof.all, ...removed.all);
  }
}

/** A project and a runner with which the canary disturbs no other jobs. */
interface CanarySite {
  readonly project: CanaryProject & { readonly default_branch: string };
  readonly runner: CanaryRunner;
  /** The runner's only one. */
  readonly tag: string;
}

const OWN_RUNNER = `the canary needs a runner of the instance of its own: one tag, ${CANARY_TAG}, that no other job has, and none without tags`;

/** Reads runner and project, and refuses if jobs of others could meet the canary. Changes nothing. */
async function readSite(canary: Canary, lines: SetupLines): Promise<CanarySite> {
  const { gitlab, pipelines } = canary;
  const project = lines.need('project', await pipelines.project(canary.projectAsked));
  const { path_with_namespace: path, default_branch } = project;
  if (default_branch == null)
    throw lines.stop('project', `${path} is empty`, 'push the .gitlab-ci.yml of docs/platform.md to it');
  const runnerId = canary.runnerId ?? (await runnerWithTag(canary, lines));
  const runner = lines.need('runner', await pipelines.runner(runnerId));
  const [tag, ...more] = runner.tag_list;
  const refuse = (what: string): Error => lines.stop('runner', `runner ${what}`, OWN_RUNNER);
  if (runner.runner_type !== 'instance_type')
    throw refuse(`${runnerId} is one of a group or project: it cannot be scoped`);
  if (runner.run_untagged)
    throw refuse(`${runnerId} takes jobs without tags: those of other projects would meet the canary`);
  if (tag === undefined || more.length > 0)
    throw refuse(
      `${runnerId} has ${runner.tag_list.length} tags: jobs of other projects with one of them would meet the canary`,
    );
  if (runner.paused === true)
    throw lines.stop('runner', `runner ${runnerId} is paused`, 'let it run: it takes the two jobs');
  const same = lines.need('runner', await gitlab.instanceRunners([tag]));
  const others = same.filter(({ id }) => id !== runnerId).map(({ id }) => id);
  if (others.length > 0)
    throw refuse(`${others.join(', ')} has the tag ${tag} as well and may take the canary's jobs unasked`);
  const taken = lines.need('runner', await pipelines.projectsOf(runnerId));
  const foreign = taken.filter((each) => each !== path);
  if (foreign.length > 0)
    throw refuse(
      `${runnerId} took jobs of ${foreign.slice(0, 3).join(', ')} lately: such jobs would meet the canary`,
    );
  return { project: { ...project, default_branch }, runner, tag };
}

async function runnerWithTag({ gitlab, runnerTag }: Canary, lines: SetupLines): Promise<number> {
  const found = lines.need('runner', await gitlab.instanceRunners([runnerTag]));
  const [first, ...others] = found;
  if (first === undefined)
    throw lines.stop('runner', `no runner of the instance has the tag ${runnerTag}`, OWN_RUNNER);
  if (others.length === 0) return first.id;
  const ids = found.map(({ id }) => id).join(', ');
  throw lines.stop('runner', `several runners have the tag ${runnerTag}: ${ids}`, OWN_RUNNER);
}

/**
 * Removes what a canary made, this one or one that was killed. The controller is disabled first, so that nothing
 * waits for it. Jobs that still wait are canceled.
 */
export async function removeCanary(
  { gitlab, pipelines }: Pick<Canary, 'gitlab' | 'pipelines'>,
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
  for (const pipelineId of need('controller', await pipelines.unfinished(projectId))) {
    const jobs = need('controller', await pipelines.jobs(projectId, pipelineId));
    if (!jobs.every(({ name }) => CANARY_JOBS.includes(name))) continue;
    need('controller', await pipelines.cancel(projectId, pipelineId));
    lines.add('pipeline', 'done', `canceled pipeline ${pipelineId}`);
  }
}

async function prove(
  canary: Canary,
  site: CanarySite,
  lines: SetupLines,
): Promise<CanaryOutcome | undefined> {
  const { gitlab, tell, clock } = canary;
  const { version, kas } = lines.need('version', await gitlab.metadata());
  const url = canary.routerUrl ?? kas?.externalUrl;
  if (url == null)
    throw lines.stop('router', 'GitLab tells no address of its job router', 'say it with --router');
  tell('making the second controller');
  const { controllerId, token } = await makeController(gitlab, lines);
  const router = openRouter(canary, url, token, lines);
  const streams = openCanaryStreams({ router, schema: canary.schema, clock, random: Math.random });
  try {
    tell('opening streams to the job router');
    const failure = await streams.opened(STREAMS_MS_MAX);
    if (failure !== undefined)
      throw lines.stop('router', `no stream to ${url}: ${failure}`, 'npm run doctor shows the way there');
    // From now on GitLab asks about this runner's jobs, and obeys. Streams must be open before.
    lines.need('scope', await addScope(gitlab, controllerId, site.runner.id));
    lines.need('scope', await gitlab.setState(controllerId, 'enabled'));
    const first = new SetupLines();
    const { outcome, patience } = await runJobs(canary, site, streams, version, first);
    if (canary.patienceMs === 0 || patience?.gaveUp !== true) {
      lines.all.push(...first.all);
      return outcome;
    }
    // The job that the router gave up has failed: that says nothing about "admitted".
    tell('the router gave up; once more, answered at once');
    addPatience(patience, lines);
    const second = await runJobs({ ...canary, patienceMs: 0 }, site, streams, version, lines);
    return second.outcome && { ...second.outcome, patience };
  } finally {
    // Requests until the controller is disabled get responses.
    await gitlab.setState(controllerId, 'disabled');
    await streams.close();
  }
}

/** Makes a controller in dry run and without a scope: GitLab asks it about nothing yet. */
async function makeController(gitlab: GitLabAdministration, lines: SetupLines) {
  const made = await madeOnce(
    async () => {
      const all = await gitlab.controllers();
      if (!all.ok) return all;
      return { ok: true, value: all.value.find(({ description }) => description === CANARY_DESCRIPTION) };
    },
    () => gitlab.createController(CANARY_DESCRIPTION),
  );
  const { id: controllerId } = lines.need('controller', made);
  // A token whose value is lost goes with the controller.
  const { token } = lines.need('controller', await gitlab.createToken(controllerId, CANARY_DESCRIPTION));
  return { controllerId, token };
}

function openRouter({ routerAt }: Canary, url: string, token: string, lines: SetupLines): Router {
  try {
    return routerAt(url, token);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    throw lines.stop('router', error.message, 'look at --router and TOLLGATE_CA_FILE');
  }
}

interface JobsRun {
  readonly outcome?: CanaryOutcome;
  readonly patience?: RouterPatience;
}

/** Runs the two jobs once, answers for them, and judges what became of them. */
async function runJobs(
  canary: Canary,
  site: CanarySite,
  streams: CanaryStreams,
  gitlabVersion: string,
  lines: SetupLines,
): Promise<JobsRun> {
  const { pipelines, patienceMs } = canary;
  streams.expect();
  const started = await lines.step(() => startJobs(canary, site, lines));
  if (started === undefined) return {};
  const number = Math.floor(Math.random() * 2 ** 32).toString(16);
  const text = `tollgate canary ${number}: this job was to be rejected`;
  streams.know(
    new Map(
      started.jobs.map((job) => [
        job.id,
        isToRun(job)
          ? { answer: { outcome: 'admitted' }, afterMs: patienceMs }
          : { answer: { outcome: 'rejected', reason: text }, afterMs: 0 },
      ]),
    ),
  );
  const ended = await lines.step(() => waitForJobs(canary, site.project.id, started, lines));
  if (ended === undefined) return {};
  const evidence = async (job: CanaryJob | undefined) => {
    if (job === undefined) throw new Error('the pipeline has lost one of its jobs');
    const said =
      job.status === 'failed'
        ? await pipelines.failureMessage(site.project.path_with_namespace, job.id)
        : undefined;
    return { job, sent: streams.sent.get(job.id), message: said?.ok === true ? said.value : undefined };
  };
  const runs = await evidence(ended.find(isToRun));
  const fails = await evidence(ended.find((job) => !isToRun(job)));
  const patience = routerPatience(patienceMs, runs.sent);
  if (patience !== undefined) addPatience(patience, lines);
  const { admitted, rejected } = judgeCanaryJobs(runs, fails, text, lines);
  addOthers(streams, lines);
  // A run without requests does not contradict an earlier proof.
  if (admitted === 'unreached' && rejected === 'unreached') return {};
  const measured = patience !== undefined && { patience };
  const outcome: CanaryOutcome = {
    ...{ checkedAtMs: canary.clock.nowMs(), admitted, rejected, gitlabVersion },
    ...{ descriptors: canary.schema.hash, runnerId: site.runner.id },
    ...measured,
  };
  return { outcome, ...measured };
}

interface StartedJobs {
  readonly pipelineId: number;
  readonly jobs: readonly CanaryJob[];
}

/** Starts the pipeline of the default branch: two jobs, both for the canary's runner. */
async function startJobs({ pipelines }: Canary, site: CanarySite, lines: SetupLines): Promise<StartedJobs> {
  const { project, tag } = site;
  const { id: pipelineId } = lines.need(
    'pipeline',
    await pipelines.start(project.id, project.default_branch),
  );
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

/** Undefined: not measured, no request came, or delivery is unknown. */
function routerPatience(keptMs: number, sent: SentAnswer | undefined): RouterPatience | undefined {
  if (keptMs === 0 || sent === undefined) return undefined;
  if (sent.gaveUpAfterMs !== undefined) return { waitedMs: Math.floor(sent.gaveUpAfterMs), gaveUp: true };
  return sent.heard ? { waitedMs: keptMs, gaveUp: false } : undefined;
}

function addPatience({ waitedMs, gaveUp }: RouterPatience, lines: SetupLines): void {
  const seconds = waitedMs / 1_000;
  lines.add(
    'patience',
    'right',
    gaveUp
      ? `the router gave up after ${seconds} s: whatever waits for a slot must be answered before`
      : `the router waited ${seconds} s for its answer`,
  );
}

function addOthers({ others: { foreign, unreadable } }: CanaryStreams, lines: SetupLines): void {
  if (unreadable > 0)
    lines.add(
      'router',
      'wrong',
      `${unreadable} questions could not be read with these descriptors`,
      'npm run proto:sync -- --ref v<version of KAS>',
    );
  if (foreign > 0)
    lines.add(
      'runner',
      'wrong',
      `${foreign} jobs of others were asked about, and admitted`,
      'give the canary a runner of its own',
    );
}
