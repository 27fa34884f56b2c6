import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Annotations, Stack } from 'aws-cdk-lib';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import { DESCRIPTORS_FOLDER } from '../../relay/names.ts';
import type { Settings } from '../settings/deployment.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ECR =
  /^(\d{12})\.dkr\.ecr\.([a-z\d-]+)\.amazonaws\.com(?:\.cn)?\/([a-z\d._/-]+?)(?:@(sha256:[a-f\d]{64})|:([\w.-]+))$/;

/** Source of relay/Dockerfile's COPY; .dockerignore allows this folder of `dist`. */
const STAGED = `dist/relay/${DESCRIPTORS_FOLDER}`;

/** The relay's image: a ready one, or one built from relay/Dockerfile during deployment with this deployment's descriptors. */
export function relayImage(scope: Construct, { relay: { image: ready }, gitlab }: Settings): ContainerImage {
  const { fileName, bytes } = gitlab.descriptors;
  mkdirSync(join(root, STAGED), { recursive: true });
  writeFileSync(join(root, STAGED, fileName), bytes);
  if (ready === undefined) {
    return ContainerImage.fromAsset(root, {
      file: 'relay/Dockerfile',
      platform: Platform.LINUX_ARM64,
      // Other deployments' stay out: a change of theirs is no new image here.
      exclude: [`${STAGED}/*`, `!${STAGED}/${fileName}`],
    });
  }
  const path = `/app/${DESCRIPTORS_FOLDER}/${fileName}`;
  Annotations.of(scope).addInfo(
    `${ready} must contain gitlab.descriptors as ${path}, or its relays do not start. After this synth, ` +
      '"docker build -f relay/Dockerfile ." makes an image that does.',
  );
  const [, account, region, repositoryName, digest, tag] = ECR.exec(ready) ?? [];
  if (account === undefined || region === undefined || repositoryName === undefined) {
    return ContainerImage.fromRegistry(ready);
  }
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
