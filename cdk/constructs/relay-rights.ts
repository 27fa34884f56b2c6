import { Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { HEARTBEAT_PK_SUFFIX, JOURNAL_PK_PREFIX, ROOMS_PK_SUFFIX } from '../../functions/names.ts';
import type { DeploymentProps } from '../settings/deployment.ts';
import { tableKeyStatements } from './ledger-table.ts';
import type { RelayNetwork } from './network.ts';
import { allow, onKeys } from './statements.ts';

export interface RelayServiceProps extends DeploymentProps {
  readonly network: RelayNetwork;
  /** Without a URL the relay invokes the function by its name. */
  readonly admit: { readonly arn: string; readonly url?: string };
  readonly table: ITable;
  readonly logGroup: ILogGroup;
}

/** Everything a relay may do in the account: call one function, read its secrets, write its heartbeat and its journal, keep rooms. */
export function grantRelay(role: IRole, { settings, admit, table }: RelayServiceProps): void {
  const { parameters, gitlab } = settings;
  const { instance } = gitlab;
  const items = (actions: readonly string[], key: string): PolicyStatement =>
    allow(actions, [table.tableArn], onKeys(`${instance}${key}`));
  const secrets = [parameters.routerToken, gitlab.caParameter, parameters.proxyCredentials];
  const statements = [
    ...callAdmit(admit),
    ...readSecrets(Stack.of(role), secrets, parameters.keyArn),
    // Only relays write the journal, and they can neither read nor change it.
    items(['dynamodb:PutItem'], `${JOURNAL_PK_PREFIX}*`),
    items(['dynamodb:PutItem', 'dynamodb:Query'], ROOMS_PK_SUFFIX),
    ...(settings.watchdog ? [items(['dynamodb:PutItem'], HEARTBEAT_PK_SUFFIX)] : []),
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
  stack: Stack,
  names: readonly (string | undefined)[],
  keyArn: string | undefined,
): readonly PolicyStatement[] {
  const arns = names.flatMap((name) =>
    name === undefined ? [] : stack.formatArn({ service: 'ssm', resource: `parameter${name}` }),
  );
  const read = allow(['ssm:GetParameter'], arns);
  if (keyArn === undefined) return [read];
  const decrypt = allow(['kms:Decrypt'], [keyArn], {
    StringEquals: {
      'kms:ViaService': `ssm.${stack.region}.${stack.urlSuffix}`,
      'kms:EncryptionContext:PARAMETER_ARN': arns,
    },
  });
  return [read, decrypt];
}
