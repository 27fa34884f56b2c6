import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeleteTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { ADMISSIONS_PATH } from '../../../functions/core/contract/admissions.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { groupHookKey, groupHookUrl } from '../../../functions/core/gitlab/group-hooks.ts';
import { ENV_GITLAB_URL, WEBHOOK_PATH } from '../../../functions/names.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import * as names from '../../../relay/names.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { destroy, readArmedState } from '../../build/destroy.ts';
import { createRunnerControllers } from '../../cli/controller/controller-command.ts';
import { jobHookBody } from '../../local/gitlab/bodies.ts';
import { startSignInGitLab } from '../../local/gitlab/sign-in-gitlab.ts';
import type { LocalJob } from '../../local/gitlab/state.ts';
import { hookRequest } from '../../local/gitlab/webhooks.ts';
import { startLocalRouter } from '../../local/router/local-router.ts';
import { spawnRelay } from '../relay-process.ts';
import {
  CLIENT_ID,
  CONSOLE_URL,
  type Deployment,
  FUNCTIONS_STACK,
  NOTE,
  RELAYS_STACK,
  STAGE,
  STATE_STACK,
} from './deployed.ts';
import { deployThrough, FIRST_FAILURES, UPDATE_FAILURES } from './failures.ts';
import { documentedUrlEvent, type HostedBundle, serveFunctionUrl } from './hosted-bundle.ts';

const GITLAB = 'https://gitlab.example.com';
const LIMIT_PARAMETER = `/tollgate/${STAGE}/limits/101`;
const ROUTER_TOKEN = 'glrct-of-this-rehearsal-only';
const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of this rehearsal only').toString('base64')}`;
const SECRETS = {
  'router-token': ROUTER_TOKEN,
  'gitlab-token': 'a token of this rehearsal only',
  'webhook-secrets': WEBHOOK_SECRET,
  'signin-secret': 'a client secret of this rehearsal only',
  'console-token': 'a token of this rehearsal only',
};
const JOB_ID = 4_711;
const ROOT_ID = 100;
const REQUEST = {
  ...{ jobId: JOB_ID, projectId: 1003, namespaceId: 102, rootNamespaceId: ROOT_ID },
  ...{ image: 'golang:1.26', timeoutSeconds: 600 },
};
const WRITTEN = 'before the update';

interface Step {
  readonly name: string;
  /** @returns what was seen. Throws where it is not as it should be. */
  readonly run: (context: Deployment) => Promise<string>;
}

