/** A `*` that an allowing statement may have. `where` matches `<stack>/<logical id>` of the policy, role or resource. */
type Wildcard = readonly [actions: readonly string[], where: RegExp, reason: string];

const INTERFACES = ['CreateNetworkInterface', 'DeleteNetworkInterface', 'DescribeNetworkInterfaces'];
const TRACES = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
const IN_VPC = /\/(?:Sweep|DirectorySync|Requeue|Notices|Doctor|Watchdog|Console)ProgramRoleDefaultPolicy/;

export const WILDCARDS: readonly Wildcard[] = [
  [['ecr:GetAuthorizationToken'], /\/RelayTaskExecutionRoleDefaultPolicy/, 'A token for the whole registry.'],
  [
    INTERFACES.map((action) => `ec2:${action}`),
    IN_VPC,
    'Lambda makes interfaces, which have no names before.',
  ],
  [
    ['ssm:GetParameterHistory', 'ssm:GetParametersByPath'],
    /\/SsmLimitsProgramRoleDefaultPolicy/,
    'All parameters below one path: one for each group, made by others.',
  ],
  [['ssm:GetParameter'], /\/(?:Requeue|Notices)ProgramRoleDefaultPolicy/, 'Tokens of groups below one path.'],
  [['s3:PutObject'], /\/RollupProgramRoleDefaultPolicy/, 'New objects below one path of one bucket.'],
  [
    ['cloudwatch:DescribeAlarms'],
    /RolloutRoleDefaultPolicy/,
    'CodeDeploy looks alarms up by a list of names.',
  ],
  [['execute-api:Invoke'], /ProgramEdge/, 'Every path of the API that has the policy.'],
  [TRACES, /ProgramRoleDefaultPolicy/, 'Traces have no resources.'],
];
