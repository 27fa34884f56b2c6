import { App, type Environment, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { RelayNetwork } from '../../cdk/constructs/network.ts';
import { RelayService } from '../../cdk/constructs/relay-service.ts';
import type { Settings } from '../../cdk/settings/deployment.ts';

const ACCOUNT = '123456789012';

/** A stack with nothing but the relay in it; the table and the function are somebody else's. */
export function relayStack(settings: Settings, env?: Environment) {
  const app = new App({ analyticsReporting: false });
  const stack = new Stack(app, 'Relay', env === undefined ? {} : { env });
  const network = new RelayNetwork(stack, 'Network', settings.vpc);
  const table = Table.fromTableArn(
    stack,
    'Table',
    `arn:aws:dynamodb:eu-central-1:${ACCOUNT}:table/tollgate-prod`,
  );
  const fn = Lambda.fromFunctionArn(stack, 'Admit', `arn:aws:lambda:eu-central-1:${ACCOUNT}:function:admit`);
  const admit =
    settings.admitRoute === 'url'
      ? ({ route: 'url', url: 'https://abc.lambda-url.eu-central-1.on.aws/', fn } as const)
      : ({ route: 'invoke', fn } as const);
  const service = new RelayService(stack, 'Relay', { settings, network, admit, table });
  const template = Template.fromStack(stack);
  const container = Object.values(template.findResources('AWS::ECS::TaskDefinition'))[0]?.Properties
    .ContainerDefinitions[0];
  const environment: Record<string, unknown> = Object.fromEntries(
    container.Environment.map(({ Name, Value }: { Name: string; Value: unknown }) => [Name, Value]),
  );
  return { app, stack, network, service, template, container, environment };
}

/** Statements of a stack's policies, by the role they are for. */
export function statementsOf(template: Template, role: RegExp): readonly Record<string, unknown>[] {
  return Object.values(template.findResources('AWS::IAM::Policy'))
    .filter(({ Properties }) => role.test(JSON.stringify(Properties.Roles)))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
}
