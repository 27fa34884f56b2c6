/** A finding that stays. `where` matches the construct's path, or the logical id. */
export type Acknowledged = readonly [rule: string | RegExp, where: RegExp, reason: string];

const OPEN_URL = /^lambda_function_(?:public_access_prohibited|url_auth)_check$/;
const ONE_PATH = /^AwsSolutions-IAM5\[Resource::.*:parameter\/tollgate\/\w+\/(?:limits|requeue|notes)\/\*\]$/;
const EXPORT =
  /^AwsSolutions-IAM5\[Resource::Tollgate-\w+-State:ExportsOutputFnGetAttExportBucket\w+\/v1\/\*\]$/;

/** Findings of cdk-nag's AwsSolutions and of CloudFormation Guard's Control Tower rules. */
export const ACKNOWLEDGED: readonly Acknowledged[] = [
  ['AwsSolutions-SQS3', /DeadLetters\/Resource$/, 'These are the dead letters of event sources.'],
  ['sqs_dlq_check', /ConsumerDeadLetters/, 'As AwsSolutions-SQS3.'],
  ['AwsSolutions-VPC7', /Network\/Vpc\/Resource$/, 'Nothing may connect; flow logs cost more than relays.'],
  ['AwsSolutions-ECS2', /Relay\/Task\/Resource$/, 'Variables hold names; secrets are read from SSM.'],
  ['AwsSolutions-ECS4', /Relay\/Cluster\/Resource$/, 'The relay emits its own metrics at a lower price.'],
  ['ecs_container_insights_enabled_check', /RelayCluster/, 'As AwsSolutions-ECS4.'],
  [
    'AwsSolutions-IAM5[Resource::*]',
    /(?:Role|ExecutionRole)\/DefaultPolicy\/Resource$/,
    'Actions that know no resources; every one of them is listed with its reason in wildcards.ts.',
  ],
  [
    ONE_PATH,
    /(?:SsmLimits|Requeue|Notices)\/Program\/Role\/DefaultPolicy\/Resource$/,
    'All parameters below one path: one for each group, made by others.',
  ],
  [EXPORT, /Rollup\/Program\/Role\/DefaultPolicy\/Resource$/, 'New objects below one path of one bucket.'],
  ['AwsSolutions-S1', /Export\/Bucket\/Resource$/, 'Other readers than one program are in CloudTrail.'],
  ['s3_bucket_logging_enabled_check', /ExportBucket/, 'As AwsSolutions-S1.'],
  [
    's3_bucket_default_encryption_kms_check',
    /ExportBucket/,
    'With a key of the customer if the table has one.',
  ],
  ['s3_event_notifications_enabled_check', /ExportBucket/, 'Nothing waits for an object: it is an archive.'],
  ['s3_bucket_object_lock_enabled_check', /ExportBucket/, 'A lock would keep names longer than records do.'],
  [
    'cloudwatch_alarm_action_check',
    /MonitoringAlarms(?:RelayDisconnected|FallbackShare|SchemaSuspect|OwnFaults)/,
    'The composite AdmissionsNotAnswered tells for them, so that one outage is one page.',
  ],
  [
    'cloudwatch_alarm_action_check',
    /ProgramRolloutAlarms/,
    'CodeDeploy acts on them, and the deployment says so.',
  ],
  ['cloudwatch_log_group_retention_period_check', /Log/, 'Wants a year; here it is a setting.'],
  ['cloudwatch_log_group_encrypted_check', /Log/, 'Wants a customer key, a dollar a month for each.'],
  ['ecs_service_assign_public_ip_disabled_check', /RelayService/, 'No NAT gateway; nothing may connect.'],
  [
    'ecs_fargate_latest_platform_version_check',
    /RelayService/,
    'Wants LATEST; 1.4.0 is, and its /tmp is used.',
  ],
  ['ecs_task_definition_memory_hard_limit_check', /RelayTask/, 'One container, and the task has a limit.'],
  [OPEN_URL, /SettleProgramLive/, 'GitLab cannot sign for AWS; its own signature is checked first.'],
  [OPEN_URL, /ProgramEdgeApi/, 'The policy of the API says who may call it.'],
  [/^AwsSolutions-(?:APIG4|COG4)$/, /Edge\/Api\//, 'The programs check signatures and sign-ins.'],
  ['AwsSolutions-APIG2', /Edge\/Api\//, 'The programs check what they read.'],
  ['AwsSolutions-APIG3', /Edge\/Api\//, 'A firewall is a setting of the account, on the stage of the API.'],
  [/^AwsSolutions-APIG[16]$/, /Edge\/Api\//, 'The programs log; access logs would cost more than calls.'],
  ['api_gw_v1_execution_logging_enabled_check', /EdgeApi/, 'As AwsSolutions-APIG6.'],
  [OPEN_URL, /ConsoleProgramLive/, 'Browsers cannot sign for AWS; users sign in with GitLab.'],
  ['lambda_inside_vpc_check', /ProgramFunction/, 'They call AWS alone, or a GitLab that is public.'],
];
