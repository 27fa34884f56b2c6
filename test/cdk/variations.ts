import type { Deployment } from '../../cdk/settings/props.ts';
import { DESCRIPTORS } from './descriptors.ts';
import { A_CONSOLE, CERTIFICATE, DEFAULTS, IMAGE, KEY, PRIVATE, SEVERAL } from './synthesized.ts';

const GITLAB = { url: 'https://gitlab.corp.test', descriptors: DESCRIPTORS };
const EDGE = { certificateArn: CERTIFICATE, webhooksDomain: 'tollgate-hooks.corp.test' };
const VPC = PRIVATE[0]?.vpc ?? {};
const inFrankfurt = { region: 'eu-central-1' };
/** Lambda has no Function URLs there. */
const inHyderabad = { region: 'ap-south-2', admitRoute: 'invoke' } as const;

/** Deployments that differ from the defaults in what their names say. */
const ONE_EACH: Readonly<Record<string, Partial<Deployment>>> = {
  console: { console: A_CONSOLE },
  'console for terminals, behind a proxy': {
    console: { ...A_CONSOLE, deviceClientId: 'abc', trustedProxies: ['10.0.0.0/8'] },
  },
  'own domain': { ...inFrankfurt, edge: EDGE },
  'own domains': { ...inFrankfurt, edge: EDGE, console: A_CONSOLE },
  'allow list': { ...inFrankfurt, edge: { ...EDGE, allowFrom: ['192.0.2.0/24', '2001:db8::/32'] } },
  'private only': { ...inFrankfurt, edge: { ...EDGE, vpcEndpointId: 'vpce-0a1b2c3d4e5f60718' } },
  'private only, with a console': {
    ...{ ...inFrankfurt, console: A_CONSOLE },
    edge: { ...EDGE, vpcEndpointId: 'vpce-0a1b2c3d4e5f60718', allowFrom: ['10.0.0.0/8'] },
  },
  'a region without Function URLs': {
    ...inHyderabad,
    edge: { ...EDGE, certificateArn: CERTIFICATE.replace('eu-central-1', 'ap-south-2') },
  },
  China: { region: 'cn-north-1' },
  GovCloud: { region: 'us-gov-west-1' },
  'an account of its own': { ...inFrankfurt, account: '111122223333' },
  'an existing network': { ...inFrankfurt, vpc: VPC },
  'existing public subnets': { ...inFrankfurt, vpc: { ...VPC, assignPublicIp: true } },
  'a GitLab inside': { ...inFrankfurt, vpc: VPC, gitlab: { ...GITLAB, reachedFrom: 'vpc' } },
  "Lambda's API": { admitRoute: 'invoke' },
  'another range': { vpc: { cidr: '10.9.0.0/26' } },
  'one large relay': { relay: { count: 1, cpu: 1024, memoryMiB: 8192, architecture: 'amd64' } },
  'four relays of a ready image': { relay: { count: 4, image: IMAGE } },
  'relays that reject': { relay: { failurePolicy: 'reject', deadlineMs: 5_000, answerWithinMs: 20_000 } },
  'no canary': { rollout: 'all-at-once', console: A_CONSOLE },
  'keys of the customer': { ...inFrankfurt, state: { tableKeyArn: KEY }, parameters: { keyArn: KEY } },
  'no export': { state: { exportDays: 0 } },
  'no metrics': { metrics: false },
  traces: { traces: true, console: A_CONSOLE },
  'no notices': { notices: { everyMinutes: 0 } },
  watchdog: { watchdog: true, disarmAfterFailedJob: true, gitlab: { ...GITLAB, controllerId: 7 } },
  'tokens of groups': {
    parameters: { requeueTokens: '/tollgate/prod/requeue', noteTokens: '/tollgate/prod/notes' },
  },
  'webhooks that cannot sign': {
    parameters: { webhookTokens: '/tollgate/prod/tokens', hookToken: '/tollgate/prod/hook-token' },
  },
  'a proxy': {
    gitlab: { ...GITLAB, proxyUrl: 'http://proxy.corp.test:3128' },
    parameters: { proxyCredentials: '/corp/proxy' },
  },
  'many webhooks': { webhooks: { jobsPerSecond: 20 } },
  'on-call everywhere': {
    ...inFrankfurt,
    alarms: {
      emails: ['on-call@corp.test'],
      webhooks: ['https://chat.corp.test/hook'],
      topicArns: ['arn:aws:sns:eu-central-1:111122223333:pager'],
      runbookUrl: 'https://wiki.corp.test/runbook.md',
    },
  },
};

/** The deployments that are linted, by name. */
export const VARIATIONS: Readonly<Record<string, readonly Deployment[]>> = {
  'the file as it stands': DEFAULTS,
  'everything, closed': PRIVATE,
  'several in one account': SEVERAL,
  ...Object.fromEntries(
    Object.entries(ONE_EACH).map(([name, changed]) => [name, [{ gitlab: GITLAB, ...changed }]]),
  ),
};
