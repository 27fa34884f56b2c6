import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import { type ISubnet, type IVpc, Peer, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { Effect, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import * as names from '../../functions/names.ts';
import type { DeploymentProps, Settings } from '../settings/deployment.ts';
import { functionName } from './names.ts';
import { allow, arnHere, statement } from './statements.ts';

interface NodeLambdaProps extends DeploymentProps {
  /** Folder of the bundle and last part of the function's name: `settle-stream`. */
  readonly name: string;
  /** Also what its share of a CPU is measured by: 1769 are one vCPU. */
  readonly memoryMiB: number;
  readonly timeout: Duration;
  readonly concurrencyMax: number | undefined;
  /** False: a change of rules is no change of this program. */
  readonly readsRules: boolean;
  readonly network: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] } | undefined;
}

const RULES_FILE = '/var/task/rules.json';
const NETWORK_INTERFACES = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DeleteNetworkInterface',
];

/** A bundle on Node 24 and arm64, with a log of its own and a role that may write to nothing else. */
export class NodeLambda extends Construct {
  readonly fn: lambda.Function;
  readonly role: Role;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: NodeLambdaProps) {
    super(scope, id);
    const { settings, name } = props;
    this.logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/tollgate/${settings.stage}/${name}`,
      retention: settings.logRetentionDays as RetentionDays,
      // The books are in the table; logs go with the programs that wrote them.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Lambda's own managed policy would let it write to every log of the account.
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [this.logGroup.logGroupArn]);
    // Lambda needs all, because interfaces have no name before they are created.
    if (props.network !== undefined) this.allow(NETWORK_INTERFACES, ['*']);
    this.fn = new lambda.Function(this, 'Function', {
      functionName: functionName(settings.stage, name),
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'handler.handler',
      code: bundleIn(props),
      memorySize: props.memoryMiB,
      timeout: props.timeout,
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      // At INFO Lambda adds two lines to every call, which cost more than the calls of the webhooks.
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      tracing: settings.traces ? lambda.Tracing.ACTIVE : lambda.Tracing.DISABLED,
      environment: {
        [names.ENV_GITLAB_INSTANCE]: settings.gitlab.instance,
        ...(props.readsRules && { [names.ENV_RULES_FILE]: RULES_FILE }),
        ...(settings.metrics && { [names.ENV_DEPLOYMENT]: settings.stage }),
      },
      ...(props.concurrencyMax !== undefined && { reservedConcurrentExecutions: props.concurrencyMax }),
      ...(props.network !== undefined && this.#placedIn(props.network, settings)),
    });
  }

  /** Grants actions on named resources. A `*` needs a comment with its reason, and an entry in the test's list. */
  allow(...rights: Parameters<typeof allow>): void {
    this.role.addToPolicy(allow(...rights));
  }

  deny(...rights: Parameters<typeof allow>): void {
    this.role.addToPolicy(statement(Effect.DENY, ...rights));
  }

  #placedIn({ vpc, subnets }: NonNullable<NodeLambdaProps['network']>, { gitlab }: Settings) {
    const group = new SecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'Nothing comes in; HTTPS goes out',
      allowAllOutbound: false,
    });
    for (const port of new Set([HTTPS_PORT, portOf(gitlab.proxyUrl ?? gitlab.url)]))
      group.addEgressRule(Peer.anyIpv4(), Port.tcp(port), 'GitLab and AWS');
    return { vpc, vpcSubnets: { subnets: [...subnets] }, securityGroups: [group] };
  }
}

const HTTPS_PORT = 443;

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'https:' ? HTTPS_PORT : 80);
}

function bundleIn({ bundlesPath, name, readsRules }: NodeLambdaProps): lambda.Code {
  const folder = join(bundlesPath, name);
  if (!existsSync(join(folder, 'handler.mjs'))) {
    throw new Error(`[bundle_missing] ${folder}/handler.mjs is not there; make it with: npm run bundle`);
  }
  return lambda.Code.fromAsset(folder, { exclude: readsRules ? [] : ['rules.json'] });
}

/** Lets `program` read a SecureString and passes its name. @param readable - differs from it for a path with a token per group */
export function grantSecret(
  program: NodeLambda,
  variable: string,
  name: string,
  { parameters: { keyArn } }: Settings,
  readable = name,
): void {
  program.fn.addEnvironment(variable, name);
  program.allow(['ssm:GetParameter'], [arnHere(program, 'ssm', `parameter${readable}`)]);
  // The account's own key for SSM needs no permission; a customer's does.
  if (keyArn !== undefined)
    program.allow(['kms:Decrypt'], [keyArn], { StringLike: { 'kms:ViaService': 'ssm.*.amazonaws.com' } });
}

/** Passes GitLab's address and proxy. The proxy's address has no password in it. */
export function grantGitLabRoute(program: NodeLambda, settings: Settings): void {
  const { url, proxyUrl, caParameter } = settings.gitlab;
  const { proxyCredentials } = settings.parameters;
  program.fn.addEnvironment(names.ENV_GITLAB_URL, url);
  if (proxyUrl !== undefined) program.fn.addEnvironment('https_proxy', proxyUrl);
  if (caParameter !== undefined) grantSecret(program, names.ENV_CA_PARAMETER, caParameter, settings);
  if (proxyCredentials !== undefined)
    grantSecret(program, names.ENV_PROXY_PARAMETER, proxyCredentials, settings);
}
