import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { ENV_EXPORT_BUCKET } from '../../functions/names.ts';
import type { Settings } from '../settings/deployment.ts';
import type { NodeLambda } from './node-lambda.ts';
import { allowKey } from './statements.ts';

/** Archives decisions outside the table and outlives the stack. The writer may not read or delete. Versions keep old objects. */
export class DecisionExport extends Construct {
  readonly bucket: s3.IBucket;
  readonly #key: IKey | undefined;

  /** With 0 days nothing is written, and existing objects expire within a day. */
  constructor(scope: Construct, id: string, { exportDays: days, tableKeyArn: keyArn }: Settings['state']) {
    super(scope, id);
    this.#key = keyArn === undefined ? undefined : Key.fromKeyArn(this, 'Key', keyArn);
    const lifetime = Duration.days(Math.max(1, days));
    const bucket = new s3.Bucket(this, 'Bucket', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: true,
      lifecycleRules: [
        {
          expiration: lifetime,
          noncurrentVersionExpiration: lifetime,
          abortIncompleteMultipartUploadAfter: Duration.days(1),
        },
      ],
      removalPolicy: RemovalPolicy.RETAIN,
      ...(this.#key === undefined
        ? { encryption: s3.BucketEncryption.S3_MANAGED }
        : { encryption: s3.BucketEncryption.KMS, encryptionKey: this.#key, bucketKeyEnabled: true }),
    });
    // The library's own class does not fit its interface under exact optional properties.
    this.bucket = bucket as s3.IBucket;
  }

  grantPut(program: NodeLambda): void {
    program.fn.addEnvironment(ENV_EXPORT_BUCKET, this.bucket.bucketName);
    program.allow(['s3:PutObject'], [this.bucket.arnForObjects('v1/*')]);
    if (this.#key !== undefined)
      program.role.addToPolicy(allowKey(this, 's3', ['kms:GenerateDataKey'], this.#key.keyArn));
  }
}
