import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isTerminal, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { machineClock, stoppable, type WallClock } from '../clock.ts';
import { serveOnLoopback } from '../loopback.ts';
import { checksum, seededRandom } from '../random.ts';
import type { JobQuestion } from '../router/messages.ts';
import { jobHookBody } from './bodies.ts';
import { ControllerTokenBook, type LocalController } from './controllers.ts';
import type { InstanceSettings } from './instance.ts';
import { PlaceBook } from './places.ts';
import { restApp } from './rest-app.ts';
import { type LocalCiProject, routerSideOf } from './runners.ts';
import {
  type GitLabState,
  type HookFaultShares,
  JobBook,
  type JobEnding,
  type JobLife,
  LocalGitLabFaults,
  type LocalJob,
  type LocalRunner,
  type NewJob,
} from './state.ts';
import {
  type GitLabVersion,
  GroupHookBook,
  type HookMessage,
  hookRequester,
  hookSender,
  uuidFrom,
} from './webhooks.ts';

export interface LocalGitLabOptions {
  readonly clock?: WallClock;
  /** Dates webhooks, where jobs live on a faster clock: receivers compare with the real time. @default `clock` */
  readonly wireClock?: Pick<WallClock, 'nowMs'>;
  readonly random: () => number;
  readonly token: string;
  readonly groupTokens?: ReadonlyMap<string, string>;
  readonly hookFor?: (projectPath: string) => { readonly url: string; readonly signingToken: string };
  readonly version?: GitLabVersion;
  readonly deliver?: (request: Request) => Promise<Response>;
  readonly instanceUrl?: string;
  readonly hookFaults?: HookFaultShares;
  readonly controllers?: readonly LocalController[];
  readonly administration?: InstanceSettings;
  readonly projects?: readonly LocalCiProject[];
}

interface JobCourse {
  readonly runner: LocalRunner;
  readonly runsMs: number;
  readonly ending?: JobEnding;
}

const REJECTED_MS = 90;

const NO_HOOK_FAULTS: HookFaultShares = { lose: 0, repeat: 0 };

export type LocalGitLab = ReturnType<typeof createLocalGitLab>;

export function createLocalGitLab(options: LocalGitLabOptions) {
  const { version = '19.4', random, administration: settings = {}, projects = [] } = options;
  const { instanceUrl = 'http://gitlab.localhost', deliver = fetch } = options;
  const clock = stoppable(options.clock ?? machineClock);
  const wireNowMs = (): number => (options.wireClock ?? clock).nowMs();
  const faults = new LocalGitLabFaults();
  const jobs = new JobBook();
  const places = new PlaceBook(settings.groups);
  for (const project of projects) places.putProject(project);
  const send = hookTransport(options, instanceUrl, wireNowMs);
  const hooks = hookSender(send ?? (async () => {}), options.hookFaults ?? NO_HOOK_FAULTS, clock, random);
  const groupHooks = new GroupHookBook(
    { places, random, instanceUrl, version, settings },
    wireNowMs,
    deliver,
  );
  const tell = (job: LocalJob): void => {
    const body = () => jobHookBody(job, clock.nowMs());
    void groupHooks.tell(job.projectPath, body);
    if (send !== undefined) hooks.tell(body());
  };
  const life: JobLife = {
    create(newJob) {
      const job = jobs.create(newJob, clock.nowMs());
      tell(job);
      Object.assign(job, { status: 'pending', queuedAtMs: clock.nowMs() });
      tell(job);
      return job;
    },
    start(jobId, runner) {
      const job = jobs.living(jobId);
      jobs.start(job, runner, clock.nowMs());
      tell(job);
    },
    end(jobId, ending) {
      const job = jobs.living(jobId);
      jobs.end(job, ending, clock.nowMs());
      tell(job);
    },
  };
  const endIfRunning = (jobId: number, ending: JobEnding): void => {
    if (jobs.job(jobId)?.status === 'running') life.end(jobId, ending);
  };
  const state: GitLabState = {
    ...life,
    ...{ clock, random, instanceUrl, version, token: options.token, settings, faults, jobs, places },
    groupTokens: options.groupTokens ?? new Map(),
    ...{ rest: { calls: 0 }, jobTokens: new Map(), ciProjects: projects, pipelines: new Map() },
    controllers: new Map(options.controllers?.map((controller) => [controller.id, controller])),
    ...{ controllerTokens: new ControllerTokenBook(), groupHooks },
  };
  const rest = restApp(state);

  return {
    ...life,
    reject(jobId: number, runner: LocalRunner): void {
      life.start(jobId, runner);
      const rejected = { status: 'failed', failureReason: REJECTED_BY_ROUTER } as const;
      clock.after(REJECTED_MS, () => endIfRunning(jobId, rejected));
    },
    play(jobId: number, { runner, runsMs, ending = { status: 'success' } }: JobCourse): void {
      clock.after(0, () => {
        if (jobs.job(jobId)?.status !== 'pending') return;
        life.start(jobId, runner);
        clock.after(runsMs, () => endIfRunning(jobId, ending));
      });
    },
    /** Removes the job as if its project had been deleted: 404, and no webhook. */
    forget: (jobId: number) => jobs.forget(jobId),
    addRunner: (runner: LocalRunner) => jobs.addRunner(runner),
    changeController(id: number, change: Partial<Omit<LocalController, 'id'>>): void {
      const controller = state.controllers.get(id);
      if (controller === undefined) throw new Error(`there is no runner controller ${id}`);
      state.controllers.set(id, { ...controller, ...change });
    },
    controller: (id: number) => state.controllers.get(id),
    controllerTokens: state.controllerTokens,
    groupHooks,
    routerSide: routerSideOf(state),
    places,
    job: (jobId: number): Readonly<LocalJob> | undefined => jobs.job(jobId),
    jobs: (): Iterable<Readonly<LocalJob>> => jobs.jobs(),
    faults,
    counters: { hooks: hooks.counters, rest: state.rest },
    fetch: (async (input, init) => {
      const request = new Request(input, init);
      return Promise.race([rest.fetch(request), rejectedOnAbort(request.signal)]);
    }) satisfies typeof fetch,
    listen: (port?: number) => serveOnLoopback(rest, port),
    hooksIdle: () => hooks.idle(),
    stop: () => clock.stop(),
  };
}

