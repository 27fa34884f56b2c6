/**
 * A plan says by field number if a field is decoded or skipped. It is compiled once per schema. A plan is a tree, so each part
 * knows its path from the top of the request.
 */
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';

export interface WantedField {
  readonly fields: readonly DescField[];
  readonly within?: readonly WantedField[];
  readonly lazy?: boolean;
  /** For a list: skip items beyond this number. @default all */
  readonly itemsMax?: number;
}

/** `look`: notes unknown and contradicted fields within. `displace`: not read, but replaces another field of its oneof. */
type FieldUse = 'skip' | 'look' | 'displace' | 'scalar' | 'text' | 'lazy' | 'message' | 'texts' | 'messages';

export interface FieldPlan extends Pick<WireForm, 'wireType' | 'mayBePacked'> {
  readonly use: FieldUse;
  readonly number: number;
  readonly path: string;
  readonly key: string;
  readonly oneof: string | undefined;
  readonly decode: DecodeNumber | undefined;
  readonly strict: boolean;
  readonly itemsMax: number;
  readonly within: MessagePlan | undefined;
}

export interface MessagePlan {
  readonly id: number;
  readonly path: string;
  readonly fields: ReadonlyMap<number, FieldPlan>;
}

export const readingPlan = (desc: DescMessage, wanted: readonly WantedField[]): MessagePlan =>
  compile(desc, wantedTree(wanted), '', counter());

/** Reads nothing and looks into every message. Parts are compiled on demand, because a message may contain itself. */
export const explainingPlan = (desc: DescMessage): MessagePlan => compileLook(desc, '', counter());

type NextId = () => number;

function counter(): NextId {
  let id = 0;
  return () => ++id;
}

interface Wanted {
  readonly lazy: boolean;
  readonly itemsMax: number;
  readonly within: WantedTree;
}

type WantedTree = ReadonlyMap<DescField, Wanted>;

function wantedTree(wanted: readonly WantedField[]): WantedTree {
  const byFirst = Map.groupBy(wanted, ({ fields }) => fields[0]);
  const tree = new Map<DescField, Wanted>();
  for (const [field, same] of byFirst) {
    if (field === undefined) continue;
    const leaves = same.filter(({ fields }) => fields.length === 1);
    const within = [
      ...leaves.flatMap((leaf) => leaf.within ?? []),
      ...same.flatMap(({ fields: [, ...rest], ...leaf }) =>
        rest.length === 0 ? [] : [{ ...leaf, fields: rest }],
      ),
    ];
    tree.set(field, {
      lazy: leaves.length > 0 && leaves.every(({ lazy }) => lazy === true),
      itemsMax: Math.max(0, ...leaves.map(({ itemsMax }) => itemsMax ?? Number.POSITIVE_INFINITY)),
      within: wantedTree(within),
    });
  }
  return tree;
}

function compile(desc: DescMessage, tree: WantedTree, path: string, nextId: NextId): MessagePlan {
  const fields = desc.fields.map((field): FieldPlan => {
    const wanted = tree.get(field);
    if (wanted === undefined) return basicPlan(field, path, useUnread(field, tree));
    const { message } = wireFormOf(field);
    return {
      ...basicPlan(field, path, useRead(field, wanted)),
      itemsMax: wanted.itemsMax,
      within: message && compile(message, wanted.within, `${path}${field.name}.`, nextId),
    };
  });
  return { id: nextId(), path, fields: byNumber(fields) };
}

function compileLook(desc: DescMessage, path: string, nextId: NextId): MessagePlan {
  const fields = desc.fields.map((field): FieldPlan => {
    const { message } = wireFormOf(field);
    if (message === undefined || isGroup(field)) return basicPlan(field, path, 'skip');
    let within: MessagePlan | undefined;
    return {
      ...basicPlan(field, path, 'look'),
      get within() {
        within ??= compileLook(message, `${path}${field.name}.`, nextId);
        return within;
      },
    };
  });
  return { id: nextId(), path, fields: byNumber(fields) };
}

const byNumber = (fields: readonly FieldPlan[]): ReadonlyMap<number, FieldPlan> =>
  new Map(fields.map((field) => [field.number, field]));

function basicPlan(field: DescField, path: string, use: FieldUse): FieldPlan {
  const { wireType, mayBePacked } = wireFormOf(field);
  return {
    use,
    wireType,
    mayBePacked,
    number: field.number,
    path: `${path}${field.name}`,
    key: field.localName,
    oneof: field.oneof?.localName,
    decode: numberDecoder(field),
    strict: 'utf8Validation' in field && field.utf8Validation,
    itemsMax: 0,
    within: undefined,
  };
}

