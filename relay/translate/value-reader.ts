import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import type { ServiceRequest } from '../../policies/request/request.ts';
import type { WantedField } from '../wire/plan.ts';
import type { AliasKind } from './aliases.ts';
import { DOCKER_USER, KUBERNETES_USER, PULL_POLICY } from './container-paths.ts';
import { LABEL_LENGTH_MAX, LIST_LENGTH_MAX, TEXT_LENGTH_MAX } from './text-length.ts';
import {
  findVariables,
  hasPresence,
  type MessageObject,
  type ResolvedPath,
  readServiceVariables,
  resolvePath,
} from './variables.ts';

/** Turns a raw field into ours; `undefined` for "said nothing". Writes what is wrong into `problems`, never a value. */
export type ValueReader = (raw: unknown, problems: string[]) => unknown;

/** A reader for this kind on this field, or nothing if the field's type cannot hold such a value. */
export function valueReader(
  kind: Exclude<AliasKind, 'services'>,
  field: DescField,
  path: string,
): ValueReader | undefined {
  switch (kind) {
    case 'id':
    case 'seconds':
      return isWholeNumber(field) ? (raw, problems) => wholeNumber(raw, path, problems) : undefined;
    case 'text':
    case 'label':
      if (field.fieldKind === 'enum') return enumReader(field);
      if (!isTextField(field)) return undefined;
      return kind === 'label' ? (raw) => label(raw) : (raw, problems) => textField(raw, path, problems);
    case 'boolean':
      return isBoolean(field)
        ? (raw) => (raw === true || (raw === false && hasPresence(field)) ? raw : undefined)
        : undefined;
    case 'texts':
      return isTexts(field)
        ? (raw, problems) => readRepeated(raw, path, problems, (entry) => textField(entry, path, problems))
        : undefined;
    // Read from variables alone.
    case 'digest':
    case 'bot':
      return undefined;
  }
}

/** int64 arrives as bigint; beyond 2^53 a number would silently be another job's. */
export function wholeNumber(raw: unknown, path: string, problems: string[]): number | undefined {
  if (raw === undefined || raw === 0 || raw === 0n || raw === '') return undefined;
  const value = Number(raw);
  if (Number.isSafeInteger(value) && value > 0) return value;
  problems.push(`${path} is not a whole number from 1 to 2^53 - 1`);
  return undefined;
}

export function textField(raw: unknown, path: string, problems: string[]): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined;
  if (raw.length <= TEXT_LENGTH_MAX) return raw;
  problems.push(`${path} is longer than ${TEXT_LENGTH_MAX} characters`);
  return undefined;
}

const label = (raw: unknown): string | undefined =>
  // A cut may fall between the halves of one character.
  typeof raw === 'string' && raw !== '' ? raw.slice(0, LABEL_LENGTH_MAX).toWellFormed() : undefined;

function readRepeated<T>(
  raw: unknown,
  path: string,
  problems: string[],
  read: (entry: unknown) => T | undefined,
): readonly T[] | undefined {
  // An empty repeated field looks the same as one never sent.
  if (!Array.isArray(raw) || raw.length === 0) return undefined;
  if (raw.length > LIST_LENGTH_MAX) {
    // Looking at the first hundred only would let the hundred-and-first pass unseen.
    problems.push(`${path} has more than ${LIST_LENGTH_MAX} entries`);
    return undefined;
  }
  return raw.map(read).filter((entry) => entry !== undefined);
}

/** `REF_TYPE_BRANCH` reads as `branch`, as GitLab's JSON spells it. Number 0 is the usual "unspecified". */
function enumReader(field: DescField & { fieldKind: 'enum' }): ValueReader {
  const prefix = field.enum.sharedPrefix?.length ?? 0;
  const names = new Map(
    field.enum.values.map((value) => [value.number, value.name.slice(prefix).toLowerCase()]),
  );
  return (raw) => (raw === 0 ? undefined : names.get(raw as number));
}

const WHOLE_NUMBERS: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT32,
  ScalarType.INT64,
  ScalarType.UINT32,
  ScalarType.UINT64,
  ScalarType.SINT32,
  ScalarType.SINT64,
  ScalarType.FIXED32,
  ScalarType.FIXED64,
  ScalarType.SFIXED32,
  ScalarType.SFIXED64,
]);

