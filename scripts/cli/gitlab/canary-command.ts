/** A canary run: removes what an earlier run left, checks the runner, proves both answers, and removes its own objects. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  CANARY_DESCRIPTION,
  type CanaryJob,
  createGitLabAdministration,
} from '../../../functions/core/gitlab/administration.ts';
import { isTerminal, JOB_STATUSES, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import {
  type ArmResult,
  type CanaryOutcome,
  dynamoCanaryOutcomes,
} from '../../../functions/core/ledger/controller.ts';
import { LedgerError } from '../../../functions/core/store/table-failure.ts';
import type { RouterResponse } from '../../../relay/exchange.ts';
import { RelayError } from '../../../relay/relay-error.ts';
import type { Router } from '../../../relay/router/router.ts';
import { loadSchema, schemaTitle, type WireSchema } from '../../../relay/wire/schema.ts';
import { machineClock } from '../../local/clock.ts';
import { EXIT, standIn, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, orElse, print, required, text, type ValuesOf, whole } from '../../terminal/define.ts';
import { commandAuthority } from '../command-fetch.ts';
import { TABLE_FLAGS } from '../ledger-flags.ts';
import { openIfAny, openTableAccess, type TableAccess } from '../open-ledger.ts';
import { neededGitLab, readGitLabPlace } from '../reconcile/gitlab-flags.ts';
import { canaryRouter, openCanaryStreams } from './canary-streams.ts';
import { addScope } from './setup-controller.ts';
import { exitOf, linesText, makeOnce, SetupLines } from './setup-flags.ts';

const PROTO = 'gitlab.binpb';
const DEADLINE_MS = 60_000;
const STREAMS_MS_MAX = 30_000;

const FLAGS = {
  ...neededGitLab("holds an administrator's token of scope api (admin_mode where Admin Mode is on)"),
  project: required(text('<path>', "the canary's project, by path or number")),
  'runner-tag': orElse(text('<tag>', 'the tag of its runner'), 'tollgate-canary'),
  router: text('<url>', 'of the job router (default: as GitLab says)'),
  proto: text('<file>', `descriptors of your GitLab's version (default: ${PROTO}, else placeholders)`),
  wait: orElse(text('<seconds>', 'the longest time for the jobs', whole(1, 3_600)), 300),
  ...TABLE_FLAGS,
};

const canaryCommand = command({
  name: 'gitlab canary',
  about: `It makes a second runner controller, enabled and scoped to one runner, and answers for it from here with the descriptors of the
relays. It starts the pipeline of a project whose .gitlab-ci.yml has the canary's two jobs, reads both, and removes the controller,
its scope and its token. The next run removes what a killed run left.

No other job may meet it: the runner must be one of the instance with one tag and take no untagged jobs. docs/platform.md says how to
make it, and has the .gitlab-ci.yml. The outcome is stored in the table: tollgate doctor and tollgate controller enable use it, until
GitLab or the descriptors change.`,
  flags: FLAGS,
  examples: [
    'tollgate gitlab canary --gitlab https://gitlab.example.com --token-file admin-token --project platform/tollgate-canary',
  ],
  exits: { 0: 'both proven', 1: 'GitLab does not answer', 2: 'not proven or refused' },
  run: async ({ flags }, io) => {
    const canary = readCanary(flags, io);
    const lines = new SetupLines();
    // Opened before anything is changed at GitLab.
    const table = await openIfAny(standIn(io, openTableAccess), flags, io);
    try {
      const outcome = await runCanary(canary, lines);
      const proven = outcome?.admitted === 'proven' && outcome.rejected === 'proven';
      const end = proven
        ? `Both answers are proven on GitLab ${outcome.gitlabVersion} with ${schemaTitle(canary.schema)}.\n`
        : 'Not proven.\n';
      const failure = outcome && (table.known ? await storeOutcome(table.value, outcome) : table.why);
      if (failure !== undefined) io.err(`Not kept for the doctor: ${failure}.\n`);
      const kept = outcome !== undefined && failure === undefined;
      const body = { proven, outcome: outcome ?? null, kept, lines: lines.all };
      print(io, flags, body, () => linesText(lines.all, io) + end);
      const code = exitOf(lines.all);
      return code === EXIT.ok && !proven ? EXIT.wouldReject : code;
    } finally {
      if (table.known) await table.value.close();
    }
  },
});

/** @returns why the outcome could not be stored, or undefined. */
const storeOutcome = (table: TableAccess, outcome: CanaryOutcome): Promise<string | undefined> =>
  dynamoCanaryOutcomes(table)
    .write(outcome)
    .then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof LedgerError) return error.message;
        throw error;
      },
    );

