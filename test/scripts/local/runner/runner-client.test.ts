/** A runner, its job router and its GitLab: what is asked, what runs, and how a failing router is passed by. */
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { encodeAdmitted, encodeRejected, loadSchema } from '../../../../relay/wire/schema.ts';
import { createRunnerClient, startRoutedGitLab } from '../../../../scripts/local/gitlab/runner-client.ts';

const TOKEN = 'glrt-one';
const ADMIN = 'glpat-administrator';
const CONTROLLER = 1;
const schema = loadSchema();

function aRelay(url: string, token: string) {
  const client = new Client(url.replace('grpc://', ''), credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  metadata.set('gitlab-agent-type', 'runnerc');
  const bytes = (buffer: Buffer): Buffer => buffer;
  return {
    open(answer: Uint8Array): void {
      const call = client.makeBidiStreamRequest(schema.admitJobPath, bytes, bytes, metadata);
      call.on('error', () => {});
      call.on('data', () => {
        call.write(Buffer.from(answer));
        call.end();
      });
    },
    close: () => client.close(),
  };
}

async function aBench({ withController = true } = {}) {
  const routed = await startRoutedGitLab({
    token: ADMIN,
    runners: [
      { id: 1, token: TOKEN, tags: ['canary', 'linux'], runUntagged: false },
      { id: 2, token: 'glrt-two', tags: ['gpu'] },
    ],
    projects: [
      {
        id: 900,
        path: 'platform/canary',
        jobs: [
          { name: 'fails', tags: ['canary'], script: ['echo one'] },
          { name: 'runs', tags: ['canary', 'linux'], script: ['echo two'] },
          { name: 'elsewhere', tags: ['arm'] },
        ],
      },
    ],
    findTimeoutMs: 50,
  });
  onTestFinished(() => routed.close());
  const { gitlab, router } = routed;
  const call = async (method: string, path: string, body?: object) => {
    const answer = await gitlab.fetch(`http://gitlab.localhost${path}`, {
      method,
      headers: { 'private-token': ADMIN },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answer.headers.get('content-type')?.includes('json') ? answer.json() : answer.text();
  };
  const rest = (method: string, path: string, body?: object) => call(method, `/api/v4${path}`, body);
  const runner = createRunnerClient({
    ...{ gitlabUrl: 'http://gitlab.localhost', token: TOKEN, fetch: gitlab.fetch },
  });
  onTestFinished(() => runner.close());
  let relay: ReturnType<typeof aRelay> | undefined;
  if (withController) {
    await rest('POST', '/runner_controllers', { state: 'enabled' });
    const made = await rest('POST', `/runner_controllers/${CONTROLLER}/tokens`, {});
    const { token } = made as { readonly token: string };
    await rest('POST', `/runner_controllers/${CONTROLLER}/scopes/runners/1`);
    relay = aRelay(router.grpcUrl ?? '', token);
    onTestFinished(() => relay?.close());
  }
  const answerNext = async (answer: Uint8Array): Promise<void> => {
    if (relay === undefined) throw new Error('no controller here');
    relay.open(answer);
    await router.until(() => router.waitingStreams(CONTROLLER) === 1);
  };
  return { gitlab, router, rest, call, runner, answerNext };
}

const startPipeline = async (rest: (method: string, path: string, body?: object) => Promise<unknown>) =>
  expect(await rest('POST', '/projects/platform%2Fcanary/pipeline', { ref: 'main' })).toMatchObject({
    project_id: 900,
    source: 'api',
  });

test('a rejected job never runs and has the controller’s text; an admitted one runs and leaves its trace', async () => {
  const { rest, call, runner, answerNext, gitlab } = await aBench();
  await startPipeline(rest);
  await answerNext(encodeRejected(schema, 'the canary sings'));
  expect(await runner.poll()).toEqual({ jobId: undefined, way: 'router' });
  await answerNext(encodeAdmitted(schema));
  expect(await runner.poll()).toEqual({ jobId: 2, way: 'router' });
  expect(await runner.poll()).toEqual({ jobId: undefined, way: 'router' });

  expect(await rest('GET', '/projects/900/pipelines/1/jobs')).toMatchObject([
    { id: 3, status: 'pending', runner: null },
    { id: 2, status: 'success', runner: { id: 1 } },
    { id: 1, status: 'failed', failure_reason: 'job_router_failure', runner: { id: 1 } },
  ]);
  expect(await rest('GET', '/projects/900/jobs/2/trace')).toBe('$ echo two\n');
  expect(await rest('GET', '/projects/900/jobs/1/trace')).toBe('');
  const query =
    'query ($path: ID!, $id: JobID!) { project(fullPath: $path) { job(id: $id) { failureMessage } } }';
  const variables = { path: 'platform/canary', id: 'gid://gitlab/Ci::Build/1' };
  expect(await call('POST', '/api/graphql', { query, variables })).toMatchObject({
    data: { project: { job: { failureMessage: expect.stringContaining('the canary sings') } } },
  });
  expect(gitlab.controllerTokens.of(CONTROLLER)[0]?.lastUsedAtMs).toBeGreaterThan(0);

  await rest('POST', '/projects/900/pipelines/1/cancel');
  expect(await rest('GET', '/projects/900/pipelines?status=failed')).toMatchObject([{ id: 1 }]);
  expect(gitlab.job(3)?.status).toBe('canceled');
});

test('a controller is asked about runners in its scope only, and a job nobody answers for fails', async () => {
  const { rest, router, runner, gitlab } = await aBench();
  await startPipeline(rest);
  await runner.poll();
  expect(gitlab.job(1)).toMatchObject({ status: 'failed', failureReason: 'job_router_failure' });
  expect(gitlab.job(1)?.failureMessage).toContain('Agent connection not found');
  const other = createRunnerClient({
    ...{ gitlabUrl: 'http://gitlab.localhost', token: 'glrt-two', fetch: gitlab.fetch },
  });
  onTestFinished(() => other.close());
  gitlab.create({ id: 50, projectId: 901, projectPath: 'a/b', name: 'train', tags: ['gpu'] });
  expect(await other.poll()).toMatchObject({ jobId: 50, way: 'router' });
  expect(router.counters.job_router_admission_control_total).toMatchObject({ failed: 1, disabled: 1 });
});

test('where the router cannot be reached GitLab is asked, past every controller', async () => {
  const { rest, router, runner, gitlab } = await aBench({ withController: false });
  router.faults.refuseCalls(status.UNAVAILABLE, { method: 'get_job' });
  await startPipeline(rest);
  expect(await runner.poll()).toEqual({ jobId: 1, way: 'gitlab' });
  expect(gitlab.job(1)?.status).toBe('success');
  expect(await runner.poll()).toEqual({ jobId: 2, way: 'router' });
});
