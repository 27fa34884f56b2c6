import { type DescField, ScalarType } from '@bufbuild/protobuf';
import type { ServiceRequest } from '../../policies/request.ts';
import type { AliasKind } from './aliases.ts';
import { hasPresence, type MessageObject, resolvePath } from './field-path.ts';

/** Turns a raw field into ours; `undefined` for "said nothing". Writes what is wrong into `problems`, never a value. */
export type ValueReader = (raw: unknown, problems: string[]) => unknown;

/** Longer than any path (20 levels of groups) or image name seen; a longer one is somebody's experiment. */
export const TEXT_LENGTH_MAX = 1_024;
/** What people read is cut here instead: GitLab's own bound for job names. */
export const LABEL_LENGTH_MAX = 255;
/** GitLab allows 50 tags per job; services have no bound of their own. */
export const LIST_LENGTH_MAX = 100;

/** A reader for this kind on this field, or nothing if the field's type cannot hold such a value. */
export function valueReader(kind: AliasKind, field: DescField, path: string): ValueReader | undefined {
  switch (kind) {
    case 'id':
    case 'seconds':
      return isWholeNumber(field) ? (raw, problems) => wholeNumber(raw, path, problems) : undefined;
    case 'text':
    case 'label':
      if (field.fieldKind === 'enum') return enumReader(field);
      if (!isText(field)) return undefined;
      return kind === 'label' ? (raw) => label(raw) : (raw, problems) => text(raw, path, problems);
    case 'boolean':
      return isBoolean(field)
        ? (raw) => (raw === true || (raw === false && hasPresence(field)) ? raw : undefined)
        : undefined;
    case 'tags':
      return field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.STRING
        ? (raw, problems) => list(raw, path, problems, (entry) => text(entry, path, problems))
        : undefined;
    case 'services':
      return servicesReader(field, path);
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

export function text(raw: unknown, path: string, problems: string[]): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined;
  if (raw.length <= TEXT_LENGTH_MAX) return raw;
  problems.push(`${path} is longer than ${TEXT_LENGTH_MAX} characters`);
  return undefined;
}

const label = (raw: unknown): string | undefined =>
  // A cut may fall between the halves of one character.
  typeof raw === 'string' && raw !== '' ? raw.slice(0, LABEL_LENGTH_MAX).toWellFormed() : undefined;

function list<T>(
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

function servicesReader(field: DescField, path: string): ValueReader | undefined {
  if (field.fieldKind !== 'list') return undefined;
  if (field.listKind === 'scalar' && field.scalar === ScalarType.STRING) {
    return (raw, problems) =>
      list(raw, path, problems, (entry): ServiceRequest | undefined => {
        const name = text(entry, path, problems);
        return name === undefined ? undefined : { name };
      });
  }
  if (field.listKind !== 'message') return undefined;
  const name = resolvePath(field.message, 'name') ?? resolvePath(field.message, 'image');
  const alias = resolvePath(field.message, 'alias');
  if (name === undefined || !isText(name.leaf)) return undefined;
  return (raw, problems) =>
    list(raw, path, problems, (entry): ServiceRequest | undefined => {
      const message = entry as MessageObject;
      const serviceName = text(name.get(message), `${path}.name`, problems);
      if (serviceName === undefined) return undefined;
      const serviceAlias = label(alias?.get(message));
      return serviceAlias === undefined ? { name: serviceName } : { name: serviceName, alias: serviceAlias };
    });
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
const isText = (field: DescField): boolean =>
  (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) || isWrapper(field, /StringValue$/);
const isBoolean = (field: DescField): boolean =>
  (field.fieldKind === 'scalar' && field.scalar === ScalarType.BOOL) || isWrapper(field, /BoolValue$/);

/** protobuf-es unwraps `google.protobuf.*Value` fields to the value itself. */
const isWrapper = (field: DescField, name: RegExp): boolean =>
  field.fieldKind === 'message' &&
  field.message.typeName.startsWith('google.protobuf.') &&
  name.test(field.message.typeName);
