import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { z } from 'zod';
import { parseTarget } from '../../../relay/router/target.ts';
import { seededRandom } from '../random.ts';
import type { RouterParts } from '../router/admission.ts';
import { startLocalRouter } from '../router/local-router.ts';
import { decodeGetJob, encodeGetJob, GET_JOB_PATH } from '../router/messages.ts';
import type { LocalController } from './controllers.ts';
import { createLocalGitLab } from './local-gitlab.ts';
import type { LocalCiProject } from './runners.ts';
import type { LocalRunner } from './state.ts';
import type { GitLabVersion } from './webhooks.ts';

interface RoutedOptions extends Pick<RouterParts, 'findTimeoutMs' | 'decisionTimeoutMs'> {
  readonly token: string;
  readonly runners: readonly LocalRunner[];
  readonly projects: readonly LocalCiProject[];
  readonly version?: GitLabVersion;
  readonly controllers?: readonly Omit<LocalController, 'id'>[];
}

export async function startRoutedGitLab(options: RoutedOptions) {
  const { token, runners, projects, version = '19.4', controllers = [], ...timeouts } = options;
  const administration = { routerUrl: null as string | null };
  const gitlab = createLocalGitLab({
    ...{ random: seededRandom(1), token, version, projects },
    controllers: controllers.map((each, at) => ({ ...each, id: at + 1 })),
    administration,
  });
  for (const runner of runners) gitlab.addRunner(runner);
  const router = await startLocalRouter({
    ...{ controllers: [], gitlab: gitlab.routerSide, wsPort: 'off' },
    ...timeouts,
  });
  administration.routerUrl = router.grpcUrl ?? null;
  return {
    gitlab,
    router,
    async close(): Promise<void> {
      gitlab.stop();
      await router.close();
    },
  };
}

interface RunnerOptions {
  readonly gitlabUrl: string;
  readonly token: string;
  readonly fetch: typeof fetch;
  /** `FF_USE_JOB_ROUTER`. @default true */
  readonly usesRouter?: boolean;
}

/** GitLab Runner's own histogram of GetJob ends here. */
const GET_JOB_MS = 60_000;
const REST_MS = 10_000;
const FAILED = Symbol('the router refuses or does not answer');

const Payload = z.object({
  id: z.int(),
  token: z.string(),
  steps: z.array(z.object({ script: z.array(z.string()) })).default([]),
});
const Discovery = z.object({ server_url: z.string() });

/**
 * A runner that asks the job router, and GitLab past every controller where there is no router. It plays jobs: each line
 * of the script is written to the trace.
 */
export function createRunnerClient({ gitlabUrl, token, fetch, usesRouter = true }: RunnerOptions) {
  let router: ReturnType<typeof dialRouter> | undefined;
  const request = { token, system_id: 's_local', info: { name: 'gitlab-runner', executor: 'docker' } };
  const call = (method: string, path: string, body?: string, headers = {}): Promise<Response> =>
    fetch(`${gitlabUrl}/api/v4${path}`, {
      ...{ method, signal: AbortSignal.timeout(REST_MS) },
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    });

  async function findRouter() {
    const answer = await call('GET', '/runners/router/discovery', undefined, { 'runner-token': token });
    const { data } = Discovery.safeParse(answer.ok ? await answer.json() : undefined);
    return data && dialRouter(data.server_url, token);
  }

  async function askGitLab() {
    const answer = await call('POST', '/jobs/request', JSON.stringify(request));
    if (answer.status === 201) return run(await answer.json(), 'gitlab');
    return { jobId: undefined, way: 'gitlab' as const };
  }

  async function run(payload: unknown, way: 'router' | 'gitlab') {
    const job = Payload.parse(payload);
    const lines = job.steps.flatMap(({ script }) => script);
    const trace = lines.map((line) => `$ ${line}\n`).join('');
    await call('PATCH', `/jobs/${job.id}/trace`, trace, { 'job-token': job.token });
    await call('PUT', `/jobs/${job.id}`, JSON.stringify({ token: job.token, state: 'success' }));
    return { jobId: job.id, way };
  }

  return {
    async poll() {
      router ??= usesRouter ? await findRouter() : undefined;
      if (router === undefined) return askGitLab();
      const payload = await router.getJob(request).catch(() => FAILED);
      if (payload === FAILED) {
        router.close();
        router = undefined;
        return askGitLab();
      }
      return payload === undefined ? { jobId: undefined, way: 'router' as const } : run(payload, 'router');
    },
    close: (): void => router?.close(),
  };
}

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
    /** @returns the job, or undefined if there is none. @throws {ServiceError} if the router refuses or does not answer */
    getJob: (request: object): Promise<unknown> =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          GET_JOB_PATH,
          (body: object) => Buffer.from(encodeGetJob(body)),
          (bytes: Buffer) => decodeGetJob(bytes),
          request,
          metadata,
          { deadline: Date.now() + GET_JOB_MS },
          (error: ServiceError | null, payload?: unknown) =>
            error === null ? resolve(payload) : reject(error),
        );
      }),
    close: () => client.close(),
  };
}
