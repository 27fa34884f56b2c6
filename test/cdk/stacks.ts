import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Deployment } from '../../cdk/settings/props.ts';
import { readConsoleConfig } from '../../functions/console/config.ts';
import * as settings from '../../functions/core/environment/settings.ts';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { ledgerTable } from '../../functions/core/store/operation.ts';
import {
  BUNDLES,
  DEFAULTS,
  PRIVATE,
  type Resource,
  SEVERAL,
  STUBS,
  type Synthesized,
  synthesize,
  synthesizeAnew,
} from './synthesized.ts';

const [standard, closed, several] = [synthesize(DEFAULTS), synthesize(PRIVATE), synthesize(SEVERAL)];

const textOf = (value: unknown): string => JSON.stringify(value) ?? '';

/** The one whose logical id begins so. */
function one(synthesized: Synthesized, type: string, begins: string): Resource {
  const found = synthesized.resources(type).filter(([where]) => where.split('/')[1]?.startsWith(begins));
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) throw new Error(`${found.length} of ${type} ${begins}`);
  return only[1];
}

const fn = (synthesized: Synthesized, construct: string): Resource =>
  one(synthesized, 'AWS::Lambda::Function', `${construct}ProgramFunction`);

const rightsOf = (synthesized: Synthesized, role: string): string =>
  textOf(one(synthesized, 'AWS::IAM::Policy', `${role}DefaultPolicy`).Properties);

describe('every function', () => {
  test('has a bundle of its own', () => {
    const functions = closed.resources('AWS::Lambda::Function');
    const names = functions.map(([, { Properties }]) => Properties.FunctionName);
    expect(names.sort()).toEqual(BUNDLES.map((name) => `tollgate-private-${name}`).sort());
  });

  test.each([
    ['Admit', settings.readAdmitConfig],
    ['Settle', settings.readSettleConfig],
    ['SettleStream', settings.readAdmitConfig],
    ['Rollup', settings.readRollupConfig],
    ['Sweep', settings.readSweepConfig],
    ['DriftCheck', settings.readDriftConfig],
    ['DirectorySync', settings.readDirectoryConfig],
    ['Doctor', settings.readDoctorConfig],
    ['SsmLimits', settings.readSsmLimitsConfig],
    ['Notices', settings.readNoticesConfig],
    ['Requeue', settings.readRequeueConfig],
    ['Watchdog', settings.readWatchdogConfig],
    ['Console', readConsoleConfig],
  ])('%s is told everything it refuses to start without', (construct, read) => {
    const { Variables } = fn(closed, construct).Properties.Environment;
    const told = Object.fromEntries(
      Object.entries(Variables).map(([name, value]) => [name, typeof value === 'string' ? value : 'told']),
    );
    // Lambda says by itself where it runs.
    expect(() => read({ ...told, AWS_REGION: 'eu-central-1' })).not.toThrow();
  });

  test('is told the names of secrets, and may read them, and no template holds one', () => {
    const { Variables } = fn(closed, 'Settle').Properties.Environment;
    expect(Variables).toMatchObject({
      TOLLGATE_WEBHOOK_SECRETS_PARAMETER: '/tollgate/private/webhook-secrets',
      TOLLGATE_WEBHOOK_TOKENS_PARAMETER: '/tollgate/private/webhook-tokens',
    });
    expect(rightsOf(closed, 'SettleProgramRole')).toContain(':parameter/tollgate/private/webhook-secrets');
    expect(rightsOf(closed, 'SweepProgramRole')).toContain(':parameter/tollgate/private/gitlab-token');
    const readers = closed
      .resources('AWS::IAM::Policy')
      .filter(([, { Properties }]) => /private\/(?:console-token|signin-secret)/.test(textOf(Properties)))
      .map(([where]) => where.split('/')[1]);
    expect(readers).toEqual([expect.stringMatching(/^ConsoleProgramRole/)]);
    for (const synthesized of [standard, closed, several]) {
      expect(synthesized.resources('AWS::SSM::Parameter')).toEqual([]);
      expect(synthesized.resources('AWS::SecretsManager::Secret')).toEqual([]);
      expect(textOf(synthesized.stacks)).not.toContain('{{resolve:');
    }
  });
});

describe('the readers of the stream', () => {
  const mapping = (construct: string) =>
    one(standard, 'AWS::Lambda::EventSourceMapping', `${construct}Consumer`).Properties;

  test.each([
    ['SettleStream', ['INSERT'], [{ prefix: 'inbox' }], []],
    [
      'Rollup',
      ['INSERT', 'MODIFY'],
      ['record', 'counter', 'closing', { prefix: 'entry#' }],
      [{ prefix: 'gitlab.example.com@limits' }],
    ],
  ])('%s are woken only by what their program handles', (construct, eventName, sortKeys, partitions) => {
    const filters: readonly { readonly Pattern: string }[] = mapping(construct).FilterCriteria.Filters;
    expect(filters.map(({ Pattern }) => JSON.parse(Pattern))).toEqual([
      { eventName, dynamodb: { Keys: { sk: { S: sortKeys } } } },
      ...(partitions.length === 0 ? [] : [{ eventName, dynamodb: { Keys: { pk: { S: partitions } } } }]),
    ]);
    const keys = ledgerKeys('gitlab.example.com');
    const counter = keys.counter({ subject: 'group/101', limit: 'money-month', period: '2026-11' });
    const written = [
      ...[
        keys.inbox('delivery', 0),
        keys.record(7),
        counter,
        keys.closing({ subject: 'instance', limit: 'l', period: 'p' }),
      ],
      keys.entry(7, 1),
    ].map(({ sk }) => sk);
    const meets = (pattern: string | { readonly prefix: string }) => (key: string) =>
      typeof pattern === 'string' ? key === pattern : key.startsWith(pattern.prefix);
    expect(sortKeys.filter((pattern) => !written.some(meets(pattern)))).toEqual([]);
    for (const pattern of partitions) expect(meets(pattern)(keys.limitLog(1).pk)).toBe(true);
  });
});

