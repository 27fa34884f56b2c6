/** The steps of the rehearsal, in order. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeleteTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetParameterCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { ADMISSIONS_PATH } from '../../../functions/core/contract/admissions.ts';
import { groupHookKey, groupHookUrl } from '../../../functions/core/gitlab/group-hooks.ts';
import { WEBHOOK_PATH } from '../../../functions/names.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import * as names from '../../../relay/names.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { jobHookBody } from '../../local/gitlab/bodies.ts';
import type { LocalJob } from '../../local/gitlab/state.ts';
import { hookRequester } from '../../local/gitlab/webhooks.ts';
import { loopbackPort } from '../../local/loopback.ts';
import { startLocalRouter } from '../../local/router/local-router.ts';
import { destroyWhile, rehearseFailedCreation } from './deploy-steps.ts';
import * as deployed from './deployed.ts';
import { documentedUrlEvent, serveFunctionUrl, startRelayBundle } from './hosted-bundle.ts';
import { CONSOLE_STEPS, LIMIT_STEPS } from './limits-course.ts';
import { expectEqual, type Step } from './step.ts';

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
    name: 'cdk bootstrap prepares the account',
    run: async (place) => {
      await deployed.cdkMust(
        place,
        'bootstrap',
        `aws://${deployed.REHEARSAL_ACCOUNT}/${deployed.REHEARSAL_REGION}`,
      );
      return `${deployed.REHEARSAL_ACCOUNT} ${deployed.REHEARSAL_REGION}`;
    },
  },
  {
    name: 'a first deployment that fails can be repeated, once npm run deploy has looked at it',
    run: (place) => rehearseFailedCreation(place),
  },
  {
    name: 'cdk deploy makes both stacks',
    run: async (place) => {
      await deployed.deploy(place);
      return `webhook at ${deployed.outputsOf(place, deployed.SERVICE_STACK).WebhookUrl}`;
    },
  },
  {
    name: 'the table is as promised: protected, on demand, with stream and index',
    run: async (place) => {
      const facts = await deployed.tableFacts(place);
      expectEqual('the table', facts, {
        deletionProtection: true,
        billing: 'PAY_PER_REQUEST',
        stream: 'NEW_AND_OLD_IMAGES',
        index: ['due'],
      });
      return deployed.tableOf(place);
    },
  },
  {
    name: 'secrets are put into SSM and read back',
    run: async (place) => {
      const client = deployed.ssm(place);
      for (const [name, Value] of Object.entries(SECRETS)) {
        const secret = { Name: `/tollgate/${deployed.REHEARSAL_STAGE}/${name}`, WithDecryption: true };
        await client.send(new PutParameterCommand({ ...secret, Value, Type: 'SecureString' }));
        const { Parameter } = await client.send(new GetParameterCommand(secret));
        expectEqual(secret.Name, [Parameter?.Type, Parameter?.Value], ['SecureString', Value]);
      }
      return Object.keys(SECRETS).join(', ');
    },
  },
  {
    name: 'the table is written and read',
    run: async (place) => {
      const item = { ...deployed.NOTE, text: { S: 'before the update' } };
      await deployed
        .dynamo(place)
        .send(new PutItemCommand({ TableName: deployed.tableOf(place), Item: item }));
      expectEqual('the note', await deployed.noteIn(place), 'before the update');
      return '1 item';
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
    name: 'the deployed settle endpoint takes a signed webhook and refuses a stranger’s',
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
  ...LIMIT_STEPS,
  ...CONSOLE_STEPS,
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
    name: 'cdk destroy alone is refused for what is protected',
    run: async (place) => {
      const stacks = [deployed.SERVICE_STACK, deployed.STATE_STACK];
      for (const stack of stacks) {
        const { code } = await deployed.cdk(place, 'destroy', stack, '--exclusively', '--force');
        expectEqual(`whether it failed for ${stack}`, code !== 0, true);
        expectEqual(stack, await deployed.stackExists(place, stack), true);
      }
      return stacks.join(' and ');
    },
  },
  {
    name: 'npm run destroy refuses while the controller is enabled',
    run: async (place) => {
      const { code, told } = await destroyWhile(place, 'enabled', false);
      expectEqual('the exit code', code, 2);
      expectEqual('the remedy', told.includes('npx tollgate controller dry-run'), true);
      expectEqual('the service stack', await deployed.stackExists(place, deployed.SERVICE_STACK), true);
      return 'and names the command that disarms';
    },
  },
  {
    name: 'npm run destroy takes the service away once it is disarmed',
    run: async (place) => {
      const { code, told } = await destroyWhile(place, 'dry_run', false);
      if (code !== 0) throw new Error(`it ended with ${code}: ${told}`);
      expectEqual('the service stack', await deployed.stackExists(place, deployed.SERVICE_STACK), false);
      expectEqual('the admit function', await deployed.functionExists(place, 'admit'), false);
      expectEqual('the note', await deployed.noteIn(place), 'before the update');
      return 'the books are untouched';
    },
  },
  {
    name: 'the table outlives its stack and cannot be deleted by mistake',
    run: async (place) => {
      const { code, told } = await destroyWhile(place, 'dry_run', true);
      if (code !== 0) throw new Error(`it ended with ${code}: ${told}`);
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

function answered(answer: unknown, status: number): Record<string, unknown> {
  if (!isRecord(answer)) throw new Error(`the function answered ${JSON.stringify(answer)}`);
  if (answer.statusCode !== status)
    throw new Error(`it answered ${answer.statusCode} ${answer.body}; expected ${status}`);
  const body: unknown = JSON.parse(String(answer.body));
  return isRecord(body) ? body : {};
}

const GITLAB = 'https://gitlab.example.com';

/** Returns the event of a group's webhook for a job that ran a minute. */
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
    // It is killed at the end and leaves its socket's folder there.
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