const COURSE: readonly Step[] = [
  {
    name: 'secrets are put into SSM',
    run: async ({ putParameter }) => {
      for (const [name, value] of Object.entries(SECRETS))
        await putParameter(`/tollgate/${STAGE}/${name}`, value, 'SecureString');
      return Object.keys(SECRETS).join(', ');
    },
  },
  {
    name: 'cdk bootstrap prepares the account; npm run deploy makes the three stacks, however often it fails',
    run: async (deployment) => {
      const { text } = await deployment.startDeploy().ended;
      expectEqual('whether it names the bootstrap', text.includes('cdk bootstrap'), true);
      await deployment.bootstrap();
      const seen = await deployThrough(FIRST_FAILURES, deployment);
      const { dynamo, tableName } = deployment;
      const Item = { ...NOTE, text: { S: WRITTEN } };
      await dynamo.send(new PutItemCommand({ TableName: tableName(), Item }));
      return seen;
    },
  },
  {
    name: 'the deployed admit function admits a job on the deployed table',
    run: ({ withDeployed }) =>
      withDeployed('admit', async (admit) => {
        const body = JSON.stringify({ requests: [REQUEST], remainingMs: 10_000 });
        const answer = await admit.invoke(documentedUrlEvent({ path: ADMISSIONS_PATH, body }));
        const { decisions } = answered(answer, 200);
        const [decision] = Array.isArray(decisions) ? decisions : [];
        expectEqual('the decision', isRecord(decision) ? decision.outcome : answer, 'admitted');
        return `job ${JOB_ID} is held`;
      }),
  },
  {
    name: 'the deployed settle endpoint takes a signed webhook and refuses one with another signature',
    run: ({ withDeployed }) =>
      withDeployed('settle', async (settle) => {
        const deliveredWith = async (secret: string) => settle.invoke(await signedDelivery(secret));
        answered(await deliveredWith(`whsec_${Buffer.from('made up').toString('base64')}`), 401);
        expectEqual('the delivery', answered(await deliveredWith(WEBHOOK_SECRET), 200).outcome, 'received');
        return 'it lies in the inbox';
      }),
  },
  {
    name: 'the deployed consumer settles the job',
    run: ({ withDeployed, arrivals, stateOfJob }) =>
      withDeployed('settle-stream', async (consumer) => {
        const records = await arrivals();
        expectEqual('the failures', await consumer.invoke({ Records: records }), { batchItemFailures: [] });
        expectEqual(`the record of job ${JOB_ID}`, await stateOfJob(JOB_ID), 'SETTLED');
        return `${records.length} delivery handed over`;
      }),
  },
  {
    name: 'the deployed relay answers a router that speaks by the deployment’s descriptors',
    run: rehearseRelay,
  },
  {
    name: 'a limit put into Parameter Store becomes live, and an invalid edit of it changes nothing',
    run: ({ withDeployed, putParameter, tollgate }) =>
      withDeployed('ssm-limits', async (function_) => {
        const put = async (amount: string) => {
          const value = `path: acme/payments\nlimits:\n  - { id: by-parameter, money: ${amount}, per: quarter, owner: payments-leads }\n`;
          await putParameter(LIMIT_PARAMETER, value, 'String');
          await function_.invoke({ source: 'aws.events' });
          const { limits }: { limits: readonly { limit: string; amount: number }[] } = JSON.parse(
            await tollgate('budget', 'ls', '--json'),
          );
          return limits.find(({ limit }) => limit === 'by-parameter')?.amount;
        };
        expectEqual('the limit', await put('1200'), 1_200_000_000);
        expectEqual('the limit after an invalid edit', await put('a lot'), 1_200_000_000);
        expectEqual('the log names the parameter', function_.output().includes(LIMIT_PARAMETER), true);
        return LIMIT_PARAMETER;
      }),
  },
  {
    name: 'the deployed console shows signed-out users nothing, and sends them to GitLab to sign in',
    run: async ({ withDeployed }) => {
      const redirectUrl = `${CONSOLE_URL}/signin/callback`;
      const gitlab = await startSignInGitLab({ redirectUrl, users: [] });
      const look = (console: HostedBundle) => visit(console, gitlab.url, redirectUrl);
      try {
        return await withDeployed('console', look, { [ENV_GITLAB_URL]: gitlab.url });
      } finally {
        await gitlab.stop();
      }
    },
  },
  {
    name: 'npm run deploy changes a setting, however often it fails, and leaves the books alone',
    run: async (deployment) => {
      const before = await deployment.relaysWanted();
      const seen = await deployThrough(UPDATE_FAILURES, deployment, '-c', 'relay.count=3');
      expectEqual('the desired number of relays', [before, await deployment.relaysWanted()], [2, 3]);
      expectEqual('the note', await deployment.note(), WRITTEN);
      return seen;
    },
  },
  {
    name: 'npm run destroy refuses while the controller is enabled, and takes relays and functions away once it is disarmed',
    run: async (deployment) => {
      const refused = await destroyWhile(deployment, 'enabled', false);
      expectEqual('the exit code', refused.code, 2);
      expectEqual('the remedy', refused.text.includes('npx tollgate controller dry-run'), true);
      const running = () => Promise.all([FUNCTIONS_STACK, RELAYS_STACK].map(deployment.stacks.status));
      expectEqual('the stacks that run', await running(), ['UPDATE_COMPLETE', 'UPDATE_COMPLETE']);
      await destroyMust(deployment, false);
      expectEqual('the stacks that run', await running(), [undefined, undefined]);
      expectEqual('the note', await deployment.note(), WRITTEN);
      return 'the books are untouched';
    },
  },
  {
    name: 'a webhook is kept while relays and functions are gone, and its address is the same after the next deployment',
    run: async ({ withDeployed, arrivals, output, deploy }) => {
      const [address, before] = [output(STATE_STACK, 'WebhookUrl'), (await arrivals()).length];
      await withDeployed('settle', async (settle) => {
        const delivered = await settle.invoke(await signedDelivery(WEBHOOK_SECRET, 'rehearsal-2'));
        expectEqual('the delivery', answered(delivered, 200).outcome, 'received');
      });
      expectEqual('the deliveries in the inbox', (await arrivals()).length, before + 1);
      await deploy();
      expectEqual('the address of webhooks', output(STATE_STACK, 'WebhookUrl'), address);
      return address;
    },
  },
  {
    name: 'the table outlives its stack and cannot be deleted by mistake',
    run: async (deployment) => {
      await destroyMust(deployment, true);
      expectEqual('the state stack', await deployment.stacks.status(STATE_STACK), undefined);
      expectEqual('the note', await deployment.note(), WRITTEN);
      const TableName = deployment.tableName();
      const isDeleted = await deployment.dynamo.send(new DeleteTableCommand({ TableName })).then(
        () => true,
        () => false,
      );
      expectEqual('the table is deleted', isDeleted, false);
      return TableName;
    },
  },
];

