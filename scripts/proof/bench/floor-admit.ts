/** The least that holds a job on DynamoDB: one signed transaction of a record and three counters. No rules and no answers but yes. */
import { signedPost } from './floor-post.ts';

const TABLE = 'bench';
const BOUND = '900000000';
const HEADERS = {
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-target': 'DynamoDB_20120810.TransactWriteItems',
};

type Job = Readonly<Record<'jobId' | 'projectId' | 'namespaceId' | 'rootNamespaceId', number>>;

export function holdOf(name: string, request: unknown, subjects: readonly number[]) {
  const counters = subjects.map((subject) => ({
    Update: {
      ...{ TableName: TABLE, Key: { pk: { S: `counter ${subject}` }, sk: { S: 'counter' } } },
      ...{ UpdateExpression: 'ADD #c :a', ConditionExpression: 'attribute_not_exists(#c) OR #c <= :b' },
      ExpressionAttributeNames: { '#c': 'c' },
      ExpressionAttributeValues: { ':a': { N: '1' }, ':b': { N: BOUND } },
    },
  }));
  const Item = { pk: { S: name }, sk: { S: 'record' }, request: { S: JSON.stringify(request) } };
  const put = { Put: { TableName: TABLE, Item, ConditionExpression: 'attribute_not_exists(pk)' } };
  return { ClientRequestToken: name, TransactItems: [put, ...counters] };
}

export function holdJobs(tableUrl: string): (job: Job) => Promise<void> {
  const post = signedPost(tableUrl, 'dynamodb', HEADERS);
  return (job) => {
    const subjects = [job.rootNamespaceId, job.namespaceId, job.projectId];
    return post(JSON.stringify(holdOf(`job ${job.jobId}`, job, subjects)));
  };
}
