import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Annotations, Stack, Tags } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { packRules } from '../scripts/build/pack-rules.ts';
import { FunctionsStack } from './functions-stack.ts';
import { RelaysStack } from './relays-stack.ts';
import { type Settings, stackNames } from './settings/deployment.ts';
import type { Deployment } from './settings/props.ts';
import { readDeployment } from './settings/read-deployments.ts';
import { StateStack } from './state-stack.ts';

/** Flags of the CDK that these stacks rely on. Those of the app hold for its other stacks. */
const FLAGS = {
  // The state cannot be deleted under running functions.
  '@aws-cdk/core:defaultCrossStackReferences': 'strong',
  '@aws-cdk/core:enablePartitionLiterals': true,
  '@aws-cdk/aws-iam:minimizePolicies': true,
  '@aws-cdk/aws-lambda:recognizeLayerVersion': true,
  '@aws-cdk/aws-ecs:disableExplicitDeploymentControllerForCircuitBreaker': true,
  '@aws-cdk/aws-ecs:removeDefaultDeploymentAlarm': true,
  '@aws-cdk/aws-ecs:removeEmptyLoadBalancers': true,
};

const EXAMPLE_HOST = /(?:^|\.)example\.(?:com|net|org)$/;
const BUNDLES = fileURLToPath(new URL('../dist', import.meta.url));

export interface TollgateProps extends Deployment {
  /**
   * Folder with your policy.yaml, limits.yaml and directory.yaml, relative to the current folder. A mistake in them fails the synth.
   *
   * @default `policies`
   */
  readonly rules?: string;
  /** Folder of bundles that have their rules already, as `npm run bundle` makes them. @default those of the package, with `rules` */
  readonly bundlesPath?: string;
}

/**
 * Tollgate for one GitLab instance, as three stacks: relays need functions, functions need the state, and none needs one after it.
 *
 * @example new Tollgate(this, 'Tollgate', { gitlab: { url: 'https://gitlab.corp.com', descriptors: 'gitlab.binpb' } })
 * @throws {SettingsError} listing every mistake of the settings; {DocumentError} those of the rules
 */
export class Tollgate extends Construct {
  /** The books: ledger table, decision export and log, and the receiver of webhooks. */
  readonly state: Stack;
  readonly functions: Stack;
  readonly relays: Stack;
  readonly table: ITable;
  /** Begins the addresses of webhooks: the number of the top-level group follows. */
  readonly webhookUrl: string;
  /** Ends with "/". Undefined: there is no console. */
  readonly consoleUrl: string | undefined;
  /** Those on call subscribe here. */
  readonly alarmsTopic: ITopic;
  /** Owners of limits subscribe here. */
  readonly thresholdsTopic: ITopic;

  constructor(scope: Construct, id: string, props: TollgateProps) {
    super(scope, id);
    const { rules = 'policies', bundlesPath: given, ...deployment } = props;
    for (const [flag, value] of Object.entries(FLAGS)) this.node.setContext(flag, value);
    const settings = readDeployment(deployment, `construct "${this.node.path}"`);
    const bundlesPath = given ?? withRules(resolve(rules));
    const { stage, account, region } = settings;
    const named = (at: 0 | 1 | 2) => ({
      ...{ settings, bundlesPath, stackName: stackNames(stage)[at] },
      // Templates without both fit any account and region, and synth asks none.
      env: { ...(account !== undefined && { account }), ...(region !== undefined && { region }) },
    });
    const state = new StateStack(this, 'State', named(0));
    const functions = new FunctionsStack(this, 'Functions', { ...named(1), state });
    this.relays = new RelaysStack(this, 'Relays', { ...named(2), state, functions });
    [this.state, this.functions] = [state, functions];
    this.table = state.ledger.table;
    this.webhookUrl = state.webhookUrl;
    this.consoleUrl = functions.consoleUrl;
    this.alarmsTopic = functions.alarmsTopic;
    this.thresholdsTopic = functions.thresholdsTopic;
    for (const stack of [state, functions, this.relays]) mark(stack, settings);
    this.#refuseTwin(stage);
  }

  /** The second of one stage would update the stacks of the first. */
  #refuseTwin(stage: string): void {
    const { stackName, environment } = this.state;
    const twin = this.node.root.node
      .findAll()
      .find(
        (each) =>
          each instanceof Stack &&
          each !== this.state &&
          each.stackName === stackName &&
          each.environment === environment,
      );
    if (twin !== undefined)
      throw new Error(
        `[settings_invalid] ${twin.node.path} has stage "${stage}", too; give ${this.node.path} a stage of its own`,
      );
  }
}

function mark(stack: Stack, { stage, gitlab }: Settings): void {
  Tags.of(stack).add('tollgate:stage', stage);
  if (!EXAMPLE_HOST.test(new URL(gitlab.url).hostname)) return;
  Annotations.of(stack).addWarningV2(
    'tollgate:exampleHost',
    `${gitlab.url} is an example: set gitlab.url before you deploy`,
  );
}

/** Copies the package's bundles, because rules lie next to the code, and an installed package is not written to. */
function withRules(folder: string): string {
  const text = JSON.stringify(packRules({ folder, force: false, nowMs: Date.now() }));
  const bundles = mkdtempSync(join(tmpdir(), 'tollgate-bundles-'));
  // The CDK has its own copies of assets.
  process.once('exit', () => rmSync(bundles, { recursive: true, force: true }));
  cpSync(BUNDLES, bundles, { recursive: true });
  for (const entry of readdirSync(bundles, { withFileTypes: true }))
    if (entry.isDirectory()) writeFileSync(join(bundles, entry.name, 'rules.json'), text);
  return bundles;
}