/** One after the other; after a failure the rest would only repeat it. @returns true if none failed */
export async function runRehearsal(deployment: Deployment): Promise<boolean> {
  for (const { name, run } of COURSE) {
    const startedMs = performance.now();
    const print = (mark: string, detail: string): void => {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      console.log(`${mark} ${name} (${seconds} s)\n    ${detail.split('\n').join('\n    ')}`);
    };
    try {
      print('✓', await run(deployment));
    } catch (error) {
      print('✗', error instanceof Error ? error.message : String(error));
      return false;
    }
  }
  return true;
}

async function destroyWhile({ stacks, cdk }: Deployment, state: string, withState: boolean) {
  const texts: string[] = [];
  const controllers = createRunnerControllers({
    ...{ baseUrl: GITLAB, token: async () => 'a-token', clock: systemClock },
    fetch: async () => Response.json({ id: 7, description: 'tollgate', state, connected: true }),
  });
  const code = await destroy({
    ...{ stage: STAGE, gitlabUrl: GITLAB, withState },
    readArmedState: () => readArmedState(controllers, 7),
    protect: stacks.protect,
    cdkDestroy: (path) => cdk('destroy', path, '--exclusively', '--force'),
    tell: (text) => texts.push(text),
  });
  return { code, text: texts.join('\n') };
}

async function destroyMust(deployment: Deployment, withState: boolean): Promise<void> {
  const { code, text } = await destroyWhile(deployment, 'dry_run', withState);
  if (code !== 0) throw new Error(`it ended with ${code}: ${text}`);
}

async function visit(console: HostedBundle, gitlabUrl: string, redirectUrl: string): Promise<string> {
  const get = async (path: string) => {
    const headers = { accept: 'text/html' };
    const answer = await console.invoke(documentedUrlEvent({ path, method: 'GET', headers }));
    if (!isRecord(answer)) throw new Error(`${path} answered ${JSON.stringify(answer)}`);
    const location = isRecord(answer.headers) ? answer.headers.location : undefined;
    return { status: answer.statusCode, location: String(location) };
  };
  expectEqual('/healthz', (await get('/healthz')).status, 200);
  const page = await get('/groups/101');
  expectEqual('a page', [page.status, page.location], [302, '/signin?returnTo=%2Fgroups%2F101']);
  expectEqual('the API', (await get('/api/v1/limits')).status, 401);
  const { origin, pathname, searchParams } = new URL((await get('/signin')).location);
  expectEqual('the way to sign in', `${origin}${pathname}`, `${gitlabUrl}/oauth/authorize`);
  expectEqual('the application', searchParams.get('client_id'), CLIENT_ID);
  expectEqual('the way back', searchParams.get('redirect_uri'), redirectUrl);
  return redirectUrl;
}

function answered(answer: unknown, status: number): Record<string, unknown> {
  if (!isRecord(answer)) throw new Error(`the function answered ${JSON.stringify(answer)}`);
  if (answer.statusCode !== status)
    throw new Error(`it answered ${answer.statusCode} ${answer.body}; expected ${status}`);
  const body: unknown = JSON.parse(String(answer.body));
  return isRecord(body) ? body : {};
}

