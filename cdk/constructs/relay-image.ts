import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Annotations } from 'aws-cdk-lib';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import { DESCRIPTORS_FOLDER } from '../../relay/names.ts';
import type { Settings } from '../settings/deployment.ts';
import { arnHere } from './statements.ts';

const ECR =
  /^(\d{12})\.dkr\.ecr\.([a-z\d-]+)\.amazonaws\.com(?:\.cn)?\/([a-z\d._/-]+?)(?:@(sha256:[a-f\d]{64})|:([\w.-]+))$/;

/**
 * The relay's image: a ready one, or one built during deployment from the relay's bundle and this deployment's descriptors. The
 * bundle holds only what the relay reads, so that nothing else makes another image and another deployment of relays.
 */
export function relayImage(
  scope: Construct,
  { relay: { image: ready, architecture }, gitlab }: Settings,
  bundlesPath: string,
): ContainerImage {
  const { fileName, bytes } = gitlab.descriptors;
  const context = join(bundlesPath, 'relay');
  mkdirSync(join(context, DESCRIPTORS_FOLDER), { recursive: true });
  writeFileSync(join(context, DESCRIPTORS_FOLDER, fileName), bytes);
  if (ready === undefined) {
    if (!existsSync(join(context, 'Dockerfile')))
      throw new Error(`[bundle_missing] ${context} has no Dockerfile; make it with: npm run bundle`);
    return ContainerImage.fromAsset(context, {
      platform: architecture === 'amd64' ? Platform.LINUX_AMD64 : Platform.LINUX_ARM64,
      // Other deployments' stay out: a change of theirs is no new image here.
      exclude: [`${DESCRIPTORS_FOLDER}/*`, `!${DESCRIPTORS_FOLDER}/${fileName}`],
    });
  }
  const path = `/app/${DESCRIPTORS_FOLDER}/${fileName}`;
  Annotations.of(scope).addInfo(
    `${ready} must contain gitlab.descriptors as ${path}, or its relays do not start. After this synth, ` +
      '"docker build dist/relay" makes an image that does.',
  );
  const [, account, region, repositoryName, digest, tag] = ECR.exec(ready) ?? [];
  if (account === undefined || region === undefined || repositoryName === undefined) {
    return ContainerImage.fromRegistry(ready);
  }
  const place = { account, region, resourceName: repositoryName };
  const repositoryArn = arnHere(scope, 'ecr', 'repository', place);
  const repository = Repository.fromRepositoryAttributes(scope, 'Image', { repositoryArn, repositoryName });
  return ContainerImage.fromEcrRepository(repository, digest ?? tag);
}
