import { fileURLToPath } from 'node:url';
import { Stack } from 'aws-cdk-lib';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ECR =
  /^(\d{12})\.dkr\.ecr\.([a-z\d-]+)\.amazonaws\.com(?:\.cn)?\/([a-z\d._/-]+?)(?:@(sha256:[a-f\d]{64})|:([\w.-]+))$/;

/**
 * The relay's image: a ready one, which synth needs no Docker for and deploying neither, or one that whoever deploys builds
 * from relay/Dockerfile.
 */
export function relayImage(scope: Construct, ready: string | undefined): ContainerImage {
  if (ready === undefined) {
    return ContainerImage.fromAsset(root, { file: 'relay/Dockerfile', platform: Platform.LINUX_ARM64 });
  }
  const [, account, region, repositoryName, digest, tag] = ECR.exec(ready) ?? [];
  if (account === undefined || region === undefined || repositoryName === undefined) {
    return ContainerImage.fromRegistry(ready);
  }
  // An image in ECR needs the right to pull it.
  const repositoryArn = Stack.of(scope).formatArn({
    service: 'ecr',
    account,
    region,
    resource: 'repository',
    resourceName: repositoryName,
  });
  const repository = Repository.fromRepositoryAttributes(scope, 'Image', { repositoryArn, repositoryName });
  return ContainerImage.fromEcrRepository(repository, digest ?? tag);
}
