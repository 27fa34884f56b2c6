import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

const ACTIONS = [
  'kms:Decrypt',
  'kms:DescribeKey',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/** A customer's key of the table: only through DynamoDB, because the key may serve others. None without such a key. */
export function tableKeyStatements(scope: Construct, key: IKey | undefined): readonly PolicyStatement[] {
  if (key === undefined) return [];
  return [
    new PolicyStatement({
      actions: ACTIONS,
      resources: [key.keyArn],
      conditions: {
        StringEquals: { 'kms:ViaService': `dynamodb.${Stack.of(scope).region}.amazonaws.com` },
      },
    }),
  ];
}
