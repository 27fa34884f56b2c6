import { randomBytes } from 'node:crypto';
import { isTerminal, JOB_STATUSES, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { machineClock, stoppable, type WallClock } from '../clock.ts';
import { type LoopbackServer, serveOnLoopback } from '../loopback.ts';
import { checksum, seededRandom } from '../random.ts';
import type { JobQuestion, RouterGitLab } from '../router/messages.ts';
import { jobHookBody } from './bodies.ts';
import { ControllerBook, ControllerTokenBook, type LocalController } from './controllers.ts';
import type { InstanceSettings } from './instance.ts';
import { PlaceBook } from './places.ts';
import { restApp } from './rest-app.ts';
import { type LocalCiProject, routerSideOf } from './runners.ts';
import {
  type FaultOptions,
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
  type HookBody,
  type HookCounters,
  HookSender,
  type HookTransport,
  hookRequester,
  uuidFrom,
} from './webhooks.ts';

export interface LocalGitLabOptions {
  /** @default the machine's clock */
  readonly clock?: WallClock;
  /**
   * Dates webhooks and times them out, where jobs live on a faster clock: receivers compare the date with the real
   * time. @default `clock`
   */
  readonly wireClock?: WallClock;
  /** [0, 1): chooses faults and ids. */
  readonly random: () => number;
  /** REST callers send it as `PRIVATE-TOKEN`. */
  readonly token: string;
  /** Group paths by the group's token, with the role Developer. @default none */
  readonly groupTokens?: ReadonlyMap<string, string>;
  /** Address of the job webhook. None is sent without it, `hookFor` and `receive`. */
  readonly hookUrl?: string;
  /** Returns the webhook of a project's top-level group. Instead of `hookUrl`. */
  readonly hookFor?: (projectPath: string) => { readonly url: string; readonly signingToken: string };
  /** @default '19.4' */
  readonly version?: GitLabVersion;
  /** `whsec_…`: signs deliveries; only since 19.0. */
  readonly signingToken?: string;
  /** Sent in `X-Gitlab-Token`. */
  readonly secretToken?: string;
  /** Sends deliveries; an app's own `fetch` needs no socket. @default fetch */
  readonly deliver?: (request: Request) => Promise<Response>;
  /** Takes bodies without HTTP and signatures. Instead of `hookUrl`. */
  readonly receive?: (body: HookBody, webhookId: string) => Promise<void>;
  /** Gets the body of every delivery that failed; GitLab does not retry. */
  readonly onUndelivered?: (body: HookBody) => void;
  /** In bodies and in `X-Gitlab-Instance`. @default 'http://gitlab.localhost' */
  readonly instanceUrl?: string;
  readonly faults?: FaultOptions;
  /** @default none */
  readonly controllers?: readonly LocalController[];
  /** Licence, flags, settings, groups. */
  readonly administration?: InstanceSettings;
  /** Projects whose pipelines can be started. @default none */
  readonly projects?: readonly LocalCiProject[];
}

/** The course of a job once it waits for a runner. */
interface JobCourse {
  readonly runner: LocalRunner;
  /** @default 0 */
  readonly startsInMs?: number;
  readonly runsMs: number;
  /** @default success */
  readonly ending?: JobEnding;
}

/** A stand-in for GitLab: its jobs, the REST API, and the webhooks about jobs. */
export interface LocalGitLab extends JobLife {
  /** Fails a job as the job router does after a rejection: it runs for an instant. */
  reject(jobId: number, runner: LocalRunner): void;
  /** Starts and ends the job on the clock, unless something else ended it before. */
  play(jobId: number, course: JobCourse): void;
  /** Removes the job as if its project had been deleted: 404, and no webhook. */
  forget(jobId: number): void;
  addRunner(runner: LocalRunner): void;
  /** @throws {Error} if the controller does not exist */
  changeController(id: number, change: Partial<Omit<LocalController, 'id'>>): void;
  controller(id: number): LocalController | undefined;
  readonly controllerTokens: ControllerTokenBook;
  /** Webhooks that administrators set up. They are sent without any of `faults`. */
  readonly groupHooks: GroupHookBook;
  /** GitLab as a job router on this machine sees it. */
  readonly routerSide: RouterGitLab;
  readonly places: PlaceBook;
  job(jobId: number): Readonly<LocalJob> | undefined;
  jobs(): Iterable<Readonly<LocalJob>>;
  readonly faults: LocalGitLabFaults;
  readonly counters: { readonly hooks: HookCounters; readonly rest: { readonly calls: number } };
  /** The REST API without a socket; any host in the address will do. */
  readonly fetch: typeof fetch;
  /** Serves the REST API on loopback. @param port - @default any free one */
  listen(port?: number): Promise<LoopbackServer>;
  /** Resolves when no webhook is under way or due later. */
  hooksIdle(): Promise<void>;
  /** Cancels everything that is due later. */
  stop(): void;
}

/** A rejected job shows as running for about this long. */
const REJECTED_MS = 90;

export function createLocalGitLab(options: LocalGitLabOptions): LocalGitLab {
  const { version = '19.4', random, administration: settings = {}, projects = [] } = options;
  const { instanceUrl = 'http://gitlab.localhost', deliver = fetch } = options;
  const clock = stoppable(options.clock ?? machineClock);
  const wireClock = options.wireClock === undefined ? clock : stoppable(options.wireClock);
  const faults = new LocalGitLabFaults(options.faults);
  const jobs = new JobBook();
  const places = new PlaceBook(settings.groups);
  for (const project of projects) places.putProject(project);
  const send = hookTransport(options, instanceUrl);
  const onUndelivered = options.onUndelivered ?? (() => {});
  const hooks = new HookSender({
    ...{ send: send ?? (async () => true), faults, clock, wireClock, random, onUndelivered },
  });
  const groupHooks = new GroupHookBook(
    { places, random, instanceUrl, version, settings },
    wireClock,
    deliver,
  );
  const tell = (job: LocalJob): void => {
    const body = () => jobHookBody(job, instanceUrl, clock.nowMs());
    void groupHooks.tell(job.projectPath, body);
    if (send !== undefined) hooks.tell(job.id, body());
  };
  const life: JobLife = {
    create(newJob) {
      const job = jobs.create(newJob, clock.nowMs());
      tell(job);
      jobs.queue(job, clock.nowMs());
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
    controllers: new ControllerBook(options.controllers ?? []),
    controllerTokens: new ControllerTokenBook(),
    groupHooks,
  };
  const rest = restApp(state);

  return {
    ...life,
    reject(jobId, runner) {
      life.start(jobId, runner);
      const rejected = { status: 'failed', failureReason: REJECTED_BY_ROUTER } as const;
      clock.after(REJECTED_MS, () => endIfRunning(jobId, rejected));
    },
    play(jobId, { runner, startsInMs = 0, runsMs, ending = { status: 'success' } }) {
      clock.after(startsInMs, () => {
        if (jobs.job(jobId)?.status !== 'pending') return;
        life.start(jobId, runner);
        clock.after(runsMs, () => endIfRunning(jobId, ending));
      });
    },
    forget(jobId) {
      const job = jobs.job(jobId);
      if (job !== undefined) jobs.forget(job);
    },
    addRunner: (runner) => jobs.addRunner(runner),
    changeController: (id, change) => void state.controllers.change(id, change),
    controller: (id) => state.controllers.find(id),
    controllerTokens: state.controllerTokens,
    groupHooks,
    routerSide: routerSideOf(state),
    places,
    job: (jobId) => jobs.job(jobId),
    jobs: () => jobs.jobs(),
    faults,
    counters: { hooks: hooks.counters, rest: state.rest },
    fetch: async (input, init) => {
      const request = new Request(input, init);
      return Promise.race([rest.fetch(request), rejectedOnAbort(request.signal)]);
    },
    listen: (port) => serveOnLoopback(rest, port),
    hooksIdle: () => hooks.idle(),
    stop() {
      clock.stop();
      wireClock.stop();
    },
  };
}

/** Returns undefined if no job webhook is configured. */
function hookTransport(options: LocalGitLabOptions, instanceUrl: string): HookTransport | undefined {
  const { receive, hookUrl, hookFor, deliver = fetch, version } = options;
  if (receive !== undefined)
    return async ({ body, webhookId }) => {
      await receive(body, webhookId);
      return true;
    };
  if (hookUrl === undefined && hookFor === undefined) return undefined;
  const hookId = uuidFrom(options.random);
  const requesterTo = (url: string, secrets: Parameters<typeof hookRequester>[2]) =>
    hookRequester(url, instanceUrl, secrets, hookId, version);
  const fixed = requesterTo(hookUrl ?? '', options);
  return async (message, sentAtMs, signal) => {
    const { project } = message.body;
    const hook = hookFor?.(isRecord(project) ? String(project.path_with_namespace) : '');
    const request = hook === undefined ? fixed : requesterTo(hook.url, hook);
    const response = await deliver(request(message, sentAtMs, signal));
    await response.body?.cancel();
    return response.ok;
  };
}

const rejectedOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Far more webhooks fail here than at any real GitLab, so that the sweep has work to show. */
export const WEBHOOK_FAULTS: HookFaultShares = { lose: 0.05, repeat: 0.03, reorder: 0.04, delay: 0.02 };

/** Jobs kept after their end; more would fill the memory of a run of days. */
const JOBS_KEPT = 20_000;
const TIMEOUT_SECONDS = 3_600;
const TERMINAL = JOB_STATUSES.filter(isTerminal);

interface PlayedGitLabOptions {
  readonly clock: WallClock;
  readonly seed: number;
  /** The webhook of a project's top-level group. */
  readonly hookFor: NonNullable<LocalGitLabOptions['hookFor']>;
  /** Called when the webhook of a job's end failed. */
  readonly onEndLost: (jobId: number) => void;
}

export const newSigningToken = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Creates a local GitLab whose jobs run or fail as the router decides. */
export function playGitLab({ clock, seed, hookFor, onEndLost }: PlayedGitLabOptions) {
  const token = `glpat-${randomBytes(12).toString('base64url')}`;
  const gitlab = createLocalGitLab({
    clock,
    // Receivers compare a signature's date with the real time.
    wireClock: machineClock,
    random: seededRandom(seed),
    token,
    hookFor,
    faults: { hooks: WEBHOOK_FAULTS },
    onUndelivered: ({ build_id: jobId, build_status: status, build_failure_reason: reason }) => {
      // A rejected job holds nothing, so a lost webhook of its end does no harm.
      const isEnd = TERMINAL.some((terminal) => terminal === status) && reason !== REJECTED_BY_ROUTER;
      if (isEnd && typeof jobId === 'number') onEndLost(jobId);
    },
  });
  const random = seededRandom(seed + 1);
  const asked: number[] = [];
  const hasEnded = (jobId: number | undefined): boolean => {
    const job = jobId === undefined ? undefined : gitlab.job(jobId);
    return job !== undefined && isTerminal(job.status);
  };
  return {
    gitlab,
    token,
    /** Creates the job, and runs or fails it by the decision of `admit`. */
    async play(question: JobQuestion, admit: () => Promise<{ readonly result: string }>): Promise<void> {
      const { job, runner } = jobFromQuestion(question);
      gitlab.create(job);
      asked.push(job.id);
      const { runsSeconds, ending } = jobCourse(job.name, timeoutOf(question), random);
      const { result } = await admit();
      if (result === 'admitted' || result === 'disabled') {
        gitlab.play(job.id, { runner, runsMs: runsSeconds * 1000, ending });
      } else gitlab.reject(job.id, runner);
      while (asked.length > JOBS_KEPT && hasEnded(asked[0])) gitlab.forget(asked.shift() ?? 0);
    },
    /** The number of jobs that have not ended. */
    living: (): number => [...gitlab.jobs()].filter(({ status }) => !isTerminal(status)).length,
  };
}

function timeoutOf(question: JobQuestion): number {
  const info = isRecord(question.runner_info) ? question.runner_info : {};
  return typeof info.timeout === 'number' && info.timeout > 0 ? info.timeout : TIMEOUT_SECONDS;
}

/** Duration and ending of a job that runs. */
interface PlayedCourse {
  readonly runsSeconds: number;
  readonly ending: JobEnding;
}

/** A job's name gives its usual duration, between these; each run differs by up to a fifth. */
const USUAL_SECONDS_MIN = 150;
const USUAL_SECONDS_MAX = 600;
const SPREAD = 0.2;

const FAILS_SHARE = 0.05;
const CANCELED_SHARE = 0.02;

function jobCourse(name: string, timeoutSeconds: number, random: () => number): PlayedCourse {
  const usual = USUAL_SECONDS_MIN + (checksum(name) % (USUAL_SECONDS_MAX - USUAL_SECONDS_MIN));
  const wanted = usual * (1 - SPREAD + 2 * SPREAD * random());
  const outcome = random();
  if (wanted >= timeoutSeconds) {
    return {
      runsSeconds: timeoutSeconds,
      ending: { status: 'failed', failureReason: 'job_execution_timeout' },
    };
  }
  if (outcome < FAILS_SHARE) return { runsSeconds: wanted, ending: { status: 'failed' } };
  return {
    runsSeconds: wanted,
    ending: { status: outcome < FAILS_SHARE + CANCELED_SHARE ? 'canceled' : 'success' },
  };
}

/** Returns the job and the runner of an admission request. */
export function jobFromQuestion(question: JobQuestion): { job: NewJob; runner: LocalRunner } {
  const info = isRecord(question.job_info) ? question.job_info : {};
  const git = isRecord(question.git_info) ? question.git_info : {};
  const runner = isRecord(question.runner_info) ? question.runner_info : {};
  const environment = variable(question, 'CI_ENVIRONMENT_NAME');
  const jobTags = texts(info.tags);
  return {
    job: {
      id: number(question.id, 'id'),
      projectId: number(info.project_id, 'job_info.project_id'),
      projectPath: text(info.project_full_path),
      name: text(info.name),
      stage: text(info.stage),
      pipelineId: number(info.pipeline_id, 'job_info.pipeline_id'),
      userId: number(info.user_id, 'job_info.user_id'),
      ref: text(git.ref),
      tags: jobTags,
      ...(environment !== undefined && { environment }),
    },
    runner: { id: number(runner.id, 'runner_info.id'), tags: texts(runner.tags) },
  };
}

function number(value: unknown, name: string): number {
  if (typeof value === 'number') return value;
  throw new Error(`${name} of the admission request is not a number; the local GitLab finds the job by it`);
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

function variable(question: JobQuestion, key: string): string | undefined {
  const variables = Array.isArray(question.variables) ? question.variables : [];
  const found = variables.find((one: unknown) => isRecord(one) && one.key === key);
  return isRecord(found) && typeof found.value === 'string' ? found.value : undefined;
}
