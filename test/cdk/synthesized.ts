import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import type { Deployment } from '../../cdk/settings/props.ts';
import { chosenDeployments } from '../../cdk/settings/read-deployments.ts';
import { deployments as fileDeployments } from '../../cdk/tollgate.config.ts';
import { Tollgate } from '../../cdk/tollgate.ts';
import { FUNCTIONS } from '../../scripts/build/bundle.ts';
import { DESCRIPTORS } from './descriptors.ts';

/** As the file stands, with descriptors; it is what a first `cdk deploy` takes. */
export const DEFAULTS: readonly Deployment[] = fileDeployments.map((each) => ({
  ...each,
  gitlab: { ...each.gitlab, descriptors: DESCRIPTORS },
}));

export const IMAGE = `registry.example.com/tollgate/relay@sha256:${'a'.repeat(64)}`;
export const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/8f7a2c51-0d3e-4b6f-9a1c-2e5d7b9f1a3c';

/** No deployment has one unless it is asked for. */
export const A_CONSOLE: NonNullable<Deployment['console']> = {
  url: 'https://budget.corp.test',
  clientId: '2f0a5d7c',
  adminGroupId: 123,
  financeGroupId: 124,
};

export const CERTIFICATE =
  'arn:aws:acm:eu-central-1:111122223333:certificate/8f7a2c51-0d3e-4b6f-9a1c-2e5d7b9f1a3c';

/** Everything set, nothing public: an existing VPC, a GitLab inside of it, Lambda's API, keys of the customer. */
export const PRIVATE: readonly Deployment[] = [
  {
    stage: 'private',
    account: '111122223333',
    region: 'eu-central-1',
    gitlab: {
      url: 'https://gitlab.corp.test:8443',
      descriptors: DESCRIPTORS,
      routerUrl: 'grpcs://kas.corp.test:8150',
      controllerId: 7,
      reachedFrom: 'vpc',
      proxyUrl: 'http://proxy.corp.test:3128',
      caParameter: '/corp/ca',
    },
    admitRoute: 'invoke',
    edge: {
      certificateArn: CERTIFICATE,
      webhooksDomain: 'tollgate-hooks.corp.test',
      allowFrom: ['10.0.0.0/8'],
      vpcEndpointId: 'vpce-0a1b2c3d4e5f60718',
    },
    vpc: {
      id: 'vpc-0a1b2c3d4e5f60718',
      subnetIds: ['subnet-0a1b2c3d4e5f60718', 'subnet-0b1c2d3e4f5a60718'],
      availabilityZones: ['eu-central-1a', 'eu-central-1b'],
    },
    relay: {
      image: IMAGE,
      cpu: 512,
      memoryMiB: 1024,
      deadlineMs: 3000,
      failurePolicy: 'reject',
    },
    parameters: {
      proxyCredentials: '/corp/proxy',
      webhookTokens: '/tollgate/private/webhook-tokens',
      hookToken: '/tollgate/private/hook-token',
      requeueTokens: '/tollgate/private/requeue',
      noteTokens: '/tollgate/private/notes',
      approvalKey: '/tollgate/private/approval-key',
      chatWebhooks: '/tollgate/private/chat-webhooks',
      keyArn: KEY,
    },
    state: { tableKeyArn: KEY },
    alarms: {
      emails: ['on-call@corp.test'],
      webhooks: ['https://chat.corp.test/hook'],
      topicArns: ['arn:aws:sns:eu-central-1:111122223333:pager'],
    },
    console: { ...A_CONSOLE, ownersFrom: 'owner', viewersFrom: 'reporter' },
    chargeUnknown: 'hold',
    usageZone: 'Europe/Berlin',
    logRetentionDays: 90,
    watchdog: true,
    traces: true,
  },
];

/** Two stages of one GitLab and another GitLab, in one account. */
export const SEVERAL: readonly Deployment[] = [
  {
    stage: 'staging',
    gitlab: { url: 'https://gitlab.corp.test', descriptors: DESCRIPTORS },
    relay: { image: IMAGE, count: 1 },
  },
  {
    stage: 'prod',
    gitlab: { url: 'https://gitlab.corp.test', descriptors: DESCRIPTORS },
    relay: { image: IMAGE },
  },
  {
    stage: 'prod-emea',
    gitlab: { url: 'https://gitlab.emea.test', descriptors: DESCRIPTORS },
    relay: { image: IMAGE },
  },
];

export interface Resource {
  readonly Type: string;
  // Templates are looked into by path; their own types are CloudFormation's.
  // biome-ignore lint/suspicious/noExplicitAny: a template is arbitrary JSON
  readonly Properties?: any;
  readonly [other: string]: unknown;
}

export interface Synthesized {
  readonly app: App;
  readonly stacks: readonly SynthesizedStack[];
  /** Those of all stacks, keyed by `<stack>/<logical id>`. */
  resources(type: string): readonly (readonly [string, Resource])[];
}

export interface SynthesizedStack {
  readonly name: string;
  readonly file: string;
  readonly template: {
    readonly Description: string;
    readonly Resources: Readonly<Record<string, Resource>>;
    readonly Outputs?: Readonly<Record<string, { readonly Export?: { readonly Name: string } }>>;
  };
}

const known = new Map<string, Synthesized>();

/** As the command line does it, with bundles that only look like some. Files that ask for the same share it: it takes seconds. */
export function synthesize(
  deployments: readonly Deployment[],
  context: Record<string, string> = {},
): Synthesized {
  const asked = JSON.stringify([deployments, context]);
  const synthesized = known.get(asked) ?? synthesizeAnew(deployments, context);
  known.set(asked, synthesized);
  return synthesized;
}

export function synthesizeAnew(
  deployments: readonly Deployment[],
  context: Record<string, string>,
  bundles = STUBS,
): Synthesized {
  // The synth of the command line, cdk-nag and cfn-lint judge the templates; that takes longer than the rest of a synth.
  const app = new App({
    context,
    builtinCloudFormationValidation: false,
  });
  for (const each of chosenDeployments(deployments, context))
    new Tollgate(app, `Tollgate-${each.stage}`, { ...each, bundlesPath: bundles });
  const stacks = app.synth().stacks.map((stack) => ({
    name: stack.stackName,
    file: stack.templateFullPath,
    template: stack.template as SynthesizedStack['template'],
  }));
  return {
    app,
    stacks,
    resources: (type) =>
      stacks.flatMap(({ name, template }) =>
        Object.entries(template.Resources)
          .filter(([, resource]) => resource.Type === type)
          .map(([id, resource]) => [`${name}/${id}`, resource] as const),
      ),
  };
}

/** Folders of the bundles: each is deployed, or it would not be built. */
export const BUNDLES = FUNCTIONS.map((name) => name.replace('/', '-'));

export const STUBS = mkdtempSync(join(tmpdir(), 'tollgate-bundles-'));
// cfn-lint's program synthesizes outside of any test run.
process.once('exit', () => rmSync(STUBS, { recursive: true, force: true }));
for (const name of [...BUNDLES, 'relay']) {
  mkdirSync(join(STUBS, name));
  const file = name === 'relay' ? 'Dockerfile' : 'handler.mjs';
  writeFileSync(join(STUBS, name, file), `export const handler = '${name}';`);
}
