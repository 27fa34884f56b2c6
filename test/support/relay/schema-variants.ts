/** Descriptor sets that differ from ours as GitLab's might: another package, other numbers, more or fewer fields. */
import { create } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import { renumberedField, variedDescriptors } from '../../../scripts/local/router/schemas.ts';

interface SchemaVariant {
  /** Old package → new package; every reference follows. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly renumber?: (number: number, message: string) => number;
  /** String fields to add, by message name: `{ JobInfo: ['region'] }`. */
  readonly addedStrings?: Readonly<Record<string, readonly string[]>>;
  readonly removed?: Readonly<Record<string, readonly string[]>>;
}

const ADDED_FROM = 900;

export function schemaVariant({ packages = {}, renumber, addedStrings, removed }: SchemaVariant): Uint8Array {
  const rename = (typeName: string): string => {
    const renamed = Object.entries(packages).find(([from]) => typeName.startsWith(`.${from}.`));
    return renamed === undefined ? typeName : `.${renamed[1]}${typeName.slice(renamed[0].length + 1)}`;
  };
  return variedDescriptors(
    (message) => {
      message.field = message.field.filter(({ name }) => !removed?.[message.name]?.includes(name));
      for (const field of message.field) {
        field.number = renumber?.(field.number, message.name) ?? field.number;
        field.typeName = rename(field.typeName);
      }
      for (const [index, name] of (addedStrings?.[message.name] ?? []).entries())
        message.field.push(
          create(FieldDescriptorProtoSchema, {
            ...{ name, jsonName: name, number: ADDED_FROM + index },
            ...{ type: FieldDescriptorProto_Type.STRING, label: FieldDescriptorProto_Label.OPTIONAL },
          }),
        );
    },
    ({ file }) => {
      for (const each of file) each.package = packages[each.package] ?? each.package;
      for (const method of file.flatMap(({ service }) => service.flatMap((each) => each.method))) {
        method.inputType = rename(method.inputType);
        method.outputType = rename(method.outputType);
      }
    },
  );
}

const RENAMED = {
  'gitlab.agent.runner_controller.rpc': 'gitlab.agent.runner_controller.v2.rpc',
};

/** A renamed package and other numbers at once. */
export const renamedAndRenumbered = (): Uint8Array =>
  schemaVariant({ packages: RENAMED, renumber: renumberedField });

/** A newer GitLab that sends more than our descriptors explain. */
export const extended = (): Uint8Array =>
  schemaVariant({
    addedStrings: { AdmitJobRequest: ['admission_nonce'], JobInfo: ['region'], Image: ['digest'] },
  });

/** GitLab before about 19.4: no tags. */
export const withoutTags = (): Uint8Array =>
  schemaVariant({ removed: { JobInfo: ['tags'], RunnerInfo: ['tags'] } });
