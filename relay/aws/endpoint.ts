/** Services that the relay calls itself. */
export type AwsService = 'dynamodb' | 'lambda' | 'ssm';

/** Where a service answers in a region, e.g. `https://lambda.eu-central-1.amazonaws.com`. China has a domain of its own. */
export const awsEndpoint = (service: AwsService, region: string): string =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
