import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type IBucket,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { ENV_EXPORT_BUCKET } from '../../functions/names.ts';
import type { Settings } from '../settings/deployment.ts';
import type { NodeLambda } from './node-lambda.ts';
import { allowKey } from './statements.ts';

/**
 * Archives decisions outside the table. Stateful: kept when the stack goes. The writer has no right to read or delete,
 * and an object that is written over stays as an older version.
 */
export class DecisionExport extends Construct {
  readonly bucket: IBucket;
  readonly #key: IKey | undefined;

  /** With 0 days nothing is written, and existing objects expire within a day. */
  constructor(scope: Construct, id: string, { exportDays: days, tableKeyArn: keyArn }: Settings['state']) {
    super(scope, id);
    this.#key = keyArn === undefined ? undefined : Key.fromKeyArn(this, 'Key', keyArn);
    const kept = Duration.days(Math.max(1, days));
    const bucket = new Bucket(this, 'Bucket', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: true,
      lifecycleRules: [
        {
          expiration: kept,
          noncurrentVersionExpiration: kept,
          abortIncompleteMultipartUploadAfter: Duration.days(1),
        },
      ],
      removalPolicy: RemovalPolicy.RETAIN,
      ...(this.#key === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey: this.#key, bucketKeyEnabled: true }),
    });
    // The library's own class does not fit its interface under exact optional properties.
    this.bucket = bucket as IBucket;
  }

  grantPut(program: NodeLambda): void {
    program.fn.addEnvironment(ENV_EXPORT_BUCKET, this.bucket.bucketName);
    program.allow(['s3:PutObject'], [this.bucket.arnForObjects('v1/*')]);
    if (this.#key !== undefined)
      program.role.addToPolicy(allowKey(this, 's3', ['kms:GenerateDataKey'], this.#key.keyArn));
  }
}