const useUnread = (field: DescField, tree: WantedTree): FieldUse =>
  field.oneof?.fields.some((sibling) => tree.has(sibling)) ? 'displace' : 'skip';

/** Maps and groups are skipped: no GitLab has them. */
function useRead(field: DescField, wanted: Wanted): FieldUse {
  if (isGroup(field)) return 'skip';
  switch (field.fieldKind) {
    case 'scalar':
      if (field.scalar === ScalarType.STRING) return wanted.lazy ? 'lazy' : 'text';
      return numberDecoder(field) === undefined ? 'skip' : 'scalar';
    case 'enum':
      return 'scalar';
    case 'message':
      return 'message';
    case 'list':
      if (field.listKind === 'message') return 'messages';
      return field.listKind === 'scalar' && field.scalar === ScalarType.STRING ? 'texts' : 'skip';
    case 'map':
      return 'skip';
  }
}

/** A message in proto2's or an edition's other encoding. */
export const isGroup = (field: DescField): boolean => wireFormOf(field).wireType === WireType.StartGroup;

type DecodeNumber = (reader: BinaryReader) => unknown;

/** An enum is read like an int32. */
function numberDecoder(field: DescField): DecodeNumber | undefined {
  if (field.fieldKind === 'enum') return SCALARS[ScalarType.INT32].decode;
  return field.fieldKind === 'scalar' ? SCALARS[field.scalar].decode : undefined;
}

export const isScalar = (field: DescField, scalar: ScalarType): boolean =>
  field.fieldKind === 'scalar' && field.scalar === scalar;

export const isWholeNumber = (field: DescField): boolean =>
  field.fieldKind === 'scalar' &&
  field.scalar !== ScalarType.BOOL &&
  SCALARS[field.scalar].decode !== undefined;

const scalar = (wireType: WireType, decode?: DecodeNumber) => ({ wireType, decode });

/** No field of a request is a number with a fraction, so these are not decoded. */
const SCALARS: Readonly<Record<ScalarType, ReturnType<typeof scalar>>> = {
  [ScalarType.BOOL]: scalar(WireType.Varint, (reader) => reader.bool()),
  [ScalarType.INT32]: scalar(WireType.Varint, (reader) => reader.int32()),
  [ScalarType.INT64]: scalar(WireType.Varint, (reader) => reader.int64()),
  [ScalarType.UINT32]: scalar(WireType.Varint, (reader) => reader.uint32()),
  [ScalarType.UINT64]: scalar(WireType.Varint, (reader) => reader.uint64()),
  [ScalarType.SINT32]: scalar(WireType.Varint, (reader) => reader.sint32()),
  [ScalarType.SINT64]: scalar(WireType.Varint, (reader) => reader.sint64()),
  [ScalarType.FIXED32]: scalar(WireType.Bit32, (reader) => reader.fixed32()),
  [ScalarType.FIXED64]: scalar(WireType.Bit64, (reader) => reader.fixed64()),
  [ScalarType.SFIXED32]: scalar(WireType.Bit32, (reader) => reader.sfixed32()),
  [ScalarType.SFIXED64]: scalar(WireType.Bit64, (reader) => reader.sfixed64()),
  [ScalarType.FLOAT]: scalar(WireType.Bit32),
  [ScalarType.DOUBLE]: scalar(WireType.Bit64),
  [ScalarType.STRING]: scalar(WireType.LengthDelimited),
  [ScalarType.BYTES]: scalar(WireType.LengthDelimited),
};

export interface WireForm {
  readonly wireType: WireType;
  /** Lists of numbers may be packed or not, even against the schema. */
  readonly mayBePacked: boolean;
  readonly message: DescMessage | undefined;
}

export const WIRE_NAMES: Readonly<Record<number, string>> = {
  [WireType.Varint]: 'varint',
  [WireType.Bit64]: 'fixed64',
  [WireType.LengthDelimited]: 'bytes',
  [WireType.StartGroup]: 'group',
  [WireType.Bit32]: 'fixed32',
};

export function wireFormOf(field: DescField): WireForm {
  const single = field.fieldKind === 'list' ? field.listKind : field.fieldKind;
  const wireType =
    single === 'message' || single === 'map'
      ? 'delimitedEncoding' in field && field.delimitedEncoding
        ? WireType.StartGroup
        : WireType.LengthDelimited
      : single === 'enum'
        ? WireType.Varint
        : SCALARS[field.scalar ?? ScalarType.BYTES].wireType;
  return {
    wireType,
    mayBePacked: field.fieldKind === 'list' && wireType !== WireType.LengthDelimited && single !== 'message',
    message: single === 'message' ? (field.message ?? undefined) : undefined,
  };
}