async function signedDelivery(secret: string, webhookId = 'rehearsal-1'): Promise<Record<string, unknown>> {
  const nowMs = Date.now();
  const path = groupHookUrl(WEBHOOK_PATH, ROOT_ID);
  const job: LocalJob = {
    ...{ id: JOB_ID, projectId: REQUEST.projectId, projectPath: 'acme/rehearsal', name: 'rehearsal' },
    ...{ pipelineId: 1, createdAtMs: nowMs - 180_000, startedAtMs: nowMs - 120_000 },
    ...{ finishedAtMs: nowMs - 60_000 },
    status: 'success',
  };
  const request = hookRequest(
    { url: `${GITLAB}${path}`, uuid: 'rehearsal', signingToken: groupHookKey(secret, ROOT_ID) },
    { webhookId, body: jobHookBody(job, nowMs) },
    { instanceUrl: GITLAB, version: '19.4' },
    nowMs,
  );
  const headers = Object.fromEntries(request.headers);
  return documentedUrlEvent({ path, headers, body: await request.text(), base64: true });
}

const RELAY_BUNDLE = fileURLToPath(new URL('../../../dist/relay', import.meta.url));
/** A relay rejects nothing before its descriptors have explained questions of several projects. */
const GOOD_JOBS = 9;
/** From policies/directory.yaml; their groups stay within their limits of jobs. */
const PROJECTS = [
  { project_id: 1003, namespace_id: 102 },
  { project_id: 1004, namespace_id: 102 },
  { project_id: 1005, namespace_id: 103 },
];
const FIRST_JOB = 5_000;

async function rehearseRelay(deployment: Deployment): Promise<string> {
  const environment = await deployment.relayEnvironment();
  const descriptors = environment[names.ENV_PROTO_FILE]?.replace('/app/', `${RELAY_BUNDLE}/`) ?? '';
  expectEqual(`whether the bundle has ${descriptors}`, existsSync(descriptors), true);
  const router = await startLocalRouter({
    controllers: [{ id: 1, tokens: [ROUTER_TOKEN], state: 'enabled' }],
    schema: loadSchema(deployment.descriptors),
  });
  const answersRouter = async (admit: HostedBundle): Promise<string> => {
    const url = await serveFunctionUrl(admit);
    try {
      const relay = await spawnRelay(join(RELAY_BUNDLE, 'relay.mjs'), {
        ...deployment.awsEnv,
        ...environment,
        TMPDIR: deployment.folder,
        [names.ENV_AWS_SSM_ENDPOINT]: deployment.endpoint,
        [names.ENV_PROTO_FILE]: descriptors,
        [names.ENV_POLICY_FILE]: join(RELAY_BUNDLE, 'rules.json'),
        [names.ENV_ROUTER_URL]: router.wsUrl ?? '',
        [names.ENV_ADMIT_URL]: url.url,
        [names.ENV_DEADLINE_MS]: '10000',
      });
      try {
        await Promise.race([
          router.until(() => router.waitingStreams() > 0, { timeoutMs: 60_000 }),
          relay.failed,
        ]);
        for (let job = 0; job < GOOD_JOBS; job += 1) {
          const { result } = await router.admit(jobMessage(FIRST_JOB + job, 'golang:1.26'));
          expectEqual(`the answer to a good job (${job})`, result, 'admitted');
        }
        const bad = await router.admit(jobMessage(FIRST_JOB + GOOD_JOBS, 'registry.elsewhere.test/x:1'));
        expectEqual('the answer to a job with a foreign image', bad.result, 'rejected');
        return `${GOOD_JOBS} good jobs admitted, a bad one rejected, by ${descriptors.split('/').at(-1)}`;
      } finally {
        await relay.kill();
      }
    } finally {
      url.close();
    }
  };
  try {
    return await deployment.withDeployed('admit', answersRouter);
  } finally {
    await router.close();
  }
}

const jobMessage = (jobId: number, image: string) => ({
  id: jobId,
  job_info: {
    ...{ id: jobId, name: 'unit', stage: 'test', pipeline_id: 5000, user_id: 7, root_namespace_id: ROOT_ID },
    ...PROJECTS[jobId % PROJECTS.length],
  },
  ...{ runner_info: { id: 12, timeout: 600, tags: [] }, image: { name: image }, variables: [] },
});

function expectEqual(what: string, seen: unknown, expected: unknown): void {
  const [seenText, expectedText] = [JSON.stringify(seen), JSON.stringify(expected)];
  if (seenText !== expectedText) throw new Error(`${what} is ${seenText}; expected ${expectedText}`);
}
