/**
 * The one pass over the bytes of a question: decodes what its plan wants, skips the rest, and notes what the schema does not
 * know and what contradicts it. What it makes has the shape of a message of protobuf-es, with fewer fields.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { FieldPlan, MessagePlan } from './plan.ts';
import { WIRE_NAMES } from './plan.ts';
import { CUT_OFF, DEPTH_MAX, type ReadingBudget, Skipper, TOO_DEEP, WireText } from './reading-budget.ts';

/** What is read of a message: plain properties under the fields' local names. */
export type MessageDraft = Record<string, unknown>;

interface OneofChoice {
  readonly case: string;
  readonly value: unknown;
}

/** A question from a router of another version has a handful; thousands would be an attack on our log. */
export const FIELDS_MAX = 32;
const NO_GROUP = 0;

export class Pass {
  /** Fields without a name in the schema, once each: `job_info.21:varint`. At most {@link FIELDS_MAX}. */
  readonly unknown: string[] = [];
  /** Fields that arrive in another form than the schema says: `id (1) is bytes, the schema says varint`. As many. */
  readonly contradicted: string[] = [];
  /** The first text that is no UTF-8. */
  invalidText: string | undefined;
  unknownBytes = 0;
  readonly #reader: BinaryReader;
  readonly #budget: ReadingBudget;
  readonly #skipper: Skipper;
  readonly #noted = new Set<number>();

  constructor(bytes: Uint8Array, budget: ReadingBudget) {
    this.#reader = new BinaryReader(bytes);
    this.#budget = budget;
    this.#skipper = new Skipper(bytes, this.#reader, budget);
  }

  /** @throws when the bytes are no protobuf message at all (cut off, bad tag, too deep), or the budget is spent. */
  read(plan: MessagePlan, into: MessageDraft): void {
    this.#message(plan, into, this.#reader.len, NO_GROUP, 0);
  }

  /** Up to `end`, or to the end of the group. */
  #message(plan: MessagePlan, into: MessageDraft, end: number, group: number, depth: number): void {
    if (depth > DEPTH_MAX) throw new RangeError(TOO_DEEP);
    const reader = this.#reader;
    while (reader.pos < end) {
      const from = reader.pos;
      const [no, wireType] = reader.tag();
      this.#budget.takeTag();
      if (wireType === WireType.EndGroup && no === group) return;
      const field = plan.fields.get(no);
      if (field === undefined || !fits(field, wireType)) {
        this.#skipper.skip(wireType, no, depth);
        this.unknownBytes += reader.pos - from;
        this.#note(plan, field, no, wireType);
      } else {
        this.#field(field, into, end, wireType, depth);
      }
      if (reader.pos > end) throw new RangeError(TOO_LONG);
    }
    if (group !== NO_GROUP) throw new RangeError('a group without an end');
  }

  #field(field: FieldPlan, into: MessageDraft, end: number, wireType: WireType, depth: number): void {
    switch (field.use) {
      case 'skip':
        this.#skipper.skip(wireType, field.number, depth);
        return;
      case 'look':
        this.#within(field, {}, end, depth);
        return;
      case 'displace':
        if (field.decode === undefined) this.#skipper.skip(wireType, field.number, depth);
        else if (field.decode(this.#reader) === undefined) return;
        put(into, field, undefined);
        return;
      case 'scalar': {
        const value = field.decode?.(this.#reader);
        if (value !== undefined) put(into, field, value);
        return;
      }
      case 'text':
        put(into, field, this.#text(field));
        return;
      case 'lazy':
        put(into, field, new WireText(this.#reader, field.strict, this.#budget));
        return;
      case 'wrapper': {
        const holder: MessageDraft = { value: into[field.key] ?? field.zero };
        this.#within(field, holder, end, depth);
        put(into, field, holder.value);
        return;
      }
      case 'message': {
        const value = (current(into, field) as MessageDraft | undefined) ?? {};
        put(into, field, value);
        this.#within(field, value, end, depth);
        return;
      }
      case 'texts':
      case 'messages':
        this.#item(field, into, end, wireType, depth);
    }
  }

  #item(field: FieldPlan, into: MessageDraft, end: number, wireType: WireType, depth: number): void {
    const items = (into[field.key] as unknown[] | undefined) ?? [];
    into[field.key] = items;
    if (items.length >= field.itemsMax) {
      this.#skipper.skip(wireType, field.number, depth);
    } else if (field.use === 'texts') {
      items.push(this.#text(field));
    } else {
      this.#budget.takeItem();
      const item: MessageDraft = {};
      items.push(item);
      this.#within(field, item, end, depth);
    }
  }

  #within(field: FieldPlan, into: MessageDraft, end: number, depth: number): void {
    const { within } = field;
    if (within === undefined) throw new TypeError(`${field.path} has no plan`);
    if (field.wireType === WireType.StartGroup) {
      this.#message(within, into, end, field.number, depth + 1);
      return;
    }
    const length = this.#reader.uint32();
    const itsEnd = this.#reader.pos + length;
    if (itsEnd > end) throw new RangeError(TOO_LONG);
    this.#message(within, into, itsEnd, NO_GROUP, depth + 1);
  }

  #text(field: FieldPlan): string {
    const reader = this.#reader;
    const at = reader.pos;
    const sizeBytes = reader.uint32();
    this.#budget.takeText(sizeBytes);
    if (this.invalidText !== undefined) {
      // The question is unreadable anyway, and an exception for each of its texts would cost more than all else.
      reader.pos += sizeBytes;
      if (reader.pos > reader.len) throw new RangeError(CUT_OFF);
      return '';
    }
    reader.pos = at;
    try {
      return reader.string(field.strict);
    } catch (error) {
      // The rest may hold a contradiction, which tells more: bytes read as a text by a schema of another version.
      if (reader.pos > reader.len) throw error;
      this.invalidText ??= field.path;
      return '';
    }
  }

  #note(plan: MessagePlan, field: FieldPlan | undefined, no: number, wireType: WireType): void {
    const notes = field === undefined ? this.unknown : this.contradicted;
    // A part of a plan, a field number of 29 bits and a wire type of 3: one number, for the many that come again.
    const key = plan.id * 2 ** 32 + no * 8 + wireType;
    if (notes.length >= FIELDS_MAX || this.#noted.has(key)) return;
    this.#noted.add(key);
    const form = WIRE_NAMES[wireType] ?? wireType;
    notes.push(
      field === undefined
        ? `${plan.path}${no}:${form}`
        : `${field.path} (${no}) is ${form}, the schema says ${WIRE_NAMES[field.wireType]}`,
    );
  }
}

const TOO_LONG = 'a field is longer than what holds it';

const fits = (field: FieldPlan, wireType: WireType): boolean =>
  wireType === field.wireType || (field.mayBePacked && wireType === WireType.LengthDelimited);

function put(into: MessageDraft, { oneof, key }: FieldPlan, value: unknown): void {
  if (oneof === undefined) into[key] = value;
  else into[oneof] = { case: key, value } satisfies OneofChoice;
}

/** What an earlier field of this number left: messages that come in parts are one. */
function current(into: MessageDraft, { oneof, key }: FieldPlan): unknown {
  if (oneof === undefined) return into[key];
  const chosen = into[oneof] as OneofChoice | undefined;
  return chosen?.case === key ? chosen.value : undefined;
}
