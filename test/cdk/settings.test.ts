import { describe, expect, test } from 'vitest';
import { readDeployments, SettingsError } from '../../cdk/settings/read-deployments.ts';
import { DESCRIPTORS } from './descriptors.ts';
import { DEFAULTS, PRIVATE, SEVERAL } from './synthesized.ts';

const GITLAB = { url: 'https://gitlab.corp.test', descriptors: DESCRIPTORS };

const mistakesOf = (deployments: unknown, context = {}): readonly string[] => {
  try {
    readDeployments(deployments, context);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.mistakes.map(({ setting }) => setting);
  }
};

const messageOf = (deployments: unknown, context = {}): string => {
  try {
    readDeployments(deployments, context);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  throw new Error('nothing was refused');
};

test.each([
  ['the file as it stands', DEFAULTS],
  ['everything set', PRIVATE],
  ['several deployments', SEVERAL],
])('%s is taken', (_, deployments) => {
  expect(mistakesOf(deployments)).toEqual([]);
});

test('what is not said has a default, derived from GitLab and the stage', () => {
  const [settings] = readDeployments([{ stage: 'prod', gitlab: GITLAB }], {});
  expect(settings).toMatchObject({
    gitlab: { instance: 'gitlab.corp.test', routerUrl: 'wss://kas.gitlab.corp.test' },
    admitRoute: 'url',
    vpc: { kind: 'new' },
    relay: { count: 2, cpu: 256, memoryMiB: 512, deadlineMs: 2000, failurePolicy: 'admit' },
    parameters: {
      routerToken: '/tollgate/prod/router-token',
      gitlabToken: '/tollgate/prod/gitlab-token',
      webhookSecrets: '/tollgate/prod/webhook-secrets',
    },
    chargeUnknown: 'nothing',
    usageZone: 'UTC',
    watchdog: false,
  });
  expect([settings?.account, settings?.region, settings?.console]).toEqual([undefined, undefined, undefined]);
});

/** Wrong values by setting; `[0]` is the first of a list. */
const KEY_ARN = 'arn:aws:kms:eu-central-1:111122223333:key/8f7a2c51';

const WRONG: Readonly<Record<string, unknown>> = {
  ...{ stage: 'Prod', account: 111122223333, region: 'europe', admitRoute: 'http', relays: 2 },
  ...{ 'gitlab.url': 'http://gitlab.corp.test/', 'gitlab.descriptors': 1, 'gitlab.instance': 'a#b' },
  ...{
    'gitlab.routerUrl': 'ws://kas',
    'gitlab.proxyUrl': 'http://u:p@proxy:3128',
    'gitlab.caParameter': 'ca',
  },
  ...{ 'vpc.cidr': '10.0.0.0/8', 'vpc.id': 'vpc-1', 'vpc.subnetIds': 'subnet-1' },
  ...{ 'vpc.availabilityZones[0]': 'a', 'relay.count': 9, 'relay.cpu': 300, 'relay.image': 'relay' },
  ...{ 'relay.deadlineMs': 50, 'relay.failurePolicy': 'open', 'parameters.routerToken': 'router-token' },
  ...{ 'parameters.gitlabToken': '/aws/x', 'parameters.webhookSecrets': '', 'parameters.keyArn': 'key' },
  ...{ 'state.tableKeyArn': 'alias/x', 'state.exportDays': 91, 'alarms.emails[0]': 'nobody' },
  ...{ 'alarms.webhooks[0]': 'http://chat', 'alarms.topicArns[0]': 'topic', 'console.clientId': 'an id' },
  ...{
    'console.url': 'https://budget.corp.test/',
    'console.adminGroupId': '123',
    'console.financeGroupId': 0,
  },
  ...{ 'console.ownersFrom': 'developer', 'console.viewersFrom': 'everybody', 'console.admins': [1] },
  ...{
    chargeUnknown: 'all',
    usageZone: 'Berlin',
    logRetentionDays: 31,
    watchdog: 'on',
    metrics: 1,
    traces: null,
  },
};

test('every mistake of every deployment is reported in one error', () => {
  const wrong: Record<string, Record<string, unknown>> = {};
  for (const [setting, value] of Object.entries(WRONG)) {
    const [section = '', name] = setting.split('.');
    if (name === undefined) Object.assign(wrong, { [section]: value });
    else if (name.endsWith('[0]')) wrong[section] = { ...wrong[section], [name.slice(0, -3)]: [value] };
    else wrong[section] = { ...wrong[section], [name]: value };
  }
  expect([...mistakesOf([wrong, { stage: 'next', gitlab: {} }])].sort()).toEqual(
    [...Object.keys(WRONG), 'gitlab.url', 'gitlab.descriptors'].sort(),
  );
});

test('a mistake names the setting, its value, its place and the remedy', () => {
  expect(messageOf([{ stage: 'prod', gitlab: GITLAB, relay: { cpu: 512, memoryMiB: 512 } }])).toBe(
    '[settings_invalid] 1 setting is wrong:\n' +
      '  1. relay.memoryMiB is 512 (cdk/tollgate.config.ts, stage "prod"): expected one of 1024, 2048, 3072, 4096',
  );
});

test.each([
  ['none is named', undefined, 'gitlab.descriptors is missing (cdk/tollgate.config.ts, stage "prod")'],
  ['the file is not there, as in a fresh clone', 'relay/wire/none.binpb', 'is "relay/wire/none.binpb"'],
  ['it is the placeholder', 'relay/wire/default.binpb', 'is the placeholder of this repository'],
])(
  'without the descriptors of its GitLab nothing is deployed, and the remedy is told: %s',
  (_, descriptors, why) => {
    const message = messageOf([{ stage: 'prod', gitlab: { ...GITLAB, descriptors } }]);
    expect(message).toContain(why);
    expect(message).toContain('tollgate gitlab descriptors --ref v18.9.0');
  },
);

test('a misspelt setting is refused, not ignored', () => {
  expect(messageOf([{ stage: 'prod', gitlab: GITLAB, relay: { deadlineMS: 1 } }])).toContain(
    'relay.deadlineMS is 1 (cdk/tollgate.config.ts, stage "prod"): there is no such setting; here are',
  );
});

test('two deployments of one stage are refused: they would be one stack', () => {
  expect(mistakesOf([...SEVERAL, { stage: 'prod', gitlab: GITLAB }])).toEqual(['stage']);
});

test.each([
  [
    'no subnet for a zone',
    { availabilityZones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'] },
    'vpc.subnetIds',
  ],
  ['one zone only', { availabilityZones: ['eu-central-1a', 'eu-central-1a'] }, 'vpc.availabilityZones'],
  ['a range beside an existing VPC', { cidr: '10.83.0.0/24' }, 'vpc.cidr'],
])('%s is refused', (_, change, setting) => {
  const [deployment] = PRIVATE;
  expect(mistakesOf([{ ...deployment, vpc: { ...deployment?.vpc, ...change } }])).toEqual([setting]);
});

test('functions in public subnets are refused: they would get no address and reach nothing', () => {
  const [deployment] = PRIVATE;
  expect(messageOf([{ ...deployment, vpc: { ...deployment?.vpc, assignPublicIp: true } }])).toMatch(
    /gitlab\.reachedFrom is "vpc" \(cdk\/tollgate\.config\.ts, stage "private"\): .*private subnets/,
  );
});

test.each([
  [
    { region: 'eu-south-2' },
    'region is "eu-south-2" (cdk/tollgate.config.ts, stage "prod"): Lambda has no Function URLs',
  ],
  [{ region: 'eu-west-1', state: { tableKeyArn: KEY_ARN } }, 'is not in eu-west-1 (aws), and a table is'],
  [
    { region: 'cn-north-1', parameters: { keyArn: KEY_ARN } },
    'is not in cn-north-1 (aws-cn), and parameters are',
  ],
  [
    {
      region: 'eu-west-1',
      alarms: { topicArns: [KEY_ARN.replace(/kms.*/, 'sns:us-east-1:111122223333:on-call')] },
    },
    'alarms.topicArns is',
  ],
  [
    { parameters: { consoleToken: '/tollgate/prod/gitlab-token' } },
    'parameters.consoleToken is "/tollgate/prod/gitlab-token" (cdk/tollgate.config.ts, stage "prod"): it is the name of parameters.gitlabToken',
  ],
  [
    {
      parameters: { proxyCredentials: '/x' },
      gitlab: { ...GITLAB, proxyUrl: 'http://p:1', caParameter: '/x' },
    },
    'gitlab.caParameter is "/x"',
  ],
])('%j is refused before anything is deployed', (settings, refusal) => {
  expect(messageOf([{ stage: 'prod', gitlab: GITLAB, ...settings }])).toContain(refusal);
});

describe('the command line', () => {
  test('wins over the file', () => {
    const context = {
      'relay.image': 'registry.example.com/relay:1',
      'relay.cpu': '512',
      'relay.memoryMiB': '2048',
      traces: 'true',
      'alarms.emails': 'a@corp.test,b@corp.test',
    };
    const [settings] = readDeployments([{ stage: 'prod', gitlab: GITLAB }], context);
    expect(settings).toMatchObject({
      relay: { image: 'registry.example.com/relay:1', cpu: 512, memoryMiB: 2048 },
      traces: true,
      alarms: { emails: ['a@corp.test', 'b@corp.test'] },
    });
  });

  test('chooses one stage; the mistakes of the others do not matter then', () => {
    const chosen = readDeployments([{ stage: 'broken' }, ...SEVERAL], { stage: 'staging' });
    expect(chosen.map(({ stage }) => stage)).toEqual(['staging']);
  });

  test('that names no setting or stage of ours is refused, and CDK may keep its own', () => {
    expect(mistakesOf(DEFAULTS, { relayimage: 'x', 'relay.cpus': '1' })).toEqual([
      'relay.cpus',
      'relayimage',
    ]);
    expect(messageOf(DEFAULTS, { 'relay.cpu': 'x' })).toContain('relay.cpu is "x" (-c relay.cpu): expected');
    expect(mistakesOf(DEFAULTS, { stage: 'prdo' })).toEqual(['stage']);
    const cdksOwn = {
      '@aws-cdk/core:x': true,
      'aws:cdk:y': [],
      'cdk-migrate': true,
      'availability-zones:z': [],
    };
    expect(mistakesOf(DEFAULTS, cdksOwn)).toEqual([]);
  });
});
