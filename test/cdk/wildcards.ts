/** Every `*` that an allowing statement may have, and why nothing narrower does. */
export interface Wildcard {
  readonly actions: readonly string[];
  /** Matches `<stack>/<logical id>` of the policy, role or resource. */
  readonly where: RegExp;
  readonly reason: string;
}

export const WILDCARDS: readonly Wildcard[] = [
  {
    actions: ['ecr:GetAuthorizationToken'],
    where: /\/RelayTaskExecutionRoleDefaultPolicy/,
    reason: 'A token for the whole registry: the action knows no resources.',
  },
  {
    actions: ['ec2:CreateNetworkInterface', 'ec2:DeleteNetworkInterface', 'ec2:DescribeNetworkInterfaces'],
    where: /\/(?:Sweep|DirectorySync|Requeue|Notices|Doctor|Watchdog|Console)ProgramRoleDefaultPolicy/,
    reason: 'Inside a VPC Lambda makes interfaces, which have no names before.',
  },
  {
    actions: ['ssm:GetParameterHistory', 'ssm:GetParametersByPath'],
    where: /\/SsmLimitsProgramRoleDefaultPolicy/,
    reason: 'All parameters below one path: one for each group, made by others.',
  },
  {
    actions: ['ssm:GetParameter'],
    where: /\/(?:Requeue|Notices)ProgramRoleDefaultPolicy/,
    reason: 'All tokens below one path: one for each group that agreed, put there by others.',
  },
  {
    actions: ['s3:PutObject'],
    where: /\/RollupProgramRoleDefaultPolicy/,
    reason: 'New objects below one path of one bucket, named by what is in them.',
  },
  {
    actions: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'],
    where: /ProgramRoleDefaultPolicy/,
    reason: 'Traces have no resources.',
  },
  {
    actions: ['kms:*'],
    where: /\/OperatorsKey/,
    reason: 'A key’s own policy: the account administers it, and "*" is the key itself.',
  },
  {
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    where: /\/OperatorsKey/,
    reason: 'A key’s own policy, for CloudWatch alone: "*" is the key itself.',
  },
];
