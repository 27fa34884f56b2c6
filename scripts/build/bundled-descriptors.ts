/** Which descriptors a bundle of the relay takes along. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RelayError } from '../../relay/relay-error.ts';
import {
  type DeployableDescriptors,
  readDeployableDescriptors,
} from '../../relay/wire/deployable-descriptors.ts';

const DESCRIPTORS = /\.binpb$/;

/**
 * @param named - files or folders. @default those of the deployments in cdk/tollgate.config.ts.
 * @throws {RelayError} `schema_invalid`: an unusable file, or none at all.
 * @throws {SettingsError} mistakes in cdk/tollgate.config.ts.
 */
export async function bundledDescriptors(
  named: readonly string[] | undefined,
): Promise<readonly DeployableDescriptors[]> {
  if (named === undefined) return configured();
  const files = named.flatMap(filesOf);
  if (files.length === 0) {
    throw new RelayError(
      'schema_invalid',
      `there are no descriptors in ${named.join(', ')}; npm run synth puts them there`,
    );
  }
  return files.map(readNamed);
}

/** Only here is cdk/ needed: the image is built without it. */
async function configured(): Promise<readonly DeployableDescriptors[]> {
  const { deployments } = await import('../../cdk/tollgate.config.ts');
  const { readDeployments } = await import('../../cdk/settings/read-deployments.ts');
  return readDeployments(deployments, {}).map(({ gitlab }) => gitlab.descriptors);
}

const filesOf = (path: string): readonly string[] =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(path)
        .filter((name) => DESCRIPTORS.test(name))
        .map((name) => join(path, name))
    : [path];

function readNamed(file: string): DeployableDescriptors {
  try {
    return readDeployableDescriptors(file);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    throw new RelayError(error.code, `${file}: ${error.message.replace(/^\[\w+\] /, '')}`, { cause: error });
  }
}
