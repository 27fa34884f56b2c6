/**
 * Reads the bytes of a question in one pass: decodes wanted fields, skips the others, and notes fields that the schema lacks or
 * that contradict it. The result has the shape of a protobuf-es message with fewer fields.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { type FieldPlan, type MessagePlan, WIRE_NAMES } from './plan.ts';
import { CUT_OFF, DEPTH_MAX, type ReadingBudget, Skipper, TOO_DEEP, WireText } from './reading-budget.ts';

/** The decoded fields of a message, by their local names. */
export type MessageDraft = Record<string, unknown>;

interface OneofChoice {
  readonly case: string;
  readonly value: unknown;
}

/** A router of another version sends a handful. Thousands would be an attack on the log. */
export const FIELDS_MAX = 32;
const NO_GROUP = 0;

export class Pass {
  /** Fields that the schema lacks, once each: `job_info.21:varint`. At most {@link FIELDS_MAX}. */
  readonly unknown: string[] = [];
  /** Fields in another form than the schema has: `id (1) is bytes, the schema says varint`. At most {@link FIELDS_MAX}. */
  readonly contradicted: string[] = [];
  /** The path of the first text that is not UTF-8. */
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

  /** @throws if the bytes are not a protobuf message (cut off, bad tag, too deep), or the budget is spent. */
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
      // The question is unreadable already, and an exception per text would cost more than the rest of the pass.
      reader.pos += sizeBytes;
      if (reader.pos > reader.len) throw new RangeError(CUT_OFF);
      return '';
    }
    reader.pos = at;
    try {
      return reader.string(field.strict);
    } catch (error) {
      // The rest may hold a contradiction, which explains more: a schema of another version reads bytes as a text.
      if (reader.pos > reader.len) throw error;
      this.invalidText ??= field.path;
      return '';
    }
  }

  #note(plan: MessagePlan, field: FieldPlan | undefined, no: number, wireType: WireType): void {
    const notes = field === undefined ? this.unknown : this.contradicted;
    // One number of plan part, field number (29 bits) and wire type (3 bits), since fields repeat.
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

/** Returns the value of an earlier field of this number, because a message may come in parts. */
function current(into: MessageDraft, { oneof, key }: FieldPlan): unknown {
  if (oneof === undefined) return into[key];
  const chosen = into[oneof] as OneofChoice | undefined;
  return chosen?.case === key ? chosen.value : undefined;
}
