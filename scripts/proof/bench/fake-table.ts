import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { INSTANCES_PK } from '../../../functions/core/store/keys.ts';
import { versioned } from '../../../functions/core/store/operation.ts';
import { ENV_GITLAB_INSTANCE, ENV_LEDGER_TABLE, ENV_RULES_FILE } from '../../../functions/names.ts';

const TABLE = 'bench';
const INSTANCE = 'bench.example.com';
export const TABLE_ANSWERS_AFTER_MS = 5;

/** The environment of programs on the table. */
export const tableEnv = (url: string, rulesFile: string): Readonly<Record<string, string>> => ({
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  AWS_ENDPOINT_URL_DYNAMODB: url,
  [ENV_LEDGER_TABLE]: TABLE,
  [ENV_GITLAB_INSTANCE]: INSTANCE,
  [ENV_RULES_FILE]: rulesFile,
});

/** A table that accepts every write, and has only the item of its instance. */
export const answerTable: RequestListener = async (request, response) => {
  const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
  const asksInstance = (await text(request)).includes(INSTANCES_PK);
  const items = asksInstance ? [{ pk: { S: INSTANCES_PK }, sk: { S: INSTANCE }, ...versioned }] : [];
  const bodies: Readonly<Record<string, object>> = {
    Query: { Items: items, Count: items.length },
    BatchGetItem: { Responses: { [TABLE]: items }, UnprocessedKeys: {} },
  };
  response.setHeader('content-type', 'application/x-amz-json-1.0');
  setTimeout(() => response.end(JSON.stringify(bodies[operation] ?? {})), TABLE_ANSWERS_AFTER_MS);
};
