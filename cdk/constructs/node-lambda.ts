import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type ISubnet, type IVpc, Peer, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ENV_DEPLOYMENT, ENV_GITLAB_INSTANCE, ENV_RULES_FILE } from '../../functions/names.ts';
import type { Settings } from '../settings/settings.ts';

interface NodeLambdaProps {
  readonly settings: Settings;
  /** Folder with the bundles that `npm run bundle` makes. */
  readonly bundlesPath: string;
  /** Folder of the bundle and last part of the function's name: `settle-stream`. */
  readonly name: string;
  readonly description: string;
  /** Also what its share of a CPU is measured by: 1769 are one vCPU. */
  readonly memoryMiB: number;
  readonly timeout: Duration;
  /** Never more at once than this. @default what the account has left */
  readonly reservedConcurrency?: number;
  /** For what reaches GitLab only from inside. @default outside of any VPC */
  readonly network?: { readonly vpc: IVpc; readonly subnets: readonly ISubnet[] };
  readonly environment?: Readonly<Record<string, string>>;
}

/** Where Lambda unpacks the bundle. */
const RULES_FILE = '/var/task/rules.json';

/** A bundle on Node 24 and arm64, with a log of its own and a role that may write to nothing else. */
export class NodeLambda extends Construct {
  readonly fn: LambdaFunction;
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
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [this.logGroup.logGroupArn]);
    if (props.network !== undefined) this.#allowNetworkInterfaces();
    this.fn = new LambdaFunction(this, 'Function', {
      functionName: `tollgate-${settings.stage}-${name}`,
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'handler.handler',
      code: bundleIn(props.bundlesPath, name),
      memorySize: props.memoryMiB,
      timeout: props.timeout,
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      // At INFO Lambda adds two lines to every call, which cost more than the calls of the webhooks.
      systemLogLevelV2: SystemLogLevel.WARN,
      tracing: settings.traces ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: {
        [ENV_GITLAB_INSTANCE]: settings.gitlab.instance,
        [ENV_RULES_FILE]: RULES_FILE,
        ...(settings.metrics && { [ENV_DEPLOYMENT]: settings.stage }),
        ...props.environment,
      },
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
      ...(props.network !== undefined && this.#placedIn(props.network, settings)),
    });
  }

  /** Few actions on named resources; whoever writes a `*` writes its reason beside it and into the test's list. */
  allow(
    actions: readonly string[],
    resources: readonly string[],
    conditions?: Record<string, unknown>,
  ): void {
    this.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: [...actions],
        resources: [...resources],
        ...(conditions !== undefined && { conditions }),
      }),
    );
  }

  /** Wins over every right, whoever adds it. */
  deny(actions: readonly string[], resources: readonly string[], conditions?: Record<string, unknown>): void {
    this.role.addToPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions: [...actions],
        resources: [...resources],
        ...(conditions !== undefined && { conditions }),
      }),
    );
  }

  /** Interfaces have no name before they are made, so Lambda asks for all of them. */
  #allowNetworkInterfaces(): void {
    this.allow(
      ['ec2:CreateNetworkInterface', 'ec2:DescribeNetworkInterfaces', 'ec2:DeleteNetworkInterface'],
      ['*'],
    );
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
  if (port !== '') return Number(port);
  return protocol === 'https:' ? HTTPS_PORT : 80;
}

function bundleIn(bundlesPath: string, name: string): Code {
  const folder = join(bundlesPath, name);
  if (!existsSync(join(folder, 'handler.mjs'))) {
    throw new Error(`[bundle_missing] ${folder}/handler.mjs is not there; make it with: npm run bundle`);
  }
  return Code.fromAsset(folder);
}

/** ARN of something of this account and region. */
export const arnHere = (scope: Construct, service: string, resource: string): string =>
  Stack.of(scope).formatArn({ service, resource });
