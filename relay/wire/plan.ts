/**
 * A plan says what is done with each field of a message, by number: what translation needs is decoded, everything else is
 * skipped. It is compiled once per schema and is a tree, so a part of it knows where in the question it stands.
 */
import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { isWrapperDesc } from '@bufbuild/protobuf/wkt';
import { type WireForm, wireFormOf } from './wire-form.ts';

/** Something that is read of a message. */
export interface WantedField {
  /** The way to it, from the message on: all but the last hold single messages. */
  readonly fields: readonly DescField[];
  /** For a list of messages: what is read of each. */
  readonly within?: readonly WantedField[];
  /** For a text: decode it only when somebody looks. */
  readonly lazy?: boolean;
  /** For a list: how many items are taken up at most; the others are skipped. @default all */
  readonly itemsMax?: number;
}

/**
 * `look`: only what is unknown or contradicted within is noted. `displace`: the value is not read, but takes the place of
 * another one of its oneof.
 */
type FieldUse =
  | 'skip'
  | 'look'
  | 'displace'
  | 'scalar'
  | 'text'
  | 'lazy'
  | 'wrapper'
  | 'message'
  | 'texts'
  | 'messages';

export interface FieldPlan extends Pick<WireForm, 'wireType' | 'mayBePacked'> {
  readonly use: FieldUse;
  readonly number: number;
  /** As the schema spells it, from the question on: `image.executor_opts`. */
  readonly path: string;
  /** The property it has in a decoded message. */
  readonly key: string;
  /** The property of its oneof, if it is in one. */
  readonly oneof: string | undefined;
  /** For a number: reads it. An enum that the schema does not know reads as undefined. */
  readonly decode: DecodeNumber | undefined;
  /** For a wrapper (`google.protobuf.BoolValue`): the value that it has when nothing is in it. */
  readonly zero: unknown;
  /** For a text: whether what is no UTF-8 is a problem. */
  readonly strict: boolean;
  readonly itemsMax: number;
  readonly within: MessagePlan | undefined;
}

export interface MessagePlan {
  /** Different for every part of a plan. */
  readonly id: number;
  /** Where it stands: empty, or `image.executor_opts.`. */
  readonly path: string;
  readonly fields: ReadonlyMap<number, FieldPlan>;
}

/** Reads what is wanted and skips the rest. */
export const readingPlan = (desc: DescMessage, wanted: readonly WantedField[]): MessagePlan =>
  compile(desc, wishTree(wanted), '', counter());

/** Reads nothing and looks into everything. Parts come into being when they are met: a message may hold itself. */
export const explainingPlan = (desc: DescMessage): MessagePlan => compileLook(desc, '', counter());

type NextId = () => number;

function counter(): NextId {
  let id = 0;
  return () => {
    id += 1;
    return id;
  };
}

interface Wish {
  readonly lazy: boolean;
  readonly itemsMax: number;
  readonly within: WishTree;
}

type WishTree = ReadonlyMap<DescField, Wish>;

function wishTree(wanted: readonly WantedField[]): WishTree {
  const byFirst = Map.groupBy(wanted, ({ fields }) => fields[0]);
  const tree = new Map<DescField, Wish>();
  for (const [field, wishes] of byFirst) {
    if (field === undefined) continue;
    const leaves = wishes.filter(({ fields }) => fields.length === 1);
    const within = [
      ...leaves.flatMap((leaf) => leaf.within ?? []),
      ...wishes.flatMap(({ fields: [, ...rest], ...leaf }) =>
        rest.length === 0 ? [] : [{ ...leaf, fields: rest }],
      ),
    ];
    tree.set(field, {
      lazy: leaves.length > 0 && leaves.every(({ lazy }) => lazy === true),
      itemsMax: Math.max(0, ...leaves.map(({ itemsMax }) => itemsMax ?? Number.POSITIVE_INFINITY)),
      within: wishTree(within),
    });
  }
  return tree;
}

function compile(desc: DescMessage, wishes: WishTree, path: string, nextId: NextId): MessagePlan {
  const fields = desc.fields.map((field) => {
    const wish = wishes.get(field);
    const plan = basicPlan(field, path, wish === undefined ? useUnread(field, wishes) : useRead(field, wish));
    if (wish === undefined) return plan;
    const { message } = wireFormOf(field);
    if (plan.use === 'messages' && field.fieldKind === 'map')
      return { ...plan, itemsMax: wish.itemsMax, within: mapEntryPlan(plan, nextId) };
    if (message === undefined) return { ...plan, itemsMax: wish.itemsMax };
    const within = isWrapperDesc(message) ? wishTree([{ fields: message.fields }]) : wish.within;
    return {
      ...plan,
      itemsMax: wish.itemsMax,
      within: compile(message, within, `${path}${field.name}.`, nextId),
    };
  });
  return { id: nextId(), path, fields: byNumber(fields) };
}

