import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readDeployableDescriptors } from '../../relay/wire/deployable-descriptors.ts';
import type { Section } from './section.ts';
import type { DescriptorsSettings } from './settings.ts';
import * as shapes from './shapes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const NONE: DescriptorsSettings = { bytes: new Uint8Array(), sha256: '', fileName: '', version: undefined };

/**
 * Reads the file as the relay will, so that no deployment begins whose relays could not speak to their GitLab. What is wrong
 * with it is noted like any other mistake.
 */
export function readDescriptors(read: Section): DescriptorsSettings {
  const path = read.required('descriptors', shapes.DESCRIPTORS);
  if (path === '') return NONE;
  try {
    return readDeployableDescriptors(resolve(root, path));
  } catch (error) {
    read.mistake('descriptors', problemOf(error));
    return NONE;
  }
}

/** Leaves out the code, which the whole list carries once. */
const problemOf = (error: unknown): string =>
  error instanceof Error ? error.message.replace(/^\[\w+\] /, '') : 'the file is unusable';
