/** Descriptor sets that differ from ours as GitLab's might: another package, other numbers, more fields. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clone, create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';

const DEFAULT_DESCRIPTORS = new URL('../../../relay/wire/default.binpb', import.meta.url);

interface SchemaVariant {
  /** Old package → new package; every reference follows. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly renumber?: (number: number, message: string) => number;
  /** String fields to add, by message name: `{ JobInfo: ['region'] }`. */
  readonly addedStrings?: Readonly<Record<string, readonly string[]>>;
  readonly removed?: Readonly<Record<string, readonly string[]>>;
}

/** Other numbers for all fields, and the answer's variants swapped: the worst that a wrong schema can do. */
export const renumbered = (): Uint8Array => schemaVariant({ renumber: renumberedField });

export function schemaVariant(variant: SchemaVariant): Uint8Array {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(DEFAULT_DESCRIPTORS));
  const varied: FileDescriptorSet = clone(FileDescriptorSetSchema, set);
  for (const file of varied.file) {
    file.package = variant.packages?.[file.package] ?? file.package;
    for (const message of file.messageType) varyMessage(message, variant);
    for (const service of file.service) {
      for (const method of service.method) {
        method.inputType = renamedType(method.inputType, variant);
        method.outputType = renamedType(method.outputType, variant);
      }
    }
  }
  return toBinary(FileDescriptorSetSchema, varied);
}

function varyMessage(message: DescriptorProto, variant: SchemaVariant): void {
  const removed = variant.removed?.[message.name] ?? [];
  message.field = message.field.filter((field) => !removed.includes(field.name));
  for (const field of message.field) {
    field.number = variant.renumber?.(field.number, message.name) ?? field.number;
    if (field.typeName !== '') field.typeName = renamedType(field.typeName, variant);
  }
  for (const [index, name] of (variant.addedStrings?.[message.name] ?? []).entries()) {
    message.field.push(
      create(FieldDescriptorProtoSchema, {
        name,
        jsonName: name,
        number: ADDED_FROM + index,
        type: FieldDescriptorProto_Type.STRING,
        label: FieldDescriptorProto_Label.OPTIONAL,
      }),
    );
  }
  for (const nested of message.nestedType) varyMessage(nested, variant);
}

const ADDED_FROM = 900;

export const renumberedField = (number: number, message: string): number =>
  message === 'AdmitJobResponse' ? 3 - number : 140 - 3 * number;

function renamedType(typeName: string, { packages = {} }: SchemaVariant): string {
  const renamed = Object.entries(packages).find(([from]) => typeName.startsWith(`.${from}.`));
  return renamed === undefined ? typeName : `.${renamed[1]}${typeName.slice(renamed[0].length + 1)}`;
}

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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    console.error('node scripts/local/router/schemas.ts <file>');
    process.exit(2);
  }
  console.log(writeRenumbered(file));
}
