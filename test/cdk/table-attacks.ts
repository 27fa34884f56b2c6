import { expect, test } from 'vitest';
import { INSTANCES_PK, ledgerKeys } from '../../functions/core/store/keys.ts';
import { rollupKeys } from '../../functions/core/usage/rollup-store.ts';
import * as names from '../../functions/names.ts';
import { isAllowed, type Statement } from './iam/evaluate.ts';
import { PRIVATE, synthesize } from './synthesized.ts';

const INSTANCE = 'gitlab.corp.test';
const keys = ledgerKeys(INSTANCE);
const usage = rollupKeys(INSTANCE);
const counter = { subject: 'group/101', limit: 'money-month', period: '2026-11' };
const day = { subject: 'group/101', day: '2026-11-21' };

/** One partition key of every kind of item, as the programs build it. */
const PARTITIONS = {
  session: keys.session('h').pk,
  'session of a user': keys.sessionOfUser(7, 'h').pk,
  'key of pseudonyms': keys.pseudonymKey(2026).pk,
  record: keys.record(4711).pk,
  counter: keys.counter(counter).pk,
  'counter of another instance': ledgerKeys('gitlab.other.test').counter(counter).pk,
  'announced mark': keys.announcement('x').pk,
  'inbox item': keys.inbox('x', 0).pk,
  'journal item': `${INSTANCE}${names.JOURNAL_PK_PREFIX}x`,
  'published rules': keys.rulesPointer.pk,
  'limits pointer': keys.limitPointer.pk,
  'limits chunk': keys.limitChunk('20261121', 'root/100', 0).pk,
  'opening of a period': keys.limitOpening(counter).pk,
  'change log': keys.limitLog(1).pk,
  'request for more': keys.limitRequest('r-1').pk,
  'directory pointer': keys.directoryPointer.pk,
  'directory chunk': keys.directoryChunk('v1', 'groups/7', 0).pk,
  'sweep marks': keys.sweepMarks.pk,
  'controller scope': keys.controllerScope.pk,
  'outcome of the recount': keys.recountOutcome.pk,
  'log of counters': keys.counterLog(1, 'x').pk,
  'snapshot of counters': keys.counterSnapshot.pk,
  'register of statements': keys.statementRegister.pk,
  'number of a statement': keys.statementNumber(1).pk,
  'closed statement': keys.closedStatement('group/101', '2026-10').pk,
  'change of prices': keys.priceChange(1).pk,
  'edition of prices': keys.priceEdition('ab', 0).pk,
  'outcome of the canary': keys.canaryOutcome.pk,
  'register of instances': INSTANCES_PK,
  'hourly health check': keys.healthLook.pk,
  'job that failed': keys.yetFailed.pk,
  heartbeat: `${INSTANCE}${names.HEARTBEAT_PK_SUFFIX}`,
  'rooms of relays': `${INSTANCE}${names.ROOMS_PK_SUFFIX}`,
  'watchdog mark': `${INSTANCE}${names.WATCHDOG_PK_SUFFIX}`,
  'notices cursor': `${INSTANCE}${names.NOTICES_PK_SUFFIX}`,
  'threshold alerts': keys.alertRecords('thresholds', counter).pk,
  'forecast alerts': keys.alertRecords('forecasts', counter).pk,
  'imported parameters': `${INSTANCE}${names.SSM_LIMITS_PK_SUFFIX}`,
  'list of retries': keys.requeueList(101).pk,
  usage: usage.usage(day).pk,
  'top projects': usage.top(day).pk,
  'latest rejections': usage.rejections('group/101').pk,
  estimates: usage.estimates(1001).pk,
} as const;
type Item = keyof typeof PARTITIONS;

const BOOKS: readonly Item[] = ['record', 'counter', 'announced mark', 'opening of a period'];
const LIMITS: readonly Item[] = [
  ...(['limits pointer', 'limits chunk', 'opening of a period', 'change log', 'request for more'] as const),
];

const STATEMENTS: readonly Item[] = [
  ...(['register of statements', 'number of a statement', 'closed statement'] as const),
  ...(['change of prices', 'edition of prices'] as const),
];

/** All that each role may put or update. Nobody deletes, but the console a session. */
const MAY_WRITE: Readonly<Record<string, readonly Item[]>> = {
  AdmitProgram: BOOKS,
  SettleProgram: ['inbox item'],
  SettleStreamProgram: BOOKS,
  RollupProgram: [
    ...(['log of counters', 'threshold alerts'] as const),
    ...(['record', 'opening of a period'] as const),
    ...(['usage', 'top projects', 'latest rejections', 'estimates'] as const),
  ],
  SweepProgram: [...BOOKS, 'job that failed', 'sweep marks', 'controller scope', 'register of instances'],
  DirectorySyncProgram: ['directory pointer', 'directory chunk'],
  SsmLimitsProgram: [...LIMITS, 'imported parameters'],
  NoticesProgram: ['notices cursor', 'forecast alerts'],
  RequeueProgram: ['record', 'counter', 'opening of a period', 'list of retries'],
  ConsoleProgram: [...LIMITS, 'session', 'session of a user', 'announced mark'],
  DriftCheckProgram: [
    ...(['record', 'counter', 'outcome of the recount', 'key of pseudonyms'] as const),
    ...(['snapshot of counters'] as const),
    ...STATEMENTS,
    ...(['usage', 'top projects', 'latest rejections', 'estimates'] as const),
  ],
  DoctorProgram: ['hourly health check'],
  WatchdogProgram: ['watchdog mark'],
  PolicyPublisher: ['published rules'],
  Relay: ['heartbeat', 'journal item', 'rooms of relays'],
};
const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLUpdate'] as const;