type Canary = ReturnType<typeof readCanary>;

/** @throws {UsageError} naming the flag, or for a file that holds no descriptors. */
function readCanary(flags: ValuesOf<typeof FLAGS>, io: TerminalIo) {
  const calls = { ...readGitLabPlace(flags, io), deadlineMs: DEADLINE_MS };
  const own = join(io.root, PROTO);
  const file = flags.proto === undefined ? existsSync(own) && own : resolve(io.cwd, flags.proto);
  const schema = readSchema(file || undefined);
  const authority = commandAuthority(io);
  let shown = '';
  return {
    gitlab: createGitLabAdministration(calls),
    projectAsked: flags.project,
    runnerTag: flags['runner-tag'],
    routerUrl: flags.router,
    schema,
    routerAt: (url: string, token: string): Router => canaryRouter(url, token, schema, authority),
    waitMs: flags.wait * 1_000,
    clock: { ...standIn(io, machineClock), nowMs: io.nowMs },
    stop: standIn(io, stopOnSignal)(),
    progress: (line: string): void => {
      if (io.progress && line !== shown) io.err(`${line}\n`);
      shown = line;
    },
  };
}

function readSchema(file: string | undefined): WireSchema {
  try {
    return loadSchema(file);
  } catch (error) {
    throw error instanceof RelayError ? new UsageError(error.message) : error;
  }
}

export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

