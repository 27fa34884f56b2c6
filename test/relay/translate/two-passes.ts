/**
 * Reads an admission request by a walk over its tags, protobuf-es's whole message, and translation: slower than the product's
 * single pass, and independent of it.
 */
import { type DescField, type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import {
  compileTranslator,
  type Translation,
  type TranslatorOptions,
} from '../../../relay/translate/translator.ts';
import { WIRE_NAMES, type WireForm, wireFormOf } from '../../../relay/wire/plan.ts';

export type TwoPassReader = (
  bytes: Uint8Array,
) =>
  | (Translation & { readonly unknown: readonly string[] })
  | { readonly ok: false; readonly problem: string };

const FIELDS_MAX = 32;
const DEPTH_MAX = 100;

export function compileTwoPasses(desc: DescMessage, options: TranslatorOptions): TwoPassReader {
  const translate = compileTranslator(desc, options);
  return (bytes) => {
    try {
      const { unknown, contradicted } = explain(desc, bytes);
      const [first] = contradicted;
      if (first !== undefined) return { ok: false, problem: first };
      const message = fromBinary(desc, bytes) as unknown as Readonly<Record<string, unknown>>;
      return { ...translate(message), unknown: [...unknown] };
    } catch (error) {
      return { ok: false, problem: error instanceof Error ? error.message : String(error) };
    }
  };
}

interface Found {
  readonly unknown: Set<string>;
  readonly contradicted: Set<string>;
}

function explain(desc: DescMessage, bytes: Uint8Array): Found {
  const found: Found = { unknown: new Set(), contradicted: new Set() };
  walk(desc, new BinaryReader(bytes), bytes.length, '', 0, found);
  return found;
}

function walk(
  desc: DescMessage,
  reader: BinaryReader,
  end: number,
  path: string,
  depth: number,
  found: Found,
): void {
  if (depth > DEPTH_MAX) throw new RangeError(`nested deeper than ${DEPTH_MAX} messages`);
  const fields = knownFields(desc);
  while (reader.pos < end) {
    const [no, wireType] = reader.tag();
    const field = fields.get(no);
    if (field === undefined || !fits(field, wireType)) {
      reader.skip(wireType, no, DEPTH_MAX - depth);
      const form = WIRE_NAMES[wireType] ?? wireType;
      if (field === undefined) note(found.unknown, `${path}${no}:${form}`);
      else note(found.contradicted, `${path}${field.name} (${no}) is ${form}`);
    } else if (field.message !== undefined && wireType === WireType.LengthDelimited) {
      const length = reader.uint32();
      if (reader.pos + length > end) throw new RangeError(`${path}${field.name} is too long`);
      walk(field.message, reader, reader.pos + length, `${path}${field.name}.`, depth + 1, found);
    } else {
      reader.skip(wireType, no, DEPTH_MAX - depth);
    }
    if (reader.pos > end) throw new RangeError(`${path}${no} is too long`);
  }
}

type KnownField = WireForm & { readonly name: string };

const fits = (field: KnownField, wireType: WireType): boolean =>
  wireType === field.wireType || (field.mayBePacked && wireType === WireType.LengthDelimited);

function note(fields: Set<string>, field: string): void {
  if (fields.size < FIELDS_MAX) fields.add(field);
}

const cache = new WeakMap<DescMessage, ReadonlyMap<number, KnownField>>();

function knownFields(desc: DescMessage): ReadonlyMap<number, KnownField> {
  let fields = cache.get(desc);
  if (fields === undefined) {
    const known = (field: DescField): KnownField => ({ name: field.name, ...wireFormOf(field) });
    fields = new Map(desc.fields.map((field) => [field.number, known(field)]));
    cache.set(desc, fields);
  }
  return fields;
}
