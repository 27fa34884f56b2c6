import { type ArnComponents, Stack } from 'aws-cdk-lib';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

type Conditions = Record<string, unknown>;

export const statement = (
  effect: Effect,
  actions: readonly string[],
  resources: readonly string[],
  conditions?: Conditions,
): PolicyStatement =>
  new PolicyStatement({
    effect,
    actions: [...actions],
    resources: [...resources],
    ...(conditions !== undefined && { conditions }),
  });

export const allow = (
  actions: readonly string[],
  resources: readonly string[],
  conditions?: Conditions,
): PolicyStatement => statement(Effect.ALLOW, actions, resources, conditions);

/** A key of ours or of the customer may serve others, so it opens by way of one service of this region only. */
export const allowKey = (
  scope: Construct,
  service: 'dynamodb' | 's3' | 'sns',
  actions: readonly string[],
  keyArn: string,
): PolicyStatement =>
  allow(actions, [keyArn], {
    StringEquals: { 'kms:ViaService': `${service}.${Stack.of(scope).region}.amazonaws.com` },
  });

/** Items whose partition keys are like these; `*` stands for the rest of a key. */
export const onKeys = (...partitions: readonly string[]): Conditions => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...partitions] },
});

/** Rights to publish to a topic, and to use its key if it has one. */
export const publishTo = (scope: Construct, { topicArn, masterKey }: ITopic): readonly PolicyStatement[] => [
  allow(['sns:Publish'], [topicArn]),
  ...(masterKey === undefined
    ? []
    : [allowKey(scope, 'sns', ['kms:Decrypt', 'kms:GenerateDataKey'], masterKey.keyArn)]),
];

export const arnHere = (
  scope: Construct,
  service: string,
  resource: string,
  rest: Partial<ArnComponents> = {},
): string => Stack.of(scope).formatArn({ service, resource, ...rest });