const statementsOf = new Map<string, Statement[]>();
const { resources } = synthesize(PRIVATE);
for (const [where, { Properties }] of [
  ...resources('AWS::IAM::Policy'),
  ...resources('AWS::IAM::ManagedPolicy'),
]) {
  const id = where.split('/')[1] ?? '';
  const role = Object.keys(MAY_WRITE).find((each) =>
    each === 'Relay' ? /^Relay.*TaskRole/.test(id) : id.startsWith(`${each}Role`) || id.includes(each),
  );
  if (role === undefined) continue;
  // The receiver's stack has the table, the others import it.
  const imported = JSON.stringify(Properties.PolicyDocument.Statement).replaceAll(
    /\{"Fn::(?:GetAtt":\["LedgerTable\w+","Arn"\]|ImportValue":"[\w:-]+LedgerTable\w+Arn\w+")\}/g,
    '"table"',
  );
  const statements = JSON.parse(imported) as readonly Statement[];
  statementsOf.set(role, [...(statementsOf.get(role) ?? []), ...statements]);
}
const table = JSON.stringify('table');

const may = (role: string, action: string, item: Item): boolean =>
  isAllowed(
    {
      action: `dynamodb:${action}`,
      resource: table,
      context: { 'dynamodb:LeadingKeys': [PARTITIONS[item]] },
    },
    statementsOf.get(role) ?? [],
  );

test('no role writes an item that is not its own, by any action', () => {
  expect([...statementsOf.keys()].sort()).toEqual(Object.keys(MAY_WRITE).sort());
  const taken: string[] = [];
  let refused = 0;
  for (const [role, own] of Object.entries(MAY_WRITE)) {
    for (const item of Object.keys(PARTITIONS) as Item[]) {
      for (const action of WRITES) {
        const legal =
          (own.includes(item) && (action === 'PutItem' || action === 'UpdateItem')) ||
          (role === 'ConsoleProgram' && action === 'DeleteItem' && /session|sign-in/.test(item));
        if (legal) continue;
        if (may(role, action, item)) taken.push(`${role} ${action} ${item}`);
        else refused += 1;
      }
    }
  }
  expect(taken).toEqual([]);
  expect(refused).toBeGreaterThan(1_400);
});

test('nobody updates or deletes what was closed', () => {
  const taken = Object.keys(MAY_WRITE).flatMap((role) =>
    ['UpdateItem', 'DeleteItem', 'BatchWriteItem', 'PartiQLUpdate', 'PartiQLDelete'].flatMap((action) =>
      STATEMENTS.filter((item) => may(role, action, item)).map((item) => `${role} ${action} ${item}`),
    ),
  );
  expect(taken).toEqual([]);
});

test('only the console reads who is signed in, also in a batch beside items of one’s own', () => {
  const readersOf = (item: Item): readonly string[] =>
    Object.keys(MAY_WRITE).filter((role) =>
      ['GetItem', 'Query', 'BatchGetItem', 'PartiQLSelect'].some((action) => may(role, action, item)),
    );
  expect(readersOf('session')).toEqual(['ConsoleProgram']);
  expect(readersOf('key of pseudonyms'), 'and only the check of the night').toEqual(['DriftCheckProgram']);
  const mixed = isAllowed(
    {
      action: 'dynamodb:BatchGetItem',
      resource: table,
      context: { 'dynamodb:LeadingKeys': [PARTITIONS.counter, PARTITIONS.session] },
    },
    statementsOf.get('AdmitProgram') ?? [],
  );
  expect(mixed).toBe(false);
});

test('a right that is added later opens no foreign item', () => {
  const everything: Statement = { Effect: 'Allow', Action: 'dynamodb:*', Resource: '*' };
  for (const [role, item] of [
    ['SettleProgram', 'session'],
    ['SettleProgram', 'counter'],
    ['AdmitProgram', 'limits pointer'],
    ['ConsoleProgram', 'counter'],
    ['DriftCheckProgram', 'limits pointer'],
  ] as const) {
    const call = {
      action: 'dynamodb:PutItem',
      resource: table,
      context: { 'dynamodb:LeadingKeys': [PARTITIONS[item]] },
    };
    expect(isAllowed(call, [...(statementsOf.get(role) ?? []), everything])).toBe(false);
  }
});

test('a customer’s key opens by way of one service of this region', () => {
  const open: string[] = [];
  for (const [role, statements] of statementsOf) {
    for (const { Effect, Action, Resource } of statements) {
      const actions = (Array.isArray(Action) ? Action : [Action]) as readonly string[];
      if (Effect !== 'Allow' || !actions.some((action) => action.startsWith('kms:'))) continue;
      for (const context of [
        {},
        { 'kms:ViaService': ['s3.eu-central-1.amazonaws.com'] },
        { 'kms:ViaService': ['dynamodb.us-east-1.amazonaws.com'] },
      ]) {
        const call = { action: 'kms:Decrypt', resource: JSON.stringify(Resource), context };
        if (isAllowed(call, statements)) open.push(`${role} ${JSON.stringify(context)}`);
      }
    }
  }
  expect(open).toEqual([]);
});
