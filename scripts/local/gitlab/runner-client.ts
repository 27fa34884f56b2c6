import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { z } from 'zod';
import { parseTarget } from '../../../relay/router/target.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import { type Clock, machineClock, type RouterClock } from '../clock.ts';
import { seededRandom } from '../random.ts';
import { startLocalRouter } from '../router/local-router.ts';
import { decodeGetJob, encodeGetJob, GET_JOB_PATH } from '../router/messages.ts';
import type { LocalController } from './controllers.ts';
import type { InstanceSettings } from './instance.ts';
import { createLocalGitLab, type LocalGitLabOptions } from './local-gitlab.ts';
import type { LocalCiProject } from './runners.ts';
import type { LocalRunner } from './state.ts';
import type { GitLabVersion } from './webhooks.ts';

interface RoutedOptions extends Pick<LocalGitLabOptions, 'deliver'> {
  /** An administrator's. */
  readonly token: string;
  readonly runners: readonly LocalRunner[];
  readonly projects: readonly LocalCiProject[];
  readonly version?: GitLabVersion;
  readonly administration?: InstanceSettings;
  /** The router's descriptors. @default the placeholder */
  readonly schema?: WireSchema;
  /** Time that a job waits for a controller. @default GitLab's */
  readonly findTimeoutMs?: number;
  /** Time that it waits for the controller's answer. @default GitLab's */
  readonly decisionTimeoutMs?: number;
  /** @default the machine's */
  readonly clock?: Clock;
  readonly seed?: number;
  /** Existing controllers, without tokens. @default none */
  readonly controllers?: readonly Omit<LocalController, 'id'>[];
}

/** Starts a GitLab with its job router, which applies the controllers that were made over REST, by their scopes. */
export async function startRoutedGitLab(options: RoutedOptions) {
  const { clock = machineClock, schema, findTimeoutMs, decisionTimeoutMs } = options;
  let routerUrl: string | null = null;
  const gitlab = createLocalGitLab({
    clock,
    random: seededRandom(options.seed ?? 1),
    token: options.token,
    version: options.version ?? '19.4',
    ...(options.deliver && { deliver: options.deliver }),
    projects: options.projects,
    controllers: (options.controllers ?? []).map((each, at) => ({ ...each, id: at + 1 })),
    administration: {
      ...options.administration,
      // Known once the router listens.
      get routerUrl() {
        return routerUrl;
      },
    },
  });
  for (const runner of options.runners) gitlab.addRunner(runner);
  const router = await startLocalRouter({
    controllers: [],
    gitlab: gitlab.routerSide,
    wsPort: 'off',
    ...(schema !== undefined && { schema }),
    ...(findTimeoutMs !== undefined && { findTimeoutMs }),
    ...(decisionTimeoutMs !== undefined && { decisionTimeoutMs }),
  });
  routerUrl = router.grpcUrl ?? null;
  return {
    gitlab,
    router,
    async close(): Promise<void> {
      gitlab.stop();
      await router.close();
    },
  };
}

/** The reason for a request to GitLab past the router: labels of GitLab Runner's own metric. */
type FallbackCause = 'no_discovery' | 'breaker_open' | 'dial_failed' | 'breaker_tripped' | 'router_disabled';

interface RunnerOptions {
  /** GitLab, e.g. `http://127.0.0.1:8000`. */
  readonly gitlabUrl: string;
  /** `glrt-…` */
  readonly token: string;
  readonly fetch: typeof fetch;
  readonly clock: Pick<RouterClock, 'monotonicMs'>;
  /** `FF_USE_JOB_ROUTER`. @default true */
  readonly usesRouter?: boolean;
}

interface RunnerOutcome {
  /** Undefined: there was no job. */
  readonly jobId: number | undefined;
  readonly way: 'router' | 'gitlab';
  /** True if GitLab Runner would poll again at its usual pace. */
  readonly healthy: boolean;
}