/** @returns undefined if the jobs proved neither answer. */
async function runCanary(canary: Canary, lines: SetupLines): Promise<CanaryOutcome | undefined> {
  const [removed, proof] = [new SetupLines(), new SetupLines()];
  const found = await lines.step(async () =>
    lines.need('project', await canary.gitlab.project(canary.projectAsked)),
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
async function removeCanary({ gitlab }: Canary, projectId: number, lines: SetupLines) {
  for (const { id, description, state } of lines.need('controller', await gitlab.controllers())) {
    if (description !== CANARY_DESCRIPTION) continue;
    if (state !== 'disabled') lines.need('controller', await gitlab.setState(id, 'disabled'));
    for (const token of lines.need('controller', await gitlab.tokens(id)))
      lines.need('controller', await gitlab.revokeToken(id, token.id));
    lines.need('controller', await gitlab.deleteController(id));
    lines.add('controller', 'done', `controller ${id} of the canary is gone, with scope and token`);
  }
  for (const pipelineId of lines.need('pipeline', await gitlab.unfinishedPipelines(projectId))) {
    const jobs = lines.need('pipeline', await gitlab.pipelineJobs(projectId, pipelineId));
    if (!jobs.every(({ name }) => CANARY_JOBS.includes(name))) continue;
    lines.need('pipeline', await gitlab.cancelPipeline(projectId, pipelineId));
    lines.add('pipeline', 'done', `canceled pipeline ${pipelineId}`);
  }
}

async function findRunner({ gitlab, runnerTag }: Canary, lines: SetupLines): Promise<number> {
  const ids = lines.need('runner', await gitlab.instanceRunners([runnerTag])).map(({ id }) => id);
  const refuse = (says: string): Error =>
    lines.stop(
      'runner',
      says,
      `the canary needs a runner of the instance of its own: one tag, ${runnerTag}, that no other runner has, and no jobs without tags`,
    );
  const [id] = ids;
  if (id === undefined) throw refuse(`no runner of the instance has the tag ${runnerTag}`);
  if (ids.length > 1) throw refuse(`several runners have the tag ${runnerTag}: ${ids.join(', ')}`);
  const { tag_list: tags, run_untagged, paused } = lines.need('runner', await gitlab.runner(id));
  if (run_untagged) throw refuse(`runner ${id} takes jobs without tags`);
  if (tags.length > 1) throw refuse(`runner ${id} has ${tags.length} tags`);
  if (paused) throw refuse(`runner ${id} is paused`);
  return id;
}

async function prove(
  canary: Canary,
  project: Parameters<typeof runJobs>[1],
  runnerId: number,
  lines: SetupLines,
): Promise<CanaryOutcome | undefined> {
  const { gitlab, progress, clock, schema } = canary;
  const { version, kas } = lines.need('version', await gitlab.metadata());
  const url = canary.routerUrl ?? kas?.externalUrl;
  if (url == null)
    throw lines.stop('router', 'GitLab has no address of its job router', 'add --router <url>');
  progress('making the second controller');
  // In dry run and without a scope: GitLab asks it about no job yet.
  const made = await makeOnce(
    () => gitlab.controllers(),
    (all) => all.find(({ description }) => description === CANARY_DESCRIPTION),
    () => gitlab.createController(CANARY_DESCRIPTION),
  );
  const { id: controllerId } = lines.need('controller', made);
  const { token } = lines.need('controller', await gitlab.createToken(controllerId, CANARY_DESCRIPTION));
  const streams = openCanaryStreams(routerFor(canary, url, token, lines), schema, clock);
  try {
    progress('opening streams to the job router');
    const failure = await streams.opened(STREAMS_MS_MAX);
    if (failure !== undefined)
      throw lines.stop(
        'router',
        `no stream to ${url}: ${failure}`,
        'tollgate doctor --router shows the path step by step',
      );
    // From now on GitLab asks about this runner's jobs, and obeys. Streams must be open before.
    lines.need('scope', await addScope(gitlab, controllerId, runnerId));
    lines.need('scope', await gitlab.setState(controllerId, 'enabled'));
    const found = await runJobs(canary, project, streams, lines);
    const about = { checkedAtMs: clock.nowMs(), gitlabVersion: version, descriptors: schema.hash, runnerId };
    return found && { ...found, ...about };
  } finally {
    // Requests until the controller is disabled get responses.
    await gitlab.setState(controllerId, 'disabled');
    await streams.close();
  }
}

function routerFor({ routerAt }: Canary, url: string, token: string, lines: SetupLines): Router {
  try {
    return routerAt(url, token);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    throw lines.stop('router', error.message, 'check --router and TOLLGATE_CA_FILE');
  }
}

const POLL_MS = 2_000;
const RUNS = 'tollgate-canary-runs';
const FAILS = 'tollgate-canary-fails';
const CANARY_JOBS: readonly string[] = [FAILS, RUNS];

/** Runs the two jobs, answers for them, and judges both. Undefined: they prove nothing, which does not contradict an earlier proof. */
async function runJobs(
  canary: Canary,
  project: { readonly id: number; readonly path: string; readonly branch: string },
  streams: ReturnType<typeof openCanaryStreams>,
  lines: SetupLines,
): Promise<Pick<CanaryOutcome, 'admitted' | 'rejected'> | undefined> {
  const { gitlab, runnerTag } = canary;
  const { id: pipelineId } = lines.need('pipeline', await gitlab.startPipeline(project.id, project.branch));
  const jobs = lines.need('pipeline', await gitlab.pipelineJobs(project.id, pipelineId));
  const [fails, runs] = jobs.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const named = jobs.map(({ name }) => name).sort();
  const hasTags = jobs.every(({ tag_list }) => tag_list.join() === runnerTag);
  if (fails === undefined || runs === undefined || named.join() !== CANARY_JOBS.join() || !hasTags) {
    // Its jobs are not the canary's, so the clean-up would leave it.
    await gitlab.cancelPipeline(project.id, pipelineId);
    throw lines.stop(
      'project',
      `the pipeline has the jobs ${named.join(', ')}; expected ${CANARY_JOBS.join(' and ')}, each with the tag ${runnerTag}`,
      'use the .gitlab-ci.yml of docs/platform.md, with the tag of the runner',
    );
  }
  const reason = `tollgate canary ${Date.now().toString(16)}: this job was to be rejected`;
  const answers: readonly (readonly [number, RouterResponse])[] = [
    [runs.id, { outcome: 'admitted' }],
    [fails.id, { outcome: 'rejected', reason }],
  ];
  streams.expect(new Map(answers));
  const ended = await waitForJobs(canary, project.id, pipelineId, lines);
  const readEvidence = async ({ id }: CanaryJob): Promise<Evidence> => {
    const job = ended.find((each) => each.id === id);
    if (job === undefined) throw new Error('the pipeline has lost one of its jobs');
    const said = job.status === 'failed' ? await gitlab.failureMessage(project.path, id) : undefined;
    const message = said?.ok === true ? said.value : undefined;
    return { job, isAsked: streams.asked.has(id), isReceived: streams.received.has(id), message };
  };
  const report = (part: 'admitted' | 'rejected', [outcome, says, remedy]: Decision): ArmResult => {
    lines.add(part, outcome === 'proven' ? 'right' : 'wrong', says, remedy);
    return outcome;
  };
  const [ran, failed] = [await readEvidence(runs), await readEvidence(fails)];
  const admitted = report('admitted', judgeUnasked(ran) ?? judgeAdmitted(ran, failed));
  const rejected = report('rejected', judgeUnasked(failed) ?? judgeRejected(failed, reason));
  const unreadable = streams.unreadable();
  if (unreadable > 0) lines.add('router', 'wrong', `${unreadable} requests could not be read`, DESCRIPTORS);
  return admitted === 'unreached' && rejected === 'unreached' ? undefined : { admitted, rejected };
}

async function waitForJobs(
  { gitlab, clock, waitMs, stop, progress }: Canary,
  projectId: number,
  pipelineId: number,
  lines: SetupLines,
): Promise<readonly CanaryJob[]> {
  const untilMs = clock.monotonicMs() + waitMs;
  const isOver = ({ status }: CanaryJob): boolean =>
    JOB_STATUSES.some((known) => known === status && isTerminal(known));
  for (;;) {
    const jobs = lines.need('pipeline', await gitlab.pipelineJobs(projectId, pipelineId));
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

type Decision = readonly [outcome: ArmResult, says: string, remedy?: string];

const DESCRIPTORS =
  'these descriptors are not of this GitLab: tollgate gitlab descriptors --ref v<version of KAS>, then the canary again; do not arm';
const BYPASS =
  'let the runner use the job router (FF_USE_JOB_ROUTER): tollgate fleet ls; GitLab needs the flag job_router_admission_control';
const NO_RUNNER =
  'start the runner, check its tag and that it may take jobs of this project; or give it more time with --wait';
const ANOTHER =
  'another controller may have rejected it: let its rules pass this project, then the canary again';

/** Undefined: GitLab asked about the job, and it has ended. */
function judgeUnasked(evidence: Evidence): Decision | undefined {
  const { id, status } = evidence.job;
  if (status !== 'success' && status !== 'failed')
    return ['unreached', `job ${id} is ${status}: no runner took it`, NO_RUNNER];
  if (evidence.isAsked) return undefined;
  return hasRun(evidence)
    ? ['bypassed', `job ${id} ran and GitLab never asked about it`, BYPASS]
    : ['unreached', `job ${id} failed before GitLab asked: ${causeOf(evidence)}`, NO_RUNNER];
}

/** @param rejected - if it ran, GitLab took each response for the other */
function judgeAdmitted(evidence: Evidence, rejected: Evidence): Decision {
  const { id } = evidence.job;
  if (hasRun(evidence)) return ['proven', `we admitted job ${id}, and it ran`];
  if (!evidence.isReceived || (rejected.isAsked && hasRun(rejected)))
    return ['contrary', `"admitted" failed job ${id}`, DESCRIPTORS];
  return ['unreached', `we admitted job ${id}, and it failed: ${causeOf(evidence)}`, ANOTHER];
}

function judgeRejected(evidence: Evidence, reason: string): Decision {
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

export const commands = [canaryCommand];
