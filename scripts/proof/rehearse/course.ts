import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeleteTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { PutParameterCommand } from '@aws-sdk/client-ssm';
import { ADMISSIONS_PATH } from '../../../functions/core/contract/admissions.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { groupHookKey, groupHookUrl } from '../../../functions/core/gitlab/group-hooks.ts';
import { ENV_GITLAB_URL, WEBHOOK_PATH } from '../../../functions/names.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import * as names from '../../../relay/names.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { stackProtection } from '../../build/cloudformation.ts';
import { askWhetherArmed, destroy } from '../../build/destroy-deployment.ts';
import { createRunnerControllers } from '../../cli/controller/controller-command.ts';
import { jobHookBody } from '../../local/gitlab/bodies.ts';
import { startSignInGitLab } from '../../local/gitlab/sign-in-gitlab.ts';
import type { LocalJob } from '../../local/gitlab/state.ts';
import { hookRequester } from '../../local/gitlab/webhooks.ts';
import { loopbackPort } from '../../local/loopback.ts';
import { startLocalRouter } from '../../local/router/local-router.ts';
import * as deployed from './deployed.ts';
import {
  documentedUrlEvent,
  type HostedBundle,
  serveFunctionUrl,
  startRelayBundle,
} from './hosted-bundle.ts';
import { expectEqual, type Step } from './step.ts';

const GITLAB = 'https://gitlab.example.com';
const LIMIT_PARAMETER = `/tollgate/${deployed.REHEARSAL_STAGE}/limits/101`;
const ROUTER_TOKEN = 'glrct-of-this-rehearsal-only';
const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of this rehearsal only').toString('base64')}`;
const SECRETS = {
  'router-token': ROUTER_TOKEN,
  'webhook-secrets': WEBHOOK_SECRET,
  'signin-secret': 'a client secret of this rehearsal only',
  'console-token': 'a token of this rehearsal only',
};
const JOB_ID = 4_711;
const QUESTION = {
  jobId: JOB_ID,
  projectId: 1003,
  namespaceId: 102,
  rootNamespaceId: 100,
  image: 'golang:1.26',
  timeoutSeconds: 600,
};

