/** The least that holds a job on DynamoDB: one signed transaction of a record and three counters. No rules and no answers but yes. */
import { Agent, request as sendRequest } from 'node:http';
import { callSigner } from '../../../functions/core/contract/signature.ts';

const TABLE = 'bench';
const BOUND = '900000000';
const HEADERS = {
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-target': 'DynamoDB_20120810.TransactWriteItems',
};

type Job = Readonly<Record<'jobId' | 'projectId' | 'namespaceId' | 'rootNamespaceId', number>>;

function transactionOf(job: Job): string {
  const counters = [job.rootNamespaceId, job.namespaceId, job.projectId].map((subject) => ({
    Update: {
      ...{ TableName: TABLE, Key: { pk: { S: `counter ${subject}` }, sk: { S: 'counter' } } },
      ...{ UpdateExpression: 'ADD #c :a', ConditionExpression: 'attribute_not_exists(#c) OR #c <= :b' },
      ExpressionAttributeNames: { '#c': 'c' },
      ExpressionAttributeValues: { ':a': { N: '1' }, ':b': { N: BOUND } },
    },
  }));
  const name = `job ${job.jobId}`;
  const Item = { pk: { S: name }, sk: { S: 'record' }, request: { S: JSON.stringify(job) } };
  const put = { Put: { TableName: TABLE, Item, ConditionExpression: 'attribute_not_exists(pk)' } };
  return JSON.stringify({ ClientRequestToken: name, TransactItems: [put, ...counters] });
}

export function holdJobs(env: NodeJS.ProcessEnv): (job: Job) => Promise<void> {
  const { AWS_ENDPOINT_URL_DYNAMODB = '', AWS_REGION = '' } = env;
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = env;
  const { host, hostname, port } = new URL(AWS_ENDPOINT_URL_DYNAMODB);
  const to = { hostname, port, method: 'POST', path: '/', agent: new Agent({ keepAlive: true }) };
  const sign = callSigner(AWS_REGION, 'dynamodb');
  return (job) => {
    const body = transactionOf(job);
    const call = { method: 'POST', host, path: '/', headers: HEADERS, body };
    const headers = sign(call, { accessKeyId, secretAccessKey }, Date.now());
    return new Promise((resolve, reject) => {
      const request = sendRequest({ ...to, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.resume().on('end', resolve);
      });
      request.on('error', reject).end(body);
    });
  };
}
