import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../functions/core/ledger/dynamo-store.ts';
import { createLimitsDesk } from '../../../functions/core/limits/create-limits-desk.ts';
import { DynamoLimitTable } from '../../../functions/core/limits/limit-table.ts';
import { snsNotifier } from '../../../functions/core/notify/sns.ts';
import { dynamoTable } from '../../../functions/core/store/sdk-table.ts';
import { DynamoRollupStore } from '../../../functions/core/usage/rollup-store.ts';
import { dynamoCursorStore } from '../../../functions/notices/cursor.ts';
import { sendNotices } from '../../../functions/notices/send-notices.ts';
import { aPolicy } from '../../policies/documents.ts';
import { type Fake, fakeSns } from '../../support/bundle-rig.ts';
import { localTable } from '../../support/ledger/local-table.ts';
import { manualClock } from '../../support/ledger/test-clock.ts';
import { memoryAlertRecords } from '../../support/tables/memory-alert-records.ts';
import { DIRECTORY } from '../console/house.ts';
import { CONSOLE_URL, OWNED } from './harness.ts';

const TABLE = 'notices';
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:thresholds';
const local = localTable(TABLE);

let sns: Fake;
let published: URLSearchParams[];
beforeEach(async () => {
  published = [];
  sns = await fakeSns(published);
  vi.stubEnv('AWS_ENDPOINT_URL_SNS', sns.url);
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
});
afterEach(() => {
  vi.unstubAllEnvs();
  sns.close();
});

function instanceOf(instance: string) {
  const clock = manualClock();
  const calls: string[] = [];
  const { client } = local;
  client.middlewareStack.add(
    (next, context) => (args) => {
      calls.push(context.commandName ?? '?');
      return next(args);
    },
    { step: 'initialize', name: `count-${instance}` },
  );
  const table = { table: dynamoTable(client, TABLE), instance, clock, random: Math.random };
  const limitTable = new DynamoLimitTable(table);
  const ledger = createLedger({ store: new DynamoStore(table), clock });
  const policy = aPolicy();
  let ids = 0;
  const desk = createLimitsDesk({
    table: limitTable,
    policy,
    directory: async () => DIRECTORY,
    ledger,
    clock,
    newId: () => {
      ids += 1;
      return `id${ids}`;
    },
  });
  const deps = {
    cursors: dynamoCursorStore(table),
    limitTable,
    policy,
    packed: { version: 'packed', bySubject: new Map(), rollouts: new Map(), personalDefault: [] },
    directory: async () => DIRECTORY,
    ledger,
    usage: new DynamoRollupStore(table),
    notify: snsNotifier({ topicArn: TOPIC }),
    clock,
    zone: 'UTC',
    consoleUrl: CONSOLE_URL,
    alerts: memoryAlertRecords(clock),
    log: silentLog,
  };
  const edit = async (edits: Parameters<typeof desk.apply>[0]): Promise<void> => {
    const outcome = await desk.apply(edits, {
      ...{ actor: 'fritz', rights: [{ role: 'finance' }], why: 'w', source: 'page', confirmed: true },
      base: (await desk.live())?.pointer.set,
    });
    if (outcome.outcome !== 'live') throw new Error(JSON.stringify(outcome));
  };
  const done = () => client.middlewareStack.remove(`count-${instance}`);
  return { deps, edit, calls, clock, done };
}

const lower = { kind: 'set', subject: 'group/101', limit: 'money-month', amount: 300 } as const;

test('a run without events is four reads and no write', async () => {
  const { deps, edit, calls, clock, done } = instanceOf('idle.example.com');
  await edit(OWNED);
  await sendNotices(deps);
  calls.length = 0;
  clock.advance(15 * 60_000);
  await sendNotices(deps);
  expect(calls.toSorted()).toEqual([
    'BatchGetItemCommand',
    'GetItemCommand',
    'GetItemCommand',
    'QueryCommand',
  ]);
  expect(published).toEqual([]);
  done();
});

test('a message reaches the topic as text and JSON, with attributes for filters', async () => {
  const { deps, edit, done } = instanceOf('topic.example.com');
  await edit(OWNED);
  await sendNotices(deps);
  await edit([lower]);
  expect(await sendNotices(deps)).toEqual({ notices: 1, messages: 1, waiting: 0 });
  const [form] = published;
  expect(form?.get('TopicArn')).toBe(TOPIC);
  expect(form?.get('Subject')).toMatch('Tollgate: CI budget of group acme/payments tightened');
  const attributes = [1, 2, 3].map((at) => {
    const entry = `MessageAttributes.entry.${at}`;
    return [form?.get(`${entry}.Name`), form?.get(`${entry}.Value.StringValue`)];
  });
  const filters = { owner: 'payments-leads', kind: 'notices', severity: 'warning' };
  expect(Object.fromEntries(attributes)).toEqual(filters);
  const forms = JSON.parse(form?.get('Message') ?? '');
  expect(forms.email).toContain(`${CONSOLE_URL}/groups/101`);
  expect(JSON.parse(forms.default)).toMatchObject({ kind: 'notices', owner: 'payments-leads' });
  done();
});
