import { DeleteTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetParameterCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { ADMISSIONS_PATH } from '../../../functions/core/contract/index.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { arrivals, stateOfJob } from './books.ts';
import { CONSOLE_COURSE } from './console-course.ts';
import * as deployed from './deployed.ts';
import { connection, dynamo, NOTE, noteIn, ssm, tableFacts, tableOf } from './deployed-table.ts';
import { cdk, cdkMust, deploy, deployArgs } from './emulated-cdk.ts';
import { rehearseFailedCreation } from './failed-creation.ts';
import { documentedUrlEvent } from './function-url-event.ts';
import { LIMITS_COURSE } from './limits-course.ts';
import { destroyWhile } from './rehearsed-destroy.ts';
import { RELAY_COURSE, ROUTER_TOKEN } from './relay-course.ts';
import { signedDelivery } from './signed-delivery.ts';
import { expectEqual, type Step } from './step.ts';

type Place = deployed.RehearsalPlace;

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

/** Everything that is shown of a deployment, in order. */
export const COURSE: readonly Step<Place>[] = [
  {
    name: 'cdk bootstrap prepares the account',
    run: async (place) => {
      await cdkMust(place, 'bootstrap', `aws://${deployed.REHEARSAL_ACCOUNT}/${deployed.REHEARSAL_REGION}`);
      return `${deployed.REHEARSAL_ACCOUNT} ${deployed.REHEARSAL_REGION}`;
    },
  },
  {
    name: 'a first deployment that fails can be repeated, once npm run deploy has looked at it',
    run: (place) => rehearseFailedCreation(place, deployArgs(place)),
  },
  {
    name: 'cdk deploy makes both stacks',
    run: async (place) => {
      await deploy(place);
      return `webhook at ${deployed.outputsOf(place, deployed.SERVICE_STACK).WebhookUrl}`;
    },
  },
  {
    name: 'the table is as promised: protected, on demand, with stream and index',
    run: async (place) => {
      const facts = await tableFacts(place);
      expectEqual('the table', facts, {
        deletionProtection: true,
        billing: 'PAY_PER_REQUEST',
        stream: 'NEW_AND_OLD_IMAGES',
        index: ['due'],
      });
      return tableOf(place);
    },
  },
  {
    name: 'secrets are put into SSM and read back',
    run: async (place) => {
      const client = ssm(place);
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
      const item = { ...NOTE, text: { S: 'before the update' } };
      await dynamo(place).send(new PutItemCommand({ TableName: tableOf(place), Item: item }));
      expectEqual('the note', await noteIn(place), 'before the update');
      return '1 item';
    },
  },
  {
    name: 'the deployed admit function admits a job on the deployed table',
    run: async (place) => {
      const admit = await deployed.startDeployed(place, 'admit');
      try {
        const body = JSON.stringify({ requests: [QUESTION], remainingMs: 10_000 });
        const answer = await admit.invoke(documentedUrlEvent({ path: ADMISSIONS_PATH, body }));
        const { decisions } = answered(answer, 200);
        const [decision] = Array.isArray(decisions) ? decisions : [];
        expectEqual('the decision', isRecord(decision) ? decision.outcome : answer, 'admitted');
        return `job ${JOB_ID} is held`;
      } finally {
        await admit.close();
      }
    },
  },
  {
    name: 'the deployed settle endpoint takes a signed webhook and refuses a stranger’s',
    run: async (place) => {
      const settle = await deployed.startDeployed(place, 'settle');
      try {
        const deliveredWith = async (secret: string) => settle.invoke(await signedDelivery(secret, QUESTION));
        answered(await deliveredWith(`whsec_${Buffer.from('made up').toString('base64')}`), 401);
        expectEqual('the delivery', answered(await deliveredWith(WEBHOOK_SECRET), 200).outcome, 'received');
        return 'it lies in the inbox';
      } finally {
        await settle.close();
      }
    },
  },
  {
    name: 'the deployed consumer settles the job',
    run: async (place) => {
      const consumer = await deployed.startDeployed(place, 'settle-stream');
      try {
        const records = await arrivals(connection(place), tableOf(place));
        const answer = await consumer.invoke({ Records: records });
        expectEqual('what failed', answer, { batchItemFailures: [] });
        const job = { tableName: tableOf(place), instance: 'gitlab.example.com', jobId: JOB_ID };
        const state = await stateOfJob(connection(place), job);
        expectEqual(`the record of job ${JOB_ID}`, state, 'SETTLED');
        return `${records.length} delivery handed over`;
      } finally {
        await consumer.close();
      }
    },
  },
  ...RELAY_COURSE,
  ...LIMITS_COURSE,
  ...CONSOLE_COURSE,
  {
    name: 'cdk deploy changes a setting and leaves the books alone',
    run: async (place) => {
      const before = await deployed.relaysWanted(place);
      await deploy(place, '-c', 'relayCount=3');
      const after = await deployed.relaysWanted(place);
      expectEqual('how many relays are wanted', [before, after], [2, 3]);
      expectEqual('the note', await noteIn(place), 'before the update');
      return 'from 2 relays to 3';
    },
  },
  {
    name: 'cdk destroy alone is refused for what is protected',
    run: async (place) => {
      const stacks = [deployed.SERVICE_STACK, deployed.STATE_STACK];
      for (const stack of stacks) {
        const { code } = await cdk(place, 'destroy', stack, '--exclusively', '--force');
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
      expectEqual('the note', await noteIn(place), 'before the update');
      return 'the books are untouched';
    },
  },
  {
    name: 'the table outlives its stack and cannot be deleted by mistake',
    run: async (place) => {
      const { code, told } = await destroyWhile(place, 'dry_run', true);
      if (code !== 0) throw new Error(`it ended with ${code}: ${told}`);
      expectEqual('the state stack', await deployed.stackExists(place, deployed.STATE_STACK), false);
      expectEqual('the note', await noteIn(place), 'before the update');
      const deleted = await dynamo(place)
        .send(new DeleteTableCommand({ TableName: tableOf(place) }))
        .then(
          () => 'deleted',
          () => 'refused',
        );
      expectEqual('DeleteTable', deleted, 'refused');
      return tableOf(place);
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
