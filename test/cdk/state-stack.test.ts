import { beforeAll, describe, expect, test } from 'vitest';
import { ledgerTable } from '../../functions/core/store/operation.ts';
import { DEFAULTS, PRIVATE, type Resource, type Synthesized, synthesize } from './synthesized.ts';

const tableOf = (synthesized: Synthesized): Resource => {
  const [only, ...others] = synthesized.resources('AWS::DynamoDB::Table');
  if (only === undefined || others.length > 0) throw new Error('expected one table');
  return only[1];
};

describe('the books', () => {
  let table: Resource;
  let synthesized: Synthesized;
  beforeAll(() => {
    synthesized = synthesize(DEFAULTS);
    table = tableOf(synthesized);
  });

  test('keep their logical ids: under another one they would be another, empty table', () => {
    const ids = (type: string) => synthesized.resources(type).map(([where]) => where);
    expect(ids('AWS::DynamoDB::Table')).toEqual(['Tollgate-prod-State/LedgerTable9343E4AA']);
    expect(ids('AWS::S3::Bucket')).toEqual(['Tollgate-prod-State/ExportBucketFD42BCED']);
  });

  test('have the keys, the index and the stream that the programs are tested on', () => {
    const tested = ledgerTable('any');
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode, StreamSpecification } =
      table.Properties;
    const byName = (definitions: readonly { readonly AttributeName?: string | undefined }[] = []) =>
      definitions.toSorted((a, b) => String(a.AttributeName).localeCompare(String(b.AttributeName)));
    expect(byName(AttributeDefinitions)).toEqual(byName(tested.AttributeDefinitions));
    expect({ KeySchema, GlobalSecondaryIndexes, BillingMode }).toEqual({
      KeySchema: tested.KeySchema,
      GlobalSecondaryIndexes: tested.GlobalSecondaryIndexes,
      BillingMode: tested.BillingMode,
    });
    expect(StreamSpecification.StreamViewType).toBe(tested.StreamSpecification?.StreamViewType);
  });
});

test('a customer’s key encrypts the table and opens to every program that uses it', () => {
  const synthesized = synthesize(PRIVATE);
  const key = PRIVATE[0]?.state?.tableKeyArn;
  expect(tableOf(synthesized).Properties.SSESpecification).toMatchObject({
    KMSMasterKeyId: key,
    SSEType: 'KMS',
  });
  const users = synthesized
    .resources('AWS::IAM::Policy')
    .filter(([, { Properties }]) => JSON.stringify(Properties).includes('"dynamodb:'));
  expect(users.length).toBeGreaterThanOrEqual(6);
  for (const [, { Properties }] of users) expect(JSON.stringify(Properties)).toContain(key);
});

describe('decisions outside the table', () => {
  const bucketOf = (synthesized: Synthesized): Resource | undefined =>
    synthesized.resources('AWS::S3::Bucket')[0]?.[1];
  const uses = (synthesized: Synthesized): string =>
    JSON.stringify(
      synthesized
        .resources('AWS::IAM::Policy')
        .filter(([, { Properties }]) => JSON.stringify(Properties).includes('"s3:')),
    );

  test('are written by one program, which reads and deletes nothing', () => {
    const synthesized = synthesize(DEFAULTS);
    expect(uses(synthesized).match(/"s3:[^"]+"/g)).toEqual(['"s3:PutObject"']);
    expect(uses(synthesized)).toContain('RollupProgramRole');
  });

  test('are encrypted with the customer’s key where the table is', () => {
    const synthesized = synthesize(PRIVATE);
    const key = PRIVATE[0]?.state?.tableKeyArn;
    expect(JSON.stringify(bucketOf(synthesized)?.Properties.BucketEncryption)).toContain(key);
    expect(uses(synthesized)).toMatch(/"kms:ViaService":"s3\./);
  });

  test('are in the table alone where the settings say so', () => {
    const [first] = DEFAULTS;
    if (first === undefined) throw new Error('DEFAULTS is empty');
    const synthesized = synthesize([{ ...first, state: { exportDays: 0 } }]);
    expect(uses(synthesized)).toBe('[]');
    // The bucket stays, and so do its exports: a service that still uses them would not let them go.
    expect(bucketOf(synthesized)?.Properties.LifecycleConfiguration.Rules).toMatchObject([
      { ExpirationInDays: 1 },
    ]);
    const exported = (from: Synthesized): readonly string[] =>
      Object.keys(from.stacks.find(({ name }) => name.endsWith('-State'))?.template.Outputs ?? {});
    expect(exported(synthesized)).toEqual(exported(synthesize(DEFAULTS)));
  });
});