export const COURSE: readonly Step<deployed.RehearsalPlace>[] = [
  {
    name: 'cdk bootstrap prepares the account, cdk deploy makes both stacks',
    run: async (place) => {
      const account = `${deployed.REHEARSAL_ACCOUNT}/${deployed.REHEARSAL_REGION}`;
      await deployed.cdkMust(place, 'bootstrap', `aws://${account}`);
      await deployed.deploy(place);
      const item = { ...deployed.NOTE, text: { S: 'before the update' } };
      await deployed
        .dynamo(place)
        .send(new PutItemCommand({ TableName: deployed.tableOf(place), Item: item }));
      return `webhook at ${deployed.outputsOf(place, deployed.SERVICE_STACK).WebhookUrl}`;
    },
  },
  {
    name: 'secrets are put into SSM',
    run: async (place) => {
      const client = deployed.ssm(place);
      for (const [name, Value] of Object.entries(SECRETS)) {
        const Name = `/tollgate/${deployed.REHEARSAL_STAGE}/${name}`;
        await client.send(new PutParameterCommand({ Name, Value, Type: 'SecureString' }));
      }
      return Object.keys(SECRETS).join(', ');
    },
  },
  {
    name: 'the deployed admit function admits a job on the deployed table',
    run: (place) =>
      deployed.withDeployed(place, 'admit', async (admit) => {
        const body = JSON.stringify({ requests: [QUESTION], remainingMs: 10_000 });
        const answer = await admit.invoke(documentedUrlEvent({ path: ADMISSIONS_PATH, body }));
        const { decisions } = answered(answer, 200);
        const [decision] = Array.isArray(decisions) ? decisions : [];
        expectEqual('the decision', isRecord(decision) ? decision.outcome : answer, 'admitted');
        return `job ${JOB_ID} is held`;
      }),
  },
  {
    name: 'the deployed settle endpoint takes a signed webhook and refuses one with another signature',
    run: (place) =>
      deployed.withDeployed(place, 'settle', async (settle) => {
        const deliveredWith = async (secret: string) => settle.invoke(await signedDelivery(secret, QUESTION));
        answered(await deliveredWith(`whsec_${Buffer.from('made up').toString('base64')}`), 401);
        expectEqual('the delivery', answered(await deliveredWith(WEBHOOK_SECRET), 200).outcome, 'received');
        return 'it lies in the inbox';
      }),
  },
  {
    name: 'the deployed consumer settles the job',
    run: (place) =>
      deployed.withDeployed(place, 'settle-stream', async (consumer) => {
        const records = await deployed.arrivals(place);
        const answer = await consumer.invoke({ Records: records });
        expectEqual('what failed', answer, { batchItemFailures: [] });
        const state = await deployed.stateOfJob(place, JOB_ID);
        expectEqual(`the record of job ${JOB_ID}`, state, 'SETTLED');
        return `${records.length} delivery handed over`;
      }),
  },
  {
    name: 'the deployed relay answers a router that speaks by the deployment’s descriptors',
    run: rehearseRelay,
  },
  {
    name: 'a limit put into Parameter Store becomes live, and an invalid edit of it changes nothing',
    run: (place) =>
      deployed.withDeployed(place, 'ssm-limits', async (function_) => {
        const put = async (amount: string) => {
          const Value = `path: acme/payments\nlimits:\n  - { id: by-parameter, money: ${amount}, per: quarter, owner: payments-leads }\n`;
          const parameter = { Name: LIMIT_PARAMETER, Value, Type: 'String', Overwrite: true } as const;
          await deployed.ssm(place).send(new PutParameterCommand(parameter));
          await function_.invoke({ source: 'aws.events' });
          const { limits }: { limits: readonly { limit: string; amount: number }[] } = JSON.parse(
            await deployed.tollgate(place, 'budget', 'ls', '--json'),
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
    name: 'the deployed console shows strangers nothing, and sends them to GitLab to sign in',
    run: async (place) => {
      const redirectUrl = `${deployed.REHEARSAL_CONSOLE_URL}/signin/callback`;
      const gitlab = await startSignInGitLab({ redirectUrl, users: [] });
      try {
        const instead = { [ENV_GITLAB_URL]: gitlab.url };
        return await deployed.withDeployed(
          place,
          'console',
          (console) => visit(console, gitlab.url, redirectUrl),
          instead,
        );
      } finally {
        await gitlab.stop();
      }
    },
  },
  {
    name: 'cdk deploy changes a setting and leaves the books alone',
    run: async (place) => {
      const before = await deployed.relaysWanted(place);
      await deployed.deploy(place, '-c', 'relayCount=3');
      const after = await deployed.relaysWanted(place);
      expectEqual('how many relays are wanted', [before, after], [2, 3]);
      expectEqual('the note', await deployed.noteIn(place), 'before the update');
      return 'from 2 relays to 3';
    },
  },
  {
    name: 'npm run destroy refuses while the controller is enabled, and takes the service away once it is disarmed',
    run: async (place) => {
      const refused = await destroyWhile(place, 'enabled', false);
      expectEqual('the exit code', refused.code, 2);
      expectEqual('the remedy', refused.told.includes('npx tollgate controller dry-run'), true);
      expectEqual('the service stack', await deployed.stackExists(place, deployed.SERVICE_STACK), true);
      await destroyMust(place, false);
      expectEqual('the service stack', await deployed.stackExists(place, deployed.SERVICE_STACK), false);
      expectEqual('the note', await deployed.noteIn(place), 'before the update');
      return 'the books are untouched';
    },
  },
  {
    name: 'the table outlives its stack and cannot be deleted by mistake',
    run: async (place) => {
      await destroyMust(place, true);
      expectEqual('the state stack', await deployed.stackExists(place, deployed.STATE_STACK), false);
      expectEqual('the note', await deployed.noteIn(place), 'before the update');
      const deleted = await deployed
        .dynamo(place)
        .send(new DeleteTableCommand({ TableName: deployed.tableOf(place) }))
        .then(
          () => 'deleted',
          () => 'refused',
        );
      expectEqual('DeleteTable', deleted, 'refused');
      return deployed.tableOf(place);
    },
  },
];

async function destroyWhile(place: deployed.RehearsalPlace, state: string, withState: boolean) {
  const told: string[] = [];
  const controllers = createRunnerControllers({
    ...{ baseUrl: GITLAB, token: async () => 'a-token', clock: systemClock },
    fetch: async () => Response.json({ id: 7, description: 'tollgate', state, connected: true }),
  });
  const code = await destroy({
    ...{ stage: deployed.REHEARSAL_STAGE, gitlabUrl: GITLAB, withState },
    askWhetherArmed: () => askWhetherArmed(controllers, 7),
    protection: stackProtection({
      endpoint: place.emulator.endpoint,
      signedFetch: deployed.fetchFor('cloudformation'),
    }),
    cdkDestroy: (stack) => deployed.cdk(place, 'destroy', stack, '--exclusively', '--force'),
    tell: (text) => told.push(text),
  });
  return { code, told: told.join('\n') };
}

async function destroyMust(place: deployed.RehearsalPlace, withState: boolean): Promise<void> {
  const { code, told } = await destroyWhile(place, 'dry_run', withState);
  if (code !== 0) throw new Error(`it ended with ${code}: ${told}`);
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
  expectEqual('the application', searchParams.get('client_id'), deployed.REHEARSAL_CLIENT_ID);
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

async function signedDelivery(
  secret: string,
  { jobId, projectId, rootNamespaceId }: Readonly<Record<'jobId' | 'projectId' | 'rootNamespaceId', number>>,
): Promise<Record<string, unknown>> {
  const nowMs = Date.now();
  const job: LocalJob = {
    id: jobId,
    projectId,
    projectPath: 'acme/rehearsal',
    name: 'rehearsal',
    pipelineId: 1,
    status: 'success',
    createdAtMs: nowMs - 180_000,
    startedAtMs: nowMs - 120_000,
    finishedAtMs: nowMs - 60_000,
  };
  const path = groupHookUrl(WEBHOOK_PATH, rootNamespaceId);
  const signingToken = groupHookKey(secret, rootNamespaceId);
  const requestOf = hookRequester(`${GITLAB}${path}`, GITLAB, { signingToken }, 'rehearsal');
  const message = { webhookId: 'rehearsal-1', body: jobHookBody(job, nowMs) };
  const request = requestOf(message, nowMs);
  const headers = Object.fromEntries(request.headers);
  return documentedUrlEvent({ path, headers, body: await request.text(), base64: true });
}

const RELAY_BUNDLE = fileURLToPath(new URL('../../../dist/relay', import.meta.url));
const APP_FOLDER = '/app/';
const STREAMS_MS_MAX = 60_000;
/** A relay rejects nothing before its descriptors have explained questions of several projects. */
const GOOD_JOBS = 9;
/** From policies/directory.yaml; their groups stay within their limits of jobs. */
const PROJECTS = [
  { project_id: 1003, namespace_id: 102 },
  { project_id: 1004, namespace_id: 102 },
  { project_id: 1005, namespace_id: 103 },
];
const FIRST_JOB = 5_000;

async function rehearseRelay(place: deployed.RehearsalPlace): Promise<string> {
  const told = await deployed.relayEnvironmentOf(place);
  const descriptors = told[names.ENV_PROTO_FILE]?.replace(APP_FOLDER, `${RELAY_BUNDLE}/`) ?? '';
  expectEqual(`whether the bundle has ${descriptors}`, existsSync(descriptors), true);
  const router = await startLocalRouter({
    controllers: [{ id: 1, tokens: [ROUTER_TOKEN], state: 'enabled' }],
    schema: loadSchema(place.descriptors),
  });
  const admit = await deployed.startDeployed(place, 'admit');
  const url = await serveFunctionUrl(admit);
  const relay = startRelayBundle(RELAY_BUNDLE, {
    ...place.awsEnv,
    ...told,
    TMPDIR: place.folder,
    [names.ENV_AWS_SSM_ENDPOINT]: place.emulator.endpoint,
    [names.ENV_PROTO_FILE]: descriptors,
    [names.ENV_POLICY_FILE]: join(RELAY_BUNDLE, 'rules.json'),
    [names.ENV_ROUTER_URL]: router.wsUrl ?? '',
    [names.ENV_ADMIT_URL]: url.url,
    [names.ENV_DEADLINE_MS]: '10000',
    [names.ENV_HEALTH_PORT]: String(await loopbackPort()),
  });
  try {
    await Promise.race([
      router.until(() => router.waitingStreams() > 0, { timeoutMs: STREAMS_MS_MAX }),
      relay.failed,
    ]);
    for (let job = 0; job < GOOD_JOBS; job += 1) {
      const { result } = await router.admit(questionOf(FIRST_JOB + job, 'golang:1.26'));
      expectEqual(`the answer to a good job (${job})`, result, 'admitted');
    }
    const bad = await router.admit(questionOf(FIRST_JOB + GOOD_JOBS, 'registry.elsewhere.test/x:1'));
    expectEqual('the answer to a job with a foreign image', bad.result, 'rejected');
    return `${GOOD_JOBS} good jobs admitted, a bad one rejected, by ${descriptors.split('/').at(-1)}`;
  } finally {
    await relay.close();
    await url.close();
    await admit.close();
    await router.close();
  }
}

function questionOf(jobId: number, image: string) {
  const place = { ...PROJECTS[jobId % PROJECTS.length], root_namespace_id: 100 };
  return {
    id: jobId,
    job_info: { id: jobId, name: 'unit', stage: 'test', pipeline_id: 5000, user_id: 7, ...place },
    runner_info: { id: 12, timeout: 600, tags: [] },
    image: { name: image },
    variables: [],
  };
}