describe('what runs by the clock', () => {
  test.each([
    [false, ['@heartbeat', '@watchdog']],
    [true, ['@heartbeat', '@watchdog', '@yet-failed']],
  ])('the watchdog that disarms after failed jobs (%s) reads only %j', (disarmAfterFailedJob, suffixes) => {
    const [deployment] = DEFAULTS;
    const gitlab = { ...deployment?.gitlab, controllerId: 7 };
    const watched = synthesize([
      { ...deployment, gitlab, watchdog: true, disarmAfterFailedJob } as Deployment,
    ]);
    const { Statement } = one(watched, 'AWS::IAM::Policy', 'WatchdogProgramRoleDefaultPolicy').Properties
      .PolicyDocument;
    const statements = Statement as readonly Record<string, unknown>[];
    const ofTable = statements.filter(({ Action }) => textOf(Action).includes('dynamodb:'));
    expect(ofTable.map(({ Condition }) => Condition)).toEqual(
      suffixes.map((suffix) => ({
        'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [`gitlab.example.com${suffix}`] },
      })),
    );
    expect(textOf(ofTable.map(({ Action }) => Action))).not.toMatch(/Update|Delete|Scan|Batch/);
  });
});

describe('deployments of one account', () => {
  test('share no name', () => {
    const NAMES = ['FunctionName', 'LogGroupName', 'QueueName', 'TopicName', 'Name', 'RuleName'];
    const names = several.stacks.flatMap(({ template }) =>
      Object.values(template.Resources).flatMap(({ Type, Properties }) =>
        NAMES.flatMap((name) =>
          Type !== 'AWS::Lambda::Alias' && typeof Properties?.[name] === 'string'
            ? [`${Type} ${Properties[name]}`]
            : [],
        ),
      ),
    );
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('hold on to their own books, and to nothing else: functions know no relay', () => {
    for (const { name, template } of several.stacks.filter((stack) => !stack.name.endsWith('State'))) {
      const [, stage, kind] = /^Tollgate-(.+)-(\w+)$/.exec(name) ?? [];
      const used = (intrinsic: RegExp) => new Set(textOf(template).match(intrinsic));
      expect(used(/"Fn::ImportValue":"[^:]+:/g)).toEqual(
        new Set([`"Fn::ImportValue":"Tollgate-${stage}-State:`]),
      );
      // URLs are referred to weakly, because a change of the settings takes them away.
      const weak = `"Fn::GetStackOutput":{"StackName":"Tollgate-${stage}-${kind === 'Relays' ? 'Functions' : 'State'}"`;
      expect(used(/"Fn::GetStackOutput":{"StackName":"[^"]+"/g)).toEqual(new Set([weak]));
    }
  });

  test.each([
    ['admit/handler.mjs', ['Functions']],
    ['relay/relay.mjs', ['Relays']],
    ['settle/handler.mjs', ['State']],
    ['settle/rules.json', []],
  ])('with another %s change %j alone', (file, changed) => {
    const bundles = mkdtempSync(join(tmpdir(), 'tollgate-changed-'));
    cpSync(STUBS, bundles, { recursive: true });
    writeFileSync(join(bundles, file), 'changed');
    const { stacks } = synthesizeAnew(DEFAULTS, {}, bundles);
    const others = stacks.filter(
      ({ template }, at) => textOf(template) !== textOf(standard.stacks[at]?.template),
    );
    expect(others.map(({ name }) => name.replace('Tollgate-prod-', ''))).toEqual(changed);
  });
});

describe('the table', () => {
  test('has the keys, the index and the stream that the programs are tested on', () => {
    const [[, table] = []] = standard.resources('AWS::DynamoDB::Table');
    const { AttributeDefinitions, ...tested } = ledgerTable('any');
    const byName = (definitions: readonly { readonly AttributeName?: string | undefined }[] = []) =>
      definitions.toSorted((a, b) => String(a.AttributeName).localeCompare(String(b.AttributeName)));
    expect(byName(table?.Properties.AttributeDefinitions)).toEqual(byName(AttributeDefinitions));
    for (const name of ['KeySchema', 'GlobalSecondaryIndexes', 'BillingMode'] as const)
      expect(table?.Properties[name]).toEqual(tested[name]);
    expect(table?.Properties.StreamSpecification.StreamViewType).toBe(
      tested.StreamSpecification?.StreamViewType,
    );
  });

  test('has no copy outside where the settings say so, and the bucket stays', () => {
    const [first] = DEFAULTS;
    const without = synthesize([{ ...first, state: { exportDays: 0 } } as Deployment]);
    expect(textOf(without.resources('AWS::IAM::Policy'))).not.toContain('"s3:');
    const [[, bucket] = []] = without.resources('AWS::S3::Bucket');
    expect(bucket?.Properties.LifecycleConfiguration.Rules).toMatchObject([{ ExpirationInDays: 1 }]);
  });
});