const DISCOVERY_MS = 3_600_000;
/** GitLab Runner's own histogram of GetJob ends here. */
const GET_JOB_MS = 60_000;
const REST_MS = 10_000;

const Payload = z.object({
  id: z.int(),
  token: z.string(),
  steps: z.array(z.object({ script: z.array(z.string()) })).default([]),
});
const Discovery = z.object({ server_url: z.string() });

/** A runner that behaves as GitLab Runner. It plays jobs: each line of the script is written to the trace. */
export function createRunnerClient(options: RunnerOptions) {
  const { token, clock } = options;
  const breaker = new RouterBreaker(() => clock.monotonicMs());
  const fallbacks: Record<FallbackCause, number> = {
    ...{ no_discovery: 0, breaker_open: 0, dial_failed: 0 },
    ...{ breaker_tripped: 0, router_disabled: 0 },
  };
  let discovered: { readonly url: string | undefined; readonly untilMs: number } | undefined;
  let connection: { readonly url: string; readonly router: RunnerRouter } | undefined;
  const request = { token, system_id: 's_local', info: { name: 'gitlab-runner', executor: 'docker' } };

  const call = (method: string, path: string, body: object | undefined, headers = {}): Promise<Response> =>
    options.fetch(`${options.gitlabUrl}/api/v4${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REST_MS),
    });

  async function routerUrl(): Promise<string | undefined> {
    if (discovered !== undefined && clock.monotonicMs() < discovered.untilMs) return discovered.url;
    const answer = await call('GET', '/runners/router/discovery', undefined, { 'runner-token': token });
    const read = answer.ok ? Discovery.safeParse(await answer.json()) : undefined;
    const url = read?.success === true ? read.data.server_url : undefined;
    discovered = { url, untilMs: clock.monotonicMs() + DISCOVERY_MS };
    return url;
  }

  function routerAt(url: string): RunnerRouter {
    if (connection?.url !== url) {
      connection?.router.close();
      connection = { url, router: dialRouter(url, token) };
    }
    return connection.router;
  }

  /** Requests a job from GitLab, past the router: no controller decides about it. */
  async function askGitLab(cause?: FallbackCause): Promise<RunnerOutcome> {
    if (cause !== undefined) fallbacks[cause] += 1;
    const answer = await call('POST', '/jobs/request', request);
    if (answer.status === 201) return run(await answer.json(), 'gitlab');
    return { jobId: undefined, way: 'gitlab', healthy: answer.status === 204 };
  }

  async function run(payload: unknown, way: RunnerOutcome['way']): Promise<RunnerOutcome> {
    const job = Payload.parse(payload);
    const lines = job.steps.flatMap(({ script }) => script);
    const trace = lines.map((line) => `$ ${line}\n`).join('');
    await options.fetch(`${options.gitlabUrl}/api/v4/jobs/${job.id}/trace`, {
      method: 'PATCH',
      headers: { 'job-token': job.token, 'content-range': `0-${trace.length}` },
      body: trace,
      signal: AbortSignal.timeout(REST_MS),
    });
    await call('PUT', `/jobs/${job.id}`, { token: job.token, state: 'success' });
    return { jobId: job.id, way, healthy: true };
  }

  return {
    breaker,
    fallbacks,
    async poll(): Promise<RunnerOutcome> {
      if (options.usesRouter === false) return askGitLab();
      // Discovery comes first: a GitLab without a router must not use up the breaker's trial.
      const url = await routerUrl();
      if (url === undefined) return askGitLab('no_discovery');
      if (!breaker.allows()) return askGitLab('breaker_open');
      let router: RunnerRouter;
      try {
        router = routerAt(url);
      } catch {
        breaker.failed();
        return askGitLab('dial_failed');
      }
      const answer = await router.getJob(request, GET_JOB_MS);
      if (answer.kind === 'unreachable')
        return breaker.failed()
          ? askGitLab('breaker_tripped')
          : { jobId: undefined, way: 'router', healthy: true };
      breaker.succeeded();
      if (answer.kind === 'disabled') {
        discovered = undefined;
        return askGitLab('router_disabled');
      }
      if (answer.kind === 'job') return run(answer.payload, 'router');
      return { jobId: undefined, way: 'router', healthy: answer.kind === 'none' };
    },
    close: (): void => connection?.router.close(),
  };
}

/** GitLab Runner's numbers since 19.2. */
const FAILURES_MIN = 3;
/** A dropped connection fails many calls together, which alone is not an outage. */
const FAILING_MS_MIN = 5_000;
/** After this time one call tries the router again. */
const OPEN_MS = 30_000;

type BreakerPhase = 'closed' | 'open' | 'half_open';

/** Opens after repeated failures: the runner then requests jobs from GitLab, past every controller. */
class RouterBreaker {
  readonly #monotonicMs: () => number;
  #phase: BreakerPhase = 'closed';
  #failures = 0;
  #failingSinceMs = 0;
  #openedAtMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  get phase(): BreakerPhase {
    return this.#phase;
  }

  /** Returns true if the router may be called now. The trial of an open breaker must be followed by its outcome. */
  allows(): boolean {
    if (this.#phase === 'open' && this.#monotonicMs() - this.#openedAtMs >= OPEN_MS) {
      this.#phase = 'half_open';
      return true;
    }
    return this.#phase === 'closed';
  }

  succeeded(): void {
    this.#failures = 0;
    this.#phase = 'closed';
  }

  /** @returns true if this failure opened it. */
  failed(): boolean {
    if (this.#phase === 'open') return false;
    const nowMs = this.#monotonicMs();
    if (this.#failures === 0) this.#failingSinceMs = nowMs;
    this.#failures += 1;
    const lasts = this.#failures >= FAILURES_MIN && nowMs - this.#failingSinceMs >= FAILING_MS_MIN;
    if (this.#phase === 'closed' && !lasts) return false;
    this.#phase = 'open';
    this.#openedAtMs = nowMs;
    return true;
  }
}

type GetJobOutcome =
  | { readonly kind: 'job'; readonly payload: unknown }
  | { readonly kind: 'none' }
  /** The router has no GetJob. */
  | { readonly kind: 'disabled' }
  /** Out of reach; the breaker counts it. */
  | { readonly kind: 'unreachable' }
  /** Answered with an error. */
  | { readonly kind: 'refused'; readonly code: number };

type RunnerRouter = ReturnType<typeof dialRouter>;

const UNREACHABLE: readonly number[] = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED];

/** A runner's connection to the router. `grpc://` only. @throws {RelayError} for an invalid address. */
function dialRouter(url: string, runnerToken: string) {
  const { host, port } = parseTarget(url);
  const client = new Client(`dns:${host}:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 20,
    'grpc.max_reconnect_backoff_ms': 100,
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${runnerToken}`);
  metadata.set('gitlab-agent-type', 'runner');
  return {
    getJob: (request: object, deadlineMs: number): Promise<GetJobOutcome> =>
      new Promise((resolve) => {
        const answered = (error: ServiceError | null, payload?: unknown): void => {
          if (error === null) resolve(payload === undefined ? { kind: 'none' } : { kind: 'job', payload });
          else if (error.code === status.UNIMPLEMENTED) resolve({ kind: 'disabled' });
          else if (UNREACHABLE.includes(error.code)) resolve({ kind: 'unreachable' });
          else resolve({ kind: 'refused', code: error.code });
        };
        client.makeUnaryRequest(
          GET_JOB_PATH,
          (body: object) => Buffer.from(encodeGetJob(body)),
          (bytes: Buffer) => decodeGetJob(bytes),
          request,
          metadata,
          { deadline: Date.now() + deadlineMs },
          answered,
        );
      }),
    close: () => client.close(),
  };
}