function compileLook(desc: DescMessage, path: string, nextId: NextId): MessagePlan {
  const fields = desc.fields.map((field): FieldPlan => {
    const { message } = wireFormOf(field);
    if (message === undefined) return basicPlan(field, path, 'skip');
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
    zero: use === 'wrapper' && field.message ? zeroOf(field.message) : undefined,
    strict: 'utf8Validation' in field && field.utf8Validation,
    itemsMax: 0,
    within: undefined,
  };
}

const useUnread = (field: DescField, wishes: WishTree): FieldUse =>
  field.oneof?.fields.some((sibling) => wishes.has(sibling)) ? 'displace' : 'skip';

function useRead(field: DescField, wish: Wish): FieldUse {
  switch (field.fieldKind) {
    case 'scalar':
      if (field.scalar === ScalarType.STRING) return wish.lazy ? 'lazy' : 'text';
      return numberDecoder(field) === undefined ? 'skip' : 'scalar';
    case 'enum':
      return 'scalar';
    case 'message':
      // As protobuf-es has it: in a oneof the wrapper stays around its value.
      return isWrapperDesc(field.message) && field.oneof === undefined ? 'wrapper' : 'message';
    case 'list':
      if (field.listKind === 'message') return 'messages';
      return field.listKind === 'scalar' && field.scalar === ScalarType.STRING ? 'texts' : 'skip';
    case 'map':
      return isTextMap(field) ? 'messages' : 'skip';
  }
}

export const isTextMap = (field: DescField): boolean =>
  field.fieldKind === 'map' && field.mapKey === ScalarType.STRING && field.scalar === ScalarType.STRING;

/** On the wire a map is a list of messages with a key and a value. */
function mapEntryPlan({ path }: FieldPlan, nextId: NextId): MessagePlan {
  const text = {
    wireType: WireType.LengthDelimited,
    mayBePacked: false,
    oneof: undefined,
    decode: undefined,
  };
  const plain = { ...text, zero: undefined, strict: true, itemsMax: 0, within: undefined };
  const fields: readonly FieldPlan[] = [
    { ...plain, use: 'text', number: 1, key: 'key', path: `${path}.key` },
    { ...plain, use: 'lazy', number: 2, key: 'value', path: `${path}.value` },
  ];
  return { id: nextId(), path: `${path}.`, fields: byNumber(fields) };
}

function zeroOf({ fields: [value] }: DescMessage): unknown {
  if (value?.fieldKind !== 'scalar') return undefined;
  return value.scalar === ScalarType.STRING ? '' : value.scalar === ScalarType.BOOL ? false : 0;
}

/** Reads a number or a boolean at which the reader stands; undefined for one that says nothing. */
type DecodeNumber = (reader: BinaryReader) => unknown;

/** For a single number, boolean or enum; nothing for any other field. */
function numberDecoder(field: DescField): DecodeNumber | undefined {
  if (field.fieldKind === 'scalar') return BY_SCALAR[field.scalar];
  return field.fieldKind === 'enum' ? enumDecoder(field.enum) : undefined;
}

/** A closed enum's values are those the schema has; any other leaves the field as it was. */
function enumDecoder({ open, values }: DescEnum): DecodeNumber {
  if (open) return (reader) => reader.int32();
  const known = new Set(values.map((value) => value.number));
  return (reader) => {
    const value = reader.int32();
    return known.has(value) ? value : undefined;
  };
}

const BY_SCALAR: Readonly<Partial<Record<ScalarType, DecodeNumber>>> = {
  [ScalarType.BOOL]: (reader) => reader.bool(),
  [ScalarType.INT32]: (reader) => reader.int32(),
  [ScalarType.INT64]: (reader) => reader.int64(),
  [ScalarType.UINT32]: (reader) => reader.uint32(),
  [ScalarType.UINT64]: (reader) => reader.uint64(),
  [ScalarType.SINT32]: (reader) => reader.sint32(),
  [ScalarType.SINT64]: (reader) => reader.sint64(),
  [ScalarType.FIXED32]: (reader) => reader.fixed32(),
  [ScalarType.FIXED64]: (reader) => reader.fixed64(),
  [ScalarType.SFIXED32]: (reader) => reader.sfixed32(),
  [ScalarType.SFIXED64]: (reader) => reader.sfixed64(),
};