function hookTransport(options: LocalGitLabOptions, instanceUrl: string, nowMs: () => number) {
  const { hookFor, deliver = fetch, version } = options;
  if (hookFor === undefined) return undefined;
  const hookId = uuidFrom(options.random);
  return async (message: HookMessage): Promise<void> => {
    const { project } = message.body;
    const hook = hookFor(isRecord(project) ? String(project.path_with_namespace) : '');
    const request = hookRequester(hook.url, instanceUrl, hook, hookId, version);
    const response = await deliver(request(message, nowMs()));
    await response.body?.cancel();
  };
}

const rejectedOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Far more webhooks fail here than at any real GitLab, so that the sweep has work to show. */
export const WEBHOOK_FAULTS: HookFaultShares = { lose: 0.05, repeat: 0.03 };

const TIMEOUT_SECONDS = 3_600;

export const newSigningToken = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export function playGitLab(clock: WallClock, hookFor: NonNullable<LocalGitLabOptions['hookFor']>) {
  const token = `glpat-${randomBytes(12).toString('base64url')}`;
  const gitlab = createLocalGitLab({
    ...{ clock, token, hookFor, wireClock: machineClock, random: seededRandom(1) },
    hookFaults: WEBHOOK_FAULTS,
  });
  const random = seededRandom(2);
  return {
    gitlab,
    token,
    async play(question: JobQuestion, admit: () => Promise<{ readonly result: string }>): Promise<void> {
      const { job, runner, timeoutSeconds } = jobFromQuestion(question);
      gitlab.create(job);
      const course = jobCourse(job.name, timeoutSeconds, random);
      const { result } = await admit();
      if (result === 'admitted' || result === 'disabled') gitlab.play(job.id, { runner, ...course });
      else gitlab.reject(job.id, runner);
    },
    living: (): number => [...gitlab.jobs()].filter(({ status }) => !isTerminal(status)).length,
  };
}

/** A job's name gives its usual duration, between these; each run differs by up to a fifth. */
const USUAL_SECONDS_MIN = 150;
const USUAL_SECONDS_MAX = 600;
const SPREAD = 0.2;

const FAILS_SHARE = 0.05;
const CANCELED_SHARE = 0.02;

function jobCourse(
  name: string,
  timeoutSeconds: number,
  random: () => number,
): Pick<JobCourse, 'runsMs' | 'ending'> {
  const usual = USUAL_SECONDS_MIN + (checksum(name) % (USUAL_SECONDS_MAX - USUAL_SECONDS_MIN));
  const seconds = usual * (1 - SPREAD + 2 * SPREAD * random());
  const outcome = random();
  if (seconds >= timeoutSeconds)
    return {
      ...{ runsMs: timeoutSeconds * 1000 },
      ending: { status: 'failed', failureReason: 'job_execution_timeout' },
    };
  const runsMs = seconds * 1000;
  if (outcome < FAILS_SHARE) return { runsMs, ending: { status: 'failed' } };
  return { runsMs, ending: { status: outcome < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success' } };
}

const Question = z.object({
  id: z.number(),
  job_info: z.object({
    project_id: z.number(),
    project_full_path: z.string().default(''),
    name: z.string().default(''),
    stage: z.string().default(''),
    pipeline_id: z.number(),
    user_id: z.number(),
    tags: z.array(z.string()).default([]),
  }),
  git_info: z.object({ ref: z.string().default('') }).default({ ref: '' }),
  runner_info: z.object({
    id: z.number(),
    tags: z.array(z.string()).default([]),
    timeout: z.number().positive().default(TIMEOUT_SECONDS),
  }),
  variables: z.array(z.object({ key: z.string(), value: z.string() })).default([]),
});

function jobFromQuestion(question: JobQuestion) {
  const { id, job_info: info, git_info: git, runner_info: runner, variables } = Question.parse(question);
  const environment = variables.find(({ key }) => key === 'CI_ENVIRONMENT_NAME')?.value;
  const job: NewJob = {
    ...{ id, name: info.name, stage: info.stage, ref: git.ref, tags: info.tags },
    ...{ projectId: info.project_id, projectPath: info.project_full_path },
    ...{ pipelineId: info.pipeline_id, userId: info.user_id },
    ...(environment !== undefined && { environment }),
  };
  return { job, runner: { id: runner.id, tags: runner.tags }, timeoutSeconds: runner.timeout };
}
