import { type DescField, ScalarType } from '@bufbuild/protobuf';
import type { AliasKind } from './aliases.ts';
import { hasPresence } from './field-path.ts';
import { LABEL_LENGTH_MAX, LIST_LENGTH_MAX, TEXT_LENGTH_MAX } from './text-length.ts';

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
      if (!isText(field)) return undefined;
      return kind === 'label' ? (raw) => label(raw) : (raw, problems) => text(raw, path, problems);
    case 'boolean':
      return isBoolean(field)
        ? (raw) => (raw === true || (raw === false && hasPresence(field)) ? raw : undefined)
        : undefined;
    case 'texts':
      return isTexts(field)
        ? (raw, problems) => list(raw, path, problems, (entry) => text(entry, path, problems))
        : undefined;
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

export const label = (raw: unknown): string | undefined =>
  // A cut may fall between the halves of one character.
  typeof raw === 'string' && raw !== '' ? raw.slice(0, LABEL_LENGTH_MAX).toWellFormed() : undefined;

export function list<T>(
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
export const isText = (field: DescField): boolean =>
  (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) || isWrapper(field, /StringValue$/);
const isBoolean = (field: DescField): boolean =>
  (field.fieldKind === 'scalar' && field.scalar === ScalarType.BOOL) || isWrapper(field, /BoolValue$/);

/** protobuf-es unwraps `google.protobuf.*Value` fields to the value itself. */
const isWrapper = (field: DescField, name: RegExp): boolean =>
  field.fieldKind === 'message' &&
  field.message.typeName.startsWith('google.protobuf.') &&
  name.test(field.message.typeName);
