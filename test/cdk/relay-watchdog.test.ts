import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RelayNetwork } from '../../cdk/constructs/network.ts';
import { Watchdog } from '../../cdk/constructs/watchdog.ts';
import { readWatchdogConfig } from '../../functions/core/environment/settings.ts';
import { someSettings } from './relay-settings.ts';
import { statementsOf } from './relay-stack.ts';

const TABLE_ARN = 'arn:aws:dynamodb:eu-central-1:123456789012:table/tollgate-prod';
const bundlesPath = mkdtempSync(join(tmpdir(), 'tollgate-bundles-'));
afterAll(() => rmSync(bundlesPath, { recursive: true }));

let template: Template;
beforeAll(() => {
  mkdirSync(join(bundlesPath, 'watchdog'));
  writeFileSync(join(bundlesPath, 'watchdog', 'handler.mjs'), 'export const handler = () => {};');
  template = templateOf(someSettings({ watchdog: true }));
});

function templateOf(settings: ReturnType<typeof someSettings>): Template {
  const stack = new Stack(new App({ analyticsReporting: false }), 'Watchdog');
  new Watchdog(stack, 'Watchdog', {
    settings,
    table: Table.fromTableArn(stack, 'Table', TABLE_ARN),
    controllerId: 7,
    controllerTokenParameter: '/tollgate/prod/controller-token',
    topic: Topic.fromTopicArn(stack, 'Topic', 'arn:aws:sns:eu-central-1:123456789012:pages'),
    network: new RelayNetwork(stack, 'Network', settings.vpc),
    bundlesPath,
  });
  return Template.fromStack(stack);
}

test('it looks every minute, one look at a time, and a look that failed is not repeated', () => {
  template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' });
  template.hasResourceProperties('AWS::Lambda::Function', { ReservedConcurrentExecutions: 1 });
  template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', { MaximumRetryAttempts: 0 });
});

test('its environment is one it starts with', () => {
  const fn = Object.values(template.findResources('AWS::Lambda::Function'))[0];
  expect(readWatchdogConfig(fn?.Properties.Environment.Variables)).toMatchObject({
    ledgerTable: 'tollgate-prod',
    controllerId: 7,
    controllerTokenParameter: '/tollgate/prod/controller-token',
  });
});

test('it reads heartbeats and keeps its mark; the books are closed to it', () => {
  const statements = statementsOf(template, /Watchdog/);
  const onTable = statements.filter(({ Resource }) => Resource === TABLE_ARN);
  expect(onTable).toMatchObject([
    {
      Action: 'dynamodb:Query',
      Condition: {
        'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['gitlab.example.com@heartbeat'] },
      },
    },
    {
      Action: ['dynamodb:GetItem', 'dynamodb:PutItem'],
      Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['gitlab.example.com@watchdog'] } },
    },
  ]);
  expect(onTable).toHaveLength(2);
  expect(JSON.stringify(statements)).not.toContain('"*"');
});

test('of a job that failed although admitted it reads only where it is to disarm for one', () => {
  const disarming = templateOf(someSettings({ watchdog: true, disarmAfterFailedJob: true }));
  const [fn] = Object.values(disarming.findResources('AWS::Lambda::Function'));
  expect(readWatchdogConfig(fn?.Properties.Environment.Variables).disarmsAfterFailedJob).toBe(true);
  const rights = statementsOf(disarming, /Watchdog/).filter(({ Resource }) => Resource === TABLE_ARN);
  expect(rights.slice(2)).toMatchObject([
    {
      Action: 'dynamodb:GetItem',
      Condition: {
        'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['gitlab.example.com@yet-failed'] },
      },
    },
  ]);
});
