/** Descriptor sets that differ from ours as GitLab's might. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';

const DEFAULT_DESCRIPTORS = new URL('../../../relay/wire/default.binpb', import.meta.url);

/** @returns our descriptors with each message, then the set changed. */
export function variedDescriptors(
  changeMessage: (message: DescriptorProto) => void,
  changeSet: (set: FileDescriptorSet) => void = () => {},
): Uint8Array {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(DEFAULT_DESCRIPTORS));
  const changeAll = (messages: readonly DescriptorProto[]): void => {
    for (const message of messages) {
      changeMessage(message);
      changeAll(message.nestedType);
    }
  };
  for (const file of set.file) changeAll(file.messageType);
  changeSet(set);
  return toBinary(FileDescriptorSetSchema, set);
}

export const renumberedField = (number: number, message: string): number =>
  message === 'AdmitJobResponse' ? 3 - number : 140 - 3 * number;

/** Other numbers for all fields, and the answer's variants swapped: the worst that a wrong schema can do. */
export const renumbered = (): Uint8Array =>
  variedDescriptors(({ field, name }) => {
    for (const each of field) each.number = renumberedField(each.number, name);
  });

/**
 * Writes descriptors with other numbers than the placeholder, so that a synth or a rehearsal needs none from GitLab. As a
 * program: `node scripts/local/router/schemas.ts <file>`.
 *
 * @returns the file's absolute path.
 */
export function writeRenumbered(file: string): string {
  const path = resolve(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, renumbered());
  return path;
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    console.error('node scripts/local/router/schemas.ts <file>');
    process.exit(2);
  }
  console.log(writeRenumbered(file));
}
