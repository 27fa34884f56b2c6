import type { Settings } from '../../cdk/settings/settings.ts';
import { readDeployableDescriptors } from '../../relay/wire/deployable-descriptors.ts';
import { DESCRIPTORS } from './descriptors.ts';

/** Settings with every default, as a deployment of `prod` has them. */
export const someSettings = (over: Partial<Settings> = {}): Settings => ({
  stage: 'prod',
  account: undefined,
  region: undefined,
  gitlab: {
    url: 'https://gitlab.example.com',
    descriptors: readDeployableDescriptors(DESCRIPTORS),
    instance: 'gitlab.example.com',
    routerUrl: 'wss://kas.gitlab.example.com',
    controllerId: undefined,
    reachedFrom: 'internet',
  },
  admitRoute: 'url',
  vpc: { kind: 'new', cidr: '10.83.0.0/24' },
  relay: {
    count: 2,
    cpu: 256,
    memoryMiB: 512,
    image: undefined,
    deadlineMs: 2_000,
    failurePolicy: 'admit',
    proxyUrl: undefined,
    caParameter: undefined,
  },
  webhooks: { jobsPerSecond: 1 },
  parameters: {
    routerToken: '/tollgate/prod/router-token',
    gitlabToken: '/tollgate/prod/gitlab-token',
    controllerToken: '/tollgate/prod/controller-token',
    webhookSecrets: '/tollgate/prod/webhook-secrets',
    webhookTokens: undefined,
    hookToken: undefined,
    signInSecret: '/tollgate/prod/signin-secret',
    consoleToken: '/tollgate/prod/console-token',
    keyArn: undefined,
  },
  state: { tableKeyArn: undefined, exportDays: 90 },
  alarms: { emails: [], webhooks: [], topicArns: [], runbookUrl: undefined },
  console: undefined,
  notices: { everyMinutes: 15 },
  chargeUnknown: 'nothing',
  usageZone: 'UTC',
  logRetentionDays: 30,
  watchdog: false,
  disarmAfterFailedJob: false,
  metrics: true,
  traces: false,
  ...over,
});
