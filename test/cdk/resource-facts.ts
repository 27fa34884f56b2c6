import type { Resource } from './synthesized.ts';

/**
 * Properties that a reviewer checks first, by type of resource and path. Statements of policies and names of variables are listed in
 * every row that has some.
 */
const FACTS: Readonly<Record<string, readonly string[]>> = {
  'AWS::CloudWatch::Alarm': [
    'ComparisonOperator',
    'Threshold',
    'DatapointsToAlarm',
    'EvaluationPeriods',
    'TreatMissingData',
  ],
  'AWS::CloudWatch::Dashboard': ['DashboardName'],
  'AWS::CodeDeploy::Application': ['ApplicationName'],
  'AWS::CodeDeploy::DeploymentGroup': [
    'DeploymentConfigName',
    'AlarmConfiguration',
    'AutoRollbackConfiguration',
  ],
  'AWS::DynamoDB::Table': [
    'BillingMode',
    'DeletionProtectionEnabled',
    'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled',
    'SSESpecification',
    'StreamSpecification.StreamViewType',
    'TimeToLiveSpecification.AttributeName',
  ],
  'AWS::EC2::Route': ['DestinationCidrBlock'],
  'AWS::EC2::SecurityGroup': ['SecurityGroupIngress', 'SecurityGroupEgress'],
  'AWS::EC2::Subnet': ['CidrBlock', 'MapPublicIpOnLaunch'],
  'AWS::EC2::VPC': ['CidrBlock'],
  'AWS::EC2::VPCEndpoint': ['VpcEndpointType'],
  'AWS::ECS::Cluster': ['ClusterSettings'],
  'AWS::ECS::Service': [
    'DesiredCount',
    'DeploymentConfiguration.MinimumHealthyPercent',
    'DeploymentConfiguration.MaximumPercent',
    'DeploymentConfiguration.DeploymentCircuitBreaker',
    'NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp',
    'PlatformVersion',
  ],
  'AWS::ECS::TaskDefinition': [
    ...['Cpu', 'Memory', 'RuntimePlatform.CpuArchitecture', 'Volumes'],
    ...['User', 'ReadonlyRootFilesystem', 'LinuxParameters', 'MountPoints', 'HealthCheck', 'StopTimeout'].map(
      (name) => `ContainerDefinitions.0.${name}`,
    ),
  ],
  'AWS::Events::Rule': [
    'ScheduleExpression',
    'EventPattern.source',
    'EventPattern.detail-type',
    'EventPattern.detail',
    'EventPattern.resources',
    'State',
    'Targets.0.Arn',
  ],
  'AWS::IAM::Role': ['ManagedPolicyArns'],
  'AWS::KMS::Key': ['EnableKeyRotation', 'PendingWindowInDays'],
  'AWS::Lambda::Alias': ['Name', 'FunctionVersion'],
  'AWS::Lambda::EventInvokeConfig': ['MaximumEventAgeInSeconds', 'MaximumRetryAttempts'],
  'AWS::Lambda::EventSourceMapping': [
    'BatchSize',
    'MaximumBatchingWindowInSeconds',
    'ParallelizationFactor',
    'MaximumRecordAgeInSeconds',
    'MaximumRetryAttempts',
    'BisectBatchOnFunctionError',
    'FunctionResponseTypes',
    'StartingPosition',
    'FunctionName',
    'DestinationConfig.OnFailure.Destination',
  ],
  'AWS::Lambda::Function': [
    'FunctionName',
    'Role',
    'Runtime',
    'Timeout',
    'MemorySize',
    'ReservedConcurrentExecutions',
    'TracingConfig.Mode',
  ],
  'AWS::Lambda::Permission': ['Principal', 'Action', 'FunctionUrlAuthType', 'InvokedViaFunctionUrl'],
  'AWS::Lambda::Url': ['AuthType', 'InvokeMode', 'Qualifier'],
  'AWS::Logs::LogGroup': ['LogGroupName', 'RetentionInDays'],
  'AWS::S3::Bucket': [
    'BucketEncryption.ServerSideEncryptionConfiguration',
    'OwnershipControls.Rules',
    'VersioningConfiguration.Status',
  ],
  'AWS::SNS::Subscription': ['Protocol', 'Endpoint'],
  'AWS::SNS::Topic': ['TopicName', 'KmsMasterKeyId'],
  'AWS::SQS::Queue': ['QueueName', 'MessageRetentionPeriod', 'SqsManagedSseEnabled'],
};

/** `{"Ref":"Id"}` and `{"Fn::GetAtt":["Id","Arn"]}`, told as `Id` and `Id.Arn`. */
const REFERENCE = /\{"Ref":"([\w:]+)"\}/g;
const ATTRIBUTE = /\{"Fn::GetAtt":\["(\w+)","(\w+)"\]\}/g;

/** `Timeout=15 MemorySize=1024`: one resource in one line. */
export function resourceFacts(resource: Resource): string {
  const { Type, Properties = {}, DeletionPolicy, UpdateReplacePolicy } = resource;
  const facts = (FACTS[Type] ?? []).map(
    (path): Fact => [path.split('.').at(-1) ?? path, valueAt(Properties, path)],
  );
  const policies: Fact = ['policies', [DeletionPolicy, UpdateReplacePolicy].filter(Boolean).join('/')];
  return [policies, ...facts, ...statementFacts(Properties), ...environmentFacts(Properties)]
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
    .replace(REFERENCE, '$1')
    .replace(ATTRIBUTE, '$1.$2');
}

type Fact = readonly [name: string, value: unknown];
type Properties = NonNullable<Resource['Properties']>;

const valueAt = (properties: Properties, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], properties);

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Principal?: unknown;
}

/**
 * Which actions are allowed, and to whom where a policy says so. Resources, conditions and what is denied in detail are for the
 * tests of rights.
 */
function statementFacts(properties: Properties): readonly Fact[] {
  const document = properties.PolicyDocument ?? properties.KeyPolicy ?? properties.AssumeRolePolicyDocument;
  const statements: readonly Statement[] = document?.Statement ?? [];
  const allowed = statements.filter(({ Effect }) => Effect === 'Allow');
  const actions = new Set(allowed.flatMap(({ Action }) => Action));
  const principals = new Set(
    allowed.flatMap(({ Principal }) => (Principal === undefined ? [] : JSON.stringify(Principal))),
  );
  return [
    ['allow', [...actions].toSorted().join(',')],
    ['to', [...principals].toSorted().join(',')],
    ['denyStatements', statements.length - allowed.length || undefined],
  ];
}

/** Names alone: values are for the tests of each program. */
function environmentFacts(properties: Properties): readonly Fact[] {
  const names: readonly string[] = [
    ...Object.keys(properties.Environment?.Variables ?? {}),
    ...(properties.ContainerDefinitions ?? []).flatMap(
      ({ Environment = [] }: { readonly Environment?: readonly { readonly Name: string }[] }) =>
        Environment.map(({ Name }) => Name),
    ),
  ];
  return [
    [
      'environment',
      names
        .map((name) => name.replace(/^TOLLGATE_/, ''))
        .toSorted()
        .join(','),
    ],
  ];
}
