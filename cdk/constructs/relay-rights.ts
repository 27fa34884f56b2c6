import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Effect, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { HEARTBEAT_PK_SUFFIX, JOURNAL_PK_PREFIX, ROOMS_PK_SUFFIX } from '../../functions/names.ts';
import type { Settings } from '../settings/deployment.ts';
import { tableKeyStatements } from './ledger-table.ts';
import type { RelayNetwork } from './network.ts';

/** Route to the admit function; `url` is the Function URL. */
export type RelayAdmitRoute =
  | { readonly route: 'url'; readonly url: string; readonly fn: IFunction }
  | { readonly route: 'invoke'; readonly fn: IFunction };

export interface RelayServiceProps {
  readonly settings: Settings;
  readonly network: RelayNetwork;
  readonly admit: RelayAdmitRoute;
  readonly table: ITable;
}

/** Everything a relay may do in the account: call one function, read its secrets, write its heartbeat and its journal, keep rooms. */
export function grantRelay(role: IRole, { settings, admit, table }: RelayServiceProps): void {
  const { parameters, gitlab } = settings;
  const secrets = [parameters.routerToken, gitlab.caParameter, parameters.proxyCredentials].filter(
    (name) => name !== undefined,
  );
  const statements = [
    ...(admit.route === 'url' ? callByUrl(admit.fn) : [invoke(admit.fn)]),
    ...readSecrets(Stack.of(role), secrets, parameters.keyArn),
    writeJournal(table, settings.gitlab.instance),
    keepRooms(table, settings.gitlab.instance),
    ...(settings.watchdog ? [putHeartbeat(table, settings.gitlab.instance)] : []),
    ...tableKeyStatements(role, table.encryptionKey),
  ];
  for (const statement of statements) role.addToPrincipalPolicy(statement);
}

/** New Function URLs ask for both rights; the second only by way of the URL. */
function callByUrl(fn: IFunction): readonly PolicyStatement[] {
  return [
    new PolicyStatement({
      sid: 'CallFunctionUrl',
      actions: ['lambda:InvokeFunctionUrl'],
      resources: [fn.functionArn],
      conditions: { StringEquals: { 'lambda:FunctionUrlAuthType': 'AWS_IAM' } },
    }),
    new PolicyStatement({
      sid: 'InvokeByFunctionUrl',
      actions: ['lambda:InvokeFunction'],
      resources: [fn.functionArn],
      conditions: { Bool: { 'lambda:InvokedViaFunctionUrl': 'true' } },
    }),
  ];
}

const invoke = (fn: IFunction): PolicyStatement =>
  new PolicyStatement({ sid: 'Invoke', actions: ['lambda:InvokeFunction'], resources: [fn.functionArn] });

/**
 * The account's SSM key is open to readers of the parameter. A customer's key needs a grant, limited to
 * these parameters through SSM.
 */
function readSecrets(
  stack: Stack,
  names: readonly string[],
  keyArn: string | undefined,
): readonly PolicyStatement[] {
  const resources = names.map((name) =>
    stack.formatArn({
      service: 'ssm',
      resource: 'parameter',
      resourceName: name.replace(/^\//, ''),
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    }),
  );
  const read = new PolicyStatement({ sid: 'ReadSecrets', actions: ['ssm:GetParameter'], resources });
  if (keyArn === undefined) return [read];
  const decrypt = new PolicyStatement({
    sid: 'DecryptSecrets',
    actions: ['kms:Decrypt'],
    resources: [keyArn],
    conditions: {
      StringEquals: {
        'kms:ViaService': `ssm.${stack.region}.${stack.urlSuffix}`,
        'kms:EncryptionContext:PARAMETER_ARN': resources,
      },
    },
  });
  return [read, decrypt];
}

const putHeartbeat = (table: ITable, instance: string): PolicyStatement =>
  new PolicyStatement({
    sid: 'Heartbeat',
    effect: Effect.ALLOW,
    actions: ['dynamodb:PutItem'],
    resources: [table.tableArn],
    conditions: {
      'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [`${instance}${HEARTBEAT_PK_SUFFIX}`] },
    },
  });

/** Only relays write there, and they write nowhere else: they can neither read nor change the journal. */
const writeJournal = (table: ITable, instance: string): PolicyStatement =>
  new PolicyStatement({
    sid: 'Journal',
    effect: Effect.ALLOW,
    actions: ['dynamodb:PutItem'],
    resources: [table.tableArn],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${instance}${JOURNAL_PK_PREFIX}*`] },
    },
  });

/** Headroom snapshots shared by relays. Relays cannot read other items of the table. */
const keepRooms = (table: ITable, instance: string): PolicyStatement =>
  new PolicyStatement({
    sid: 'Rooms',
    effect: Effect.ALLOW,
    actions: ['dynamodb:PutItem', 'dynamodb:Query'],
    resources: [table.tableArn],
    conditions: {
      'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [`${instance}${ROOMS_PK_SUFFIX}`] },
    },
  });
