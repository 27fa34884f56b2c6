import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JOBS_PER_SECOND, webhooksAtOnce } from '../../../cdk/settings/webhooks-at-once.ts';
import { INBOX_SK } from '../../../functions/core/store/keys.ts';
import { SK } from '../../../functions/core/store/operation.ts';
import {
  ENV_DYNAMODB_ENDPOINT,
  ENV_LEDGER_TABLE,
  ENV_WEBHOOK_SECRETS_PARAMETER,
} from '../../../functions/names.ts';
import type { HostedBundle } from '../../../scripts/proof/rehearse/hosted-bundle.ts';
import {
  aFake,
  aRig,
  delivery,
  type Fake,
  fakeParameters,
  type Rig,
  type UrlAnswer,
  WEBHOOK_SECRET,
} from '../../support/bundle-rig.ts';
import { aJobHook } from '../../support/job-hook-bodies.ts';
import { localTable } from '../../support/ledger/local-table.ts';

const PARAMETER = '/tollgate/test/webhook-secrets';
/** What the table throttles of the writes, each of them once. */
const EVERY = 7;
/** Half a second of a burst: the default setting's 1 job a second, ten times, of which one webhook in four is an end. */
const BURST = webhooksAtOnce(JOBS_PER_SECOND.fallback);
const ROUNDS = 5;

const TABLE = 'webhook-burst';
const table = localTable(TABLE);
let parameters: Fake;
let throttling: Fake;
let rig: Rig;
let settle: HostedBundle;
let throttled = 0;

beforeAll(async () => {
  const { endpoint } = table;
  parameters = await fakeParameters({ [PARAMETER]: `${WEBHOOK_SECRET}\n` });
  let writes = 0;
  throttling = await aFake(async ({ headers }, body, response) => {
    const target = String(headers['x-amz-target']);
    writes += 1;
    if (writes % EVERY === 0) {
      throttled += 1;
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException' }));
      return;
    }
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: {
        'x-amz-target': target,
        'content-type': 'application/x-amz-json-1.0',
        authorization: String(headers.authorization),
        'x-amz-date': String(headers['x-amz-date']),
      },
      body,
    });
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(await answer.text());
  });
  rig = aRig(endpoint);
  settle = await rig.start('settle', {
    [ENV_WEBHOOK_SECRETS_PARAMETER]: PARAMETER,
    [ENV_LEDGER_TABLE]: TABLE,
    [ENV_DYNAMODB_ENDPOINT]: throttling.url,
    AWS_ENDPOINT_URL_SSM: parameters.url,
  });
});

afterAll(async () => {
  await rig?.close();
  throttling?.close();
  parameters?.close();
});

test('a burst loses no webhook, though the table throttles some of its writes', async () => {
  const answers: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const together = Array.from({ length: BURST }, (_, at) => {
      const jobId = 1 + round * BURST + at;
      const status = at % 4 === 0 ? 'success' : 'running';
      const body = JSON.stringify(aJobHook({ build_id: jobId, build_status: status }));
      return settle.invoke(delivery(body, { id: `burst-${jobId}` }));
    });
    answers.push(...(await Promise.all(together)).map((answer) => (answer as UrlAnswer).statusCode));
  }
  expect(answers).toEqual(Array.from({ length: ROUNDS * BURST }, () => 200));
  expect(throttled).toBeGreaterThan(0);
  const everything = new ScanCommand({ TableName: TABLE, ConsistentRead: true });
  const { Items = [] } = await table.client.send(everything);
  expect(Items.filter((item) => item[SK]?.S?.startsWith(INBOX_SK))).toHaveLength((ROUNDS * BURST) / 4);
});
