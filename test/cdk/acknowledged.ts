/** Findings of cdk-nag's AwsSolutions and of CloudFormation Guard's Control Tower rules that stay, and why. */
export interface Acknowledged {
  readonly rule: string | RegExp;
  /** Matches the construct's path, or the logical id. */
  readonly where: RegExp;
  readonly reason: string;
}

export const ACKNOWLEDGED: readonly Acknowledged[] = [
  {
    rule: 'AwsSolutions-SQS3',
    where: /DeadLetters\/Resource$/,
    reason:
      'These are the dead letters: event sources name them as their destination, which the rule does not see.',
  },
  { rule: 'sqs_dlq_check', where: /ConsumerDeadLetters/, reason: 'As AwsSolutions-SQS3.' },
  {
    rule: 'AwsSolutions-VPC7',
    where: /Network\/Vpc\/Resource$/,
    reason:
      'Nothing may connect to anything in this VPC; flow logs of the relays would cost more than the relays. Who wants them brings a VPC.',
  },
  {
    rule: 'AwsSolutions-ECS2',
    where: /Relay\/Task\/Resource$/,
    reason: 'The variables hold names and addresses; secrets are read from SSM while the relay runs.',
  },
  {
    rule: 'AwsSolutions-ECS4',
    where: /Relay\/Cluster\/Resource$/,
    reason: 'The relay emits its own metrics; Container Insights would cost more than the tasks it watches.',
  },
  { rule: 'ecs_container_insights_enabled_check', where: /RelayCluster/, reason: 'As AwsSolutions-ECS4.' },
  {
    rule: 'AwsSolutions-IAM5[Resource::*]',
    where: /(?:Role|ExecutionRole)\/DefaultPolicy\/Resource$/,
    reason: 'Actions that know no resources; every one of them is listed with its reason in wildcards.ts.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::.*:parameter\/tollgate\/\w+\/(?:limits|requeue|notes)\/\*\]$/,
    where: /(?:SsmLimits|Requeue|Notices)\/Program\/Role\/DefaultPolicy\/Resource$/,
    reason: 'All parameters below one path: one for each group, made by others.',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::Tollgate-\w+-State:ExportsOutputFnGetAttExportBucket\w+\/v1\/\*\]$/,
    where: /Rollup\/Program\/Role\/DefaultPolicy\/Resource$/,
    reason: 'New objects below one path of one bucket, named by what is in them.',
  },
  {
    rule: 'AwsSolutions-S1',
    where: /Export\/Bucket\/Resource$/,
    reason:
      'Logs of access want a bucket of their own. One program adds objects; who else reads is in CloudTrail.',
  },
  { rule: 's3_bucket_logging_enabled_check', where: /ExportBucket/, reason: 'As AwsSolutions-S1.' },
  {
    rule: 's3_bucket_default_encryption_kms_check',
    where: /ExportBucket/,
    reason: 'Encrypted with keys of S3; with a key of the customer where the table has one.',
  },
  {
    rule: 's3_event_notifications_enabled_check',
    where: /ExportBucket/,
    reason: 'Nothing waits for an object: the bucket is an archive.',
  },
  {
    rule: 's3_bucket_object_lock_enabled_check',
    where: /ExportBucket/,
    reason:
      'The program may delete nothing, and older versions stay; a lock would keep names longer than records do.',
  },
  {
    rule: 'cloudwatch_alarm_action_check',
    where: /MonitoringAlarms(?:RelayDisconnected|FallbackShare|SchemaSuspect|OwnFaults)/,
    reason: 'The composite AdmissionsNotAnswered tells for them, so that one outage is one page.',
  },
  {
    rule: 'cloudwatch_log_group_retention_period_check',
    where: /Log/,
    reason:
      'Wants a year. How long logs are kept is a setting, because whose names stand in them is a matter of law.',
  },
  {
    rule: 'cloudwatch_log_group_encrypted_check',
    where: /Log/,
    reason:
      'Wants a customer key. CloudWatch encrypts every log with a key of its own; a customer key each costs a dollar a month.',
  },
  {
    rule: 'ecs_service_assign_public_ip_disabled_check',
    where: /RelayService/,
    reason:
      'The minimal VPC has no NAT gateway, which costs more than everything else; nothing may connect from outside.',
  },
  {
    rule: 'ecs_fargate_latest_platform_version_check',
    where: /RelayService/,
    reason: 'Wants LATEST; 1.4.0 is the latest, and named because its /tmp volume is relied on.',
  },
  {
    rule: 'ecs_task_definition_memory_hard_limit_check',
    where: /RelayTask/,
    reason: 'The task has one container and a limit of its own.',
  },
  {
    rule: 'kms_create_grant_aws_service_check',
    // Beside a statement with a condition the rule names no resource; there is no other key.
    where: /OperatorsKey|^undefined$/,
    reason: 'The account keeps the right to administer its own key; no other statement may create grants.',
  },
  {
    rule: /^lambda_function_(?:public_access_prohibited|url_auth)_check$/,
    where: /SettleProgramFunction/,
    reason:
      'GitLab cannot sign for AWS. The program checks GitLab’s own signature before it reads a byte, and its concurrency is bounded.',
  },
  {
    rule: /^lambda_function_(?:public_access_prohibited|url_auth)_check$/,
    where: /ConsoleProgramFunction/,
    reason:
      'Browsers cannot sign for AWS. Signing in with GitLab is the door, and behind it everybody sees their own groups; its concurrency is bounded.',
  },
  {
    rule: 'lambda_inside_vpc_check',
    where: /ProgramFunction/,
    reason:
      'They call AWS alone; inside of a VPC they would need a NAT gateway or endpoints. Those that call a private GitLab are inside.',
  },
];
