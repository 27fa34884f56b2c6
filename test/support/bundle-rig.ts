import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { groupHookKey, groupHookUrl } from '../../functions/core/gitlab/group-hooks.ts';
import { dynamoTable } from '../../functions/core/store/sdk-table.ts';
import * as names from '../../functions/names.ts';
import { bundleFunction, type FunctionName } from '../../scripts/build/bundle.ts';
import { packRules } from '../../scripts/build/pack-rules.ts';
import { ensureTable } from '../../scripts/local/dynamodb-local.ts';
import {
  documentedUrlEvent,
  type HostedBundle,
  hostBundle,
} from '../../scripts/proof/rehearse/hosted-bundle.ts';
import { patientClient } from './ledger/patient-client.ts';
import { sharedDynamoDb } from './ledger/shared-dynamodb.ts';
import { BUNDLES, newRunFolder } from './run-folders.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const INSTANCE = 'bundles.example.com';
export const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of these tests only').toString('base64')}`;
export const GITLAB_TOKEN = 'glpat-of-these-tests-only';

export interface Fake {
  readonly url: string;
  close(): void;
}

export async function aFake(
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<Fake> {
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    answer(request, body, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** @param read - the names of the parameters that were read, with decryption. */
export const fakeParameters = (
  values: Readonly<Record<string, string>>,
  read: string[] = [],
): Promise<Fake> =>
  aFake((_, body, response) => {
    const { Name, WithDecryption } = JSON.parse(body) as { Name: string; WithDecryption?: boolean };
    if (WithDecryption === true) read.push(Name);
    const Value = values[Name];
    response.writeHead(Value === undefined ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(
      JSON.stringify(Value === undefined ? { __type: 'ParameterNotFound' } : { Parameter: { Name, Value } }),
    );
  });

/** SNS, as far as publishing goes. */
export const fakeSns = (published: URLSearchParams[]): Promise<Fake> =>
  aFake((_, body, response) => {
    published.push(new URLSearchParams(body));
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(
      '<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>m</MessageId></PublishResult></PublishResponse>',
    );
  });

export type Rig = Awaited<ReturnType<typeof aRig>>;

export async function aRig() {
  const endpoint = sharedDynamoDb();
  const client = patientClient(endpoint);
  mkdirSync(BUNDLES, { recursive: true });
  const folder = newRunFolder(BUNDLES);
  const rules = JSON.stringify(packRules({ folder: `${root}policies`, force: false, nowMs: Date.now() }));
  const started: HostedBundle[] = [];
  // A name of its own: files of one worker share modules and the database.
  const name = `bundles-${randomUUID()}`;
  await ensureTable(client, name);
  return {
    /** The table that the functions use. */
    table: dynamoTable(client, name),
    /** Builds a function as it is deployed and starts it with this environment besides the usual one. */
    start: async (program: FunctionName, more: Readonly<Record<string, string>> = {}) => {
      const own = join(folder, program.replace('/', '-'));
      mkdirSync(own, { recursive: true });
      await bundleFunction(program, join(own, 'handler.mjs'));
      writeFileSync(join(own, 'rules.json'), rules);
      const bundle = await hostBundle({
        folder: own,
        env: {
          ...{ HOME: own, AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
          [names.ENV_LEDGER_TABLE]: name,
          [names.ENV_GITLAB_INSTANCE]: INSTANCE,
          [names.ENV_RULES_FILE]: join(own, 'rules.json'),
          [names.ENV_DYNAMODB_ENDPOINT]: endpoint,
          ...more,
        },
      });
      started.push(bundle);
      return { ...bundle, folder: own };
    },
    close: async (): Promise<void> => {
      for (const bundle of started) await bundle.close();
      client.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const bodyOf = (answer: unknown): unknown => JSON.parse((answer as { readonly body: string }).body);

const HOOK_GROUP = 100;

/** The same call as API Gateway passes it on from a domain of the settings; bodies are always encoded. */
export function throughApi(url: Record<string, unknown>): Record<string, unknown> {
  const {
    rawPath: path,
    headers,
    body,
    isBase64Encoded,
    requestContext,
  } = url as {
    rawPath: string;
    headers: Readonly<Record<string, string>>;
    body?: string;
    isBase64Encoded: boolean;
    requestContext: { readonly http: { readonly method: string; readonly sourceIp: string } };
  };
  const { method: httpMethod, sourceIp } = requestContext.http;
  return {
    ...{ resource: '/{proxy+}', path, httpMethod, headers, isBase64Encoded: true },
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    ...{ queryStringParameters: null, multiValueQueryStringParameters: null, stageVariables: null },
    pathParameters: { proxy: path.slice(1) },
    requestContext: {
      ...{ httpMethod, path, stage: 'live', protocol: 'HTTP/1.1', domainName: 'budget.example.com' },
      ...{ identity: { sourceIp }, resourcePath: '/{proxy+}', requestId: 'b1c2', apiId: 'a1b2' },
    },
    body: body === undefined || isBase64Encoded ? (body ?? null) : Buffer.from(body).toString('base64'),
  };
}

export function delivery(
  body: string,
  {
    id,
    secret = WEBHOOK_SECRET,
    sentAt: at = new Date(),
    base64 = false,
  }: { readonly id: string; readonly secret?: string; readonly sentAt?: Date; readonly base64?: boolean },
): Record<string, unknown> {
  return documentedUrlEvent({
    path: groupHookUrl(names.WEBHOOK_PATH, HOOK_GROUP),
    headers: {
      'x-gitlab-event': 'Job Hook',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(groupHookKey(secret, HOOK_GROUP)).sign(id, at, body),
    },
    body,
    base64,
  });
}
