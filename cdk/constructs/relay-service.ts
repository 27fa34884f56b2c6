import { Duration, Size, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type { IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import * as keys from '../../functions/names.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import * as names from '../../relay/names.ts';
import type { DeploymentProps } from '../settings/deployment.ts';
import { tableKeyStatements } from './ledger-table.ts';
import { RELAY_SERVICE, relayClusterName } from './names.ts';
import type { RelayNetwork } from './network.ts';
import { relayImage } from './relay-image.ts';
import { allow, arnHere, onKeys } from './statements.ts';

/** `nonroot` of the distroless images. */
const NONROOT = '65532:65532';
export const SCRATCH_FOLDER = '/tmp';
/** The relay ends within 10 s; what is left is for a container that hangs. */
const STOP_TIMEOUT = Duration.seconds(30);

interface RelayServiceProps extends DeploymentProps {
  readonly network: RelayNetwork;
  /** Without a URL the relay invokes the function by its name. */
  readonly admit: { readonly arn: string; readonly url?: string };
  readonly table: ITable;
  readonly logGroup: ILogGroup;
}

/** New relays must have a stream at the router before old ones stop. A deployment whose relays get none is rolled back. */
export class RelayService extends Construct {
  readonly service: ecs.FargateService;

  constructor(scope: Construct, id: string, props: RelayServiceProps) {
    super(scope, id);
    const { settings, network } = props;
    const { relay } = settings;
    const task = new ecs.FargateTaskDefinition(this, 'Task', {
      cpu: relay.cpu,
      memoryLimitMiB: relay.memoryMiB,
      runtimePlatform: {
        cpuArchitecture:
          relay.architecture === 'amd64' ? ecs.CpuArchitecture.X86_64 : ecs.CpuArchitecture.ARM64,
        operatingSystemFamily: ecs.OperatingSystemFamily.LINUX,
      },
    });
    this.#addContainer(task, props);
    grantRelay(task.taskRole, props);

    const cluster = new ecs.Cluster(this, 'Cluster', {
      clusterName: relayClusterName(settings.stage),
      vpc: network.vpc,
    });
    // Outbound traffic is unrestricted: GitLab's router may have any address and port.
    const securityGroup = new SecurityGroup(this, 'Nothing in', {
      vpc: network.vpc,
      description: 'Relays: nothing connects to them',
      allowAllOutbound: true,
    });
    this.service = new ecs.FargateService(this, 'Service', {
      // The library's own class does not fit its interface under exact optional properties.
      cluster: cluster as ecs.ICluster,
      serviceName: RELAY_SERVICE,
      taskDefinition: task,
      platformVersion: ecs.FargatePlatformVersion.VERSION1_4,
      // Fixed: each further relay adds conflicts on the counters.
      desiredCount: relay.count,
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      availabilityZoneRebalancing: ecs.AvailabilityZoneRebalancing.ENABLED,
      circuitBreaker: { enable: true, rollback: true },
      vpcSubnets: { subnets: [...network.subnets] },
      assignPublicIp: network.assignPublicIp,
      securityGroups: [securityGroup],
      enableExecuteCommand: false,
      propagateTags: ecs.PropagatedTagSource.SERVICE,
    });
    // A task that starts before its way out is there cannot even be pulled.
    this.service.node.addDependency(network);
  }

  #addContainer(task: ecs.FargateTaskDefinition, props: RelayServiceProps): void {
    const { settings } = props;
    const linuxParameters = new ecs.LinuxParameters(this, 'Linux', { initProcessEnabled: false });
    linuxParameters.dropCapabilities(ecs.Capability.ALL);
    // The WebSocket tunnel makes its socket in a folder (0700) of its own here; nothing else is written. Fargate has no tmpfs:
    // an empty volume of the task's own disk is made like the image's folder of the same path, a /tmp open to every user.
    task.addVolume({ name: 'scratch' });
    const container = task.addContainer('Relay', {
      containerName: 'relay',
      image: relayImage(this, settings, props.bundlesPath),
      environment: relayEnvironment(this, props),
      user: NONROOT,
      // A relay that dies is back within seconds, without a new task. One that dies within a minute of its start is not: a
      // deployment that cannot work fails as before.
      enableRestartPolicy: true,
      restartAttemptPeriod: Duration.seconds(60),
      readonlyRootFilesystem: true,
      linuxParameters,
      stopTimeout: STOP_TIMEOUT,
      healthCheck: {
        // A deployment waits for it, and it is well only with a stream. What the image's own line does, said to ECS.
        command: ['CMD', '/nodejs/bin/node', '/app/health-check.mjs'],
        interval: Duration.seconds(15),
        timeout: Duration.seconds(5),
        retries: 3,
        startPeriod: Duration.seconds(60),
      },
      logging: ecs.LogDrivers.awsLogs({
        logGroup: props.logGroup,
        streamPrefix: 'relay',
        // A CloudWatch that does not take lines must not stop admissions.
        mode: ecs.AwsLogDriverMode.NON_BLOCKING,
        maxBufferSize: Size.mebibytes(8),
      }),
    });
    container.addMountPoints({ sourceVolume: 'scratch', containerPath: SCRATCH_FOLDER, readOnly: false });
  }
}

/** Addresses of the task's credentials and the task itself: never through a proxy. */
const NO_PROXY = '169.254.170.2,169.254.169.254,127.0.0.1,localhost';

function relayEnvironment(scope: Construct, { settings, admit, table }: RelayServiceProps) {
  const { relay, gitlab, parameters } = settings;
  return withoutAbsent({
    [names.ENV_ROUTER_URL]: gitlab.routerUrl,
    // Named by content: an image that does not have these descriptors does not start, and the deployment is rolled back.
    [names.ENV_PROTO_FILE]: `/app/${names.DESCRIPTORS_FOLDER}/${gitlab.descriptors.fileName}`,
    [names.ENV_ROUTER_TOKEN_PARAMETER]: parameters.routerToken,
    [names.ENV_CA_PARAMETER]: gitlab.caParameter,
    [names.ENV_ADMIT_ROUTE]: settings.admitRoute,
    [names.ENV_ADMIT_FUNCTION]: admit.url === undefined ? admit.arn : undefined,
    [names.ENV_ADMIT_URL]: admit.url,
    [names.ENV_DEADLINE_MS]: String(relay.deadlineMs),
    [names.ENV_ANSWER_WITHIN_MS]: relay.answerWithinMs?.toString(),
    [names.ENV_FALLBACK]: relay.failurePolicy,
    [names.ENV_RELAYS]: String(relay.count),
    [names.ENV_RELAY_GITLAB_INSTANCE]: gitlab.instance,
    [names.ENV_JOURNAL_TABLE]: table.tableName,
    [names.ENV_RELAY_DEPLOYMENT]: settings.metrics ? settings.stage : undefined,
    [names.ENV_HEARTBEAT_TABLE]: settings.watchdog ? table.tableName : undefined,
    [names.ENV_AWS_REGION]: Stack.of(scope).region,
    // Lower case is what both the WebSocket tunnel and gRPC read.
    https_proxy: gitlab.proxyUrl,
    no_proxy: gitlab.proxyUrl && NO_PROXY,
    [names.ENV_PROXY_PARAMETER]: parameters.proxyCredentials,
  });
}

/** Everything a relay may do in the account: call one function, read its secrets, write its heartbeat and its journal, keep rooms. */
function grantRelay(role: IRole, { settings, admit, table }: RelayServiceProps): void {
  const { parameters, gitlab } = settings;
  const { instance } = gitlab;
  const items = (actions: readonly string[], key: string): PolicyStatement =>
    allow(actions, [table.tableArn], onKeys(`${instance}${key}`));
  const secrets = [parameters.routerToken, gitlab.caParameter, parameters.proxyCredentials];
  const statements = [
    ...callAdmit(admit),
    ...readSecrets(role, secrets, parameters.keyArn),
    // Only relays write the journal, and they can neither read nor change it.
    items(['dynamodb:PutItem'], `${keys.JOURNAL_PK_PREFIX}*`),
    items(['dynamodb:PutItem', 'dynamodb:Query'], keys.ROOMS_PK_SUFFIX),
    ...(settings.watchdog ? [items(['dynamodb:PutItem'], keys.HEARTBEAT_PK_SUFFIX)] : []),
    ...tableKeyStatements(role, table.encryptionKey),
  ];
  for (const statement of statements) role.addToPrincipalPolicy(statement);
}

/** Function URLs ask for both rights; the second only by way of the URL. */
function callAdmit({ url, arn }: RelayServiceProps['admit']): readonly PolicyStatement[] {
  if (url === undefined) return [allow(['lambda:InvokeFunction'], [arn])];
  return [
    allow(['lambda:InvokeFunctionUrl'], [arn], {
      StringEquals: { 'lambda:FunctionUrlAuthType': 'AWS_IAM' },
    }),
    allow(['lambda:InvokeFunction'], [arn], {
      Bool: { 'lambda:InvokedViaFunctionUrl': 'true' },
    }),
  ];
}

/** The account's SSM key is open to readers of the parameter. A customer's key needs a grant, limited to these parameters. */
function readSecrets(
  role: IRole,
  parameters: readonly (string | undefined)[],
  keyArn: string | undefined,
): readonly PolicyStatement[] {
  const arns = parameters.flatMap((name) =>
    name === undefined ? [] : arnHere(role, 'ssm', `parameter${name}`),
  );
  const { region, urlSuffix } = Stack.of(role);
  const read = allow(['ssm:GetParameter'], arns);
  if (keyArn === undefined) return [read];
  const decrypt = allow(['kms:Decrypt'], [keyArn], {
    StringEquals: {
      'kms:ViaService': `ssm.${region}.${urlSuffix}`,
      'kms:EncryptionContext:PARAMETER_ARN': arns,
    },
  });
  return [read, decrypt];
}