const isWholeNumber = (field: DescField): boolean =>
  (field.fieldKind === 'scalar' && WHOLE_NUMBERS.has(field.scalar)) || isWrapper(field, /U?Int(32|64)Value$/);
export const isTexts = (field: DescField): boolean =>
  field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.STRING;
export const isTextField = (field: DescField): boolean =>
  (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) || isWrapper(field, /StringValue$/);
const isBoolean = (field: DescField): boolean =>
  (field.fieldKind === 'scalar' && field.scalar === ScalarType.BOOL) || isWrapper(field, /BoolValue$/);

/** protobuf-es unwraps `google.protobuf.*Value` fields to the value itself. */
const isWrapper = (field: DescField, name: RegExp): boolean =>
  field.fieldKind === 'message' &&
  field.message.typeName.startsWith('google.protobuf.') &&
  name.test(field.message.typeName);

/** How a list of services is read, and what of each. */
interface ServicesReading {
  readonly read: ValueReader;
  readonly within: readonly WantedField[];
}

/** For a list of messages, or only of images. */
export function servicesReader(field: DescField, path: string): ServicesReading | undefined {
  if (field.fieldKind !== 'list') return undefined;
  if (field.listKind === 'scalar' && field.scalar === ScalarType.STRING) {
    const read: ValueReader = (raw, problems) =>
      readRepeated(raw, path, problems, (entry): ServiceRequest | undefined => {
        const name = textField(entry, path, problems);
        return name === undefined ? undefined : { name };
      });
    return { read, within: [] };
  }
  if (field.listKind !== 'message') return undefined;
  const service = serviceReader(field.message, path);
  if (service === undefined) return undefined;
  const read: ValueReader = (raw, problems) =>
    readRepeated(raw, path, problems, (entry) => service.read(entry as MessageObject, problems));
  return { read, within: service.wanted };
}

interface ServiceReader {
  readonly read: (service: MessageObject, problems: string[]) => ServiceRequest | undefined;
  readonly wanted: readonly WantedField[];
}

function serviceReader(desc: DescMessage, path: string): ServiceReader | undefined {
  const name = firstOf(desc, ['name', 'image'], isTextField);
  if (name === undefined) return undefined;
  const alias = firstOf(desc, ['alias'], isTextField);
  const pullPolicy = firstOf(desc, PULL_POLICY, isTexts);
  const dockerUser = firstOf(desc, DOCKER_USER, isTextField);
  const kubernetesUser = firstOf(desc, KUBERNETES_USER, isTextField);
  const variables = findVariables(desc);

  const single = [name, alias, pullPolicy, dockerUser, kubernetesUser].filter((found) => found !== undefined);
  const wanted: readonly WantedField[] = [
    ...single.map(({ fields }) => ({ fields, itemsMax: LIST_LENGTH_MAX + 1 })),
    ...(variables === undefined ? [] : [variables.wanted]),
  ];
  return { read: readService, wanted };

  function readService(service: MessageObject, problems: string[]): ServiceRequest | undefined {
    const textAt = (found: ResolvedPath | undefined): string | undefined =>
      found && textField(found.get(service), `${path}.${found.path}`, problems);
    const read = {
      name: textAt(name),
      alias: label(alias?.get(service)),
      pullPolicies: pullPolicy && policies(pullPolicy, service, problems),
      dockerUser: textAt(dockerUser),
      kubernetesUser: textAt(kubernetesUser),
      variables: variables && readServiceVariables(variables, service),
    };
    if (read.name === undefined) return undefined;
    // What is not there is left out, as everywhere in a request.
    return Object.fromEntries(
      Object.entries(read).filter(([, value]) => value !== undefined),
    ) as unknown as ServiceRequest;
  }

  function policies(
    found: ResolvedPath,
    service: MessageObject,
    problems: string[],
  ): readonly string[] | undefined {
    const at = `${path}.${found.path}`;
    return readRepeated(found.get(service), at, problems, (entry) => textField(entry, at, problems));
  }
}

/** The first of these paths that the schema has, with a type that fits. */
function firstOf(
  desc: DescMessage,
  paths: readonly string[],
  fits: (field: DescField) => boolean,
): ResolvedPath | undefined {
  for (const path of paths) {
    const found = resolvePath(desc, path);
    if (found !== undefined && fits(found.leaf)) return found;
  }
  return undefined;
}
