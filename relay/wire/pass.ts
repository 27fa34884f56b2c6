/**
 * Reads the bytes of a request in one pass: decodes wanted fields, skips the others, and notes fields that the schema lacks or
 * that contradict it. The result has the shape of a protobuf-es message with fewer fields.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { type FieldPlan, type MessagePlan, WIRE_NAMES } from './plan.ts';

export type ReadingBounds = typeof READING_BOUNDS;

/**
 * A job has some 150 predefined variables and those of users. GitLab counted 2018 in the largest project of gitlab.com and 997 in
 * the largest group, and allows 8000 per project (`project_ci_variables`). Each has at most seven tags: 9000 variables have 63 000
 * tags and some 300 KB of names. Few values are decoded, so they may be as large as the message allows.
 *
 * The counts keep a request to some milliseconds. The CPU time is for a machine that needs longer.
 *
 * @see https://gitlab.com/gitlab-org/gitlab/-/issues/362227 and its merge request 109861 for the figures
 */
export const READING_BOUNDS = {
  bytes: 4 * 1024 * 1024,
  /** Fields, including nested ones and those in groups. A field that is skipped by its length counts once. */
  tags: 65_536,
  items: 9_216,
  textBytes: 1024 * 1024,
  /** CPU time of this thread, which does not count pauses of the machine. */
  cpuMs: 15,
};

/** Reading the CPU time costs as much as some twenty tags. */
const TAGS_BETWEEN_CHECKS = 2_048;

type CpuMs = () => number;

const threadCpuMs: CpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Counts what one request has taken. Every `take…` throws beyond a bound, and `spent` names it. */
export class ReadingBudget {
  readonly bounds: ReadingBounds;
  readonly #cpuMs: CpuMs;
  #tags = 0;
  #items = 0;
  #textBytes = 0;
  #nextCheck: number;
  #startedMs: number | undefined;
  #spent: string | undefined;

  constructor(bounds: ReadingBounds = READING_BOUNDS, cpuMs: CpuMs = threadCpuMs) {
    this.bounds = bounds;
    this.#cpuMs = cpuMs;
    this.#nextCheck = Math.min(TAGS_BETWEEN_CHECKS, bounds.tags + 1);
  }

  get spent(): string | undefined {
    return this.#spent;
  }

  get taken(): { readonly tags: number; readonly items: number; readonly textBytes: number } {
    return { tags: this.#tags, items: this.#items, textBytes: this.#textBytes };
  }

  takeTag(): void {
    this.#tags += 1;
    if (this.#tags >= this.#nextCheck) this.#check();
  }

  takeItem(): void {
    this.#items += 1;
    if (this.#items > this.bounds.items)
      this.#refuse(`more than ${this.bounds.items} variables and services`);
  }

  takeText(sizeBytes: number): void {
    this.#textBytes += sizeBytes;
    if (this.#textBytes > this.bounds.textBytes)
      this.#refuse(`more than ${this.bounds.textBytes} bytes of text to read`);
  }

  /** The clock starts at the first check. Most requests have fewer tags and never read it. */
  #check(): void {
    const { tags, cpuMs } = this.bounds;
    if (this.#tags > tags) this.#refuse(`more than ${tags} fields`);
    this.#nextCheck = Math.min(this.#nextCheck + TAGS_BETWEEN_CHECKS, tags + 1);
    const nowMs = this.#cpuMs();
    this.#startedMs ??= nowMs;
    if (nowMs - this.#startedMs > cpuMs) this.#refuse(`more than ${cpuMs} ms to read`);
  }

  #refuse(bound: string): never {
    this.#spent = bound;
    throw new RangeError(bound);
  }
}

const DEPTH_MAX = 100;
const TOO_DEEP = `nested deeper than ${DEPTH_MAX} messages`;
const CUT_OFF = 'cut off';
const VARINT_BYTES_MAX = 10;

/** A text that is decoded on demand, because most variables are never read. */
export class WireText {
  readonly sizeBytes: number;
  readonly #reader: BinaryReader;
  readonly #at: number;
  readonly #strict: boolean;
  readonly #budget: ReadingBudget;

  constructor(reader: BinaryReader, strict: boolean, budget: ReadingBudget) {
    this.#reader = reader;
    this.#at = reader.pos;
    this.#strict = strict;
    this.#budget = budget;
    this.sizeBytes = reader.uint32();
    reader.pos += this.sizeBytes;
    if (reader.pos > reader.len) throw new RangeError(CUT_OFF);
  }

  /** @throws {TypeError} if it is not UTF-8. @throws {RangeError} if the request's budget is spent. */
  text(): string {
    this.#budget.takeText(this.sizeBytes);
    this.#reader.pos = this.#at;
    return this.#reader.string(this.#strict);
  }

  bytes(): Uint8Array {
    this.#reader.pos = this.#at;
    return this.#reader.bytes();
  }
}

export type MessageDraft = Record<string, unknown>;

interface OneofChoice {
  readonly case: string;
  readonly value: unknown;
}

/** A router of another version sends a handful. Thousands would be an attack on the log. */
export const FIELDS_MAX = 32;

export class Pass {
  /** Fields that the schema lacks, once each: `job_info.21:varint`. At most {@link FIELDS_MAX}. */
  readonly unknown: string[] = [];
  /** Fields in another form than the schema has: `id (1) is bytes, the schema says varint`. At most {@link FIELDS_MAX}. */
  readonly contradicted: string[] = [];
  invalidText: string | undefined;
  unknownBytes = 0;
  readonly #reader: BinaryReader;
  readonly #budget: ReadingBudget;
  readonly #bytes: Uint8Array;
  readonly #noted = new Set<number>();

  constructor(bytes: Uint8Array, budget: ReadingBudget) {
    this.#reader = new BinaryReader(bytes);
    this.#budget = budget;
    this.#bytes = bytes;
  }

  /** @throws if the bytes are not a protobuf message (cut off, bad tag, too deep), or the budget is spent. */
  read(plan: MessagePlan, into: MessageDraft): void {
    this.#message(plan, into, this.#reader.len, 0);
  }

  #message(plan: MessagePlan, into: MessageDraft, end: number, depth: number): void {
    if (depth > DEPTH_MAX) throw new RangeError(TOO_DEEP);
    const reader = this.#reader;
    while (reader.pos < end) {
      const from = reader.pos;
      const [no, wireType] = reader.tag();
      this.#budget.takeTag();
      const field = plan.fields.get(no);
      if (field === undefined || !fits(field, wireType)) {
        this.#skip(wireType, no, depth);
        this.unknownBytes += reader.pos - from;
        this.#note(plan, field, no, wireType);
      } else {
        this.#field(field, into, end, wireType, depth);
      }
      if (reader.pos > end) throw new RangeError(TOO_LONG);
    }
  }

  #field(field: FieldPlan, into: MessageDraft, end: number, wireType: WireType, depth: number): void {
    switch (field.use) {
      case 'skip':
        this.#skip(wireType, field.number, depth);
        return;
      case 'look':
        this.#within(field, {}, end, depth);
        return;
      case 'displace':
        this.#skip(wireType, field.number, depth);
        put(into, field, undefined);
        return;
      case 'scalar':
        put(into, field, field.decode?.(this.#reader));
        return;
      case 'text':
        put(into, field, this.#text(field));
        return;
      case 'lazy':
        put(into, field, new WireText(this.#reader, field.strict, this.#budget));
        return;
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
      this.#skip(wireType, field.number, depth);
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
    const length = this.#reader.uint32();
    const itsEnd = this.#reader.pos + length;
    if (itsEnd > end) throw new RangeError(TOO_LONG);
    this.#message(within, into, itsEnd, depth + 1);
  }

  #text(field: FieldPlan): string {
    const reader = this.#reader;
    const at = reader.pos;
    const sizeBytes = reader.uint32();
    this.#budget.takeText(sizeBytes);
    if (this.invalidText !== undefined) {
      // The request is unreadable already, and an exception per text would cost more than the rest of the pass.
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

  /**
   * Skips a field, starting after the tag, like `BinaryReader.skip`, but makes no object per field and counts fields in groups.
   *
   * @throws {RangeError} if the field is malformed or cut off.
   */
  #skip(wireType: WireType, no: number, depth: number): void {
    const reader = this.#reader;
    switch (wireType) {
      case WireType.Varint:
        this.#skipVarint();
        break;
      case WireType.Bit64:
        reader.pos += 8;
        break;
      case WireType.Bit32:
        reader.pos += 4;
        break;
      case WireType.LengthDelimited: {
        const length = reader.uint32();
        reader.pos += length;
        break;
      }
      case WireType.StartGroup:
        this.#skipGroup(no, depth);
        break;
      default:
        throw new RangeError('the end of a group that did not begin');
    }
    if (reader.pos > reader.len) throw new RangeError(CUT_OFF);
  }

  #skipVarint(): void {
    const reader = this.#reader;
    const last = reader.pos + VARINT_BYTES_MAX - 1;
    while ((this.#bytes[reader.pos] ?? 0) & 0x80) {
      if (reader.pos === last) throw new RangeError(`a varint of more than ${VARINT_BYTES_MAX} bytes`);
      reader.pos += 1;
    }
    reader.pos += 1;
  }

  #skipGroup(no: number, depth: number): void {
    if (depth >= DEPTH_MAX) throw new RangeError(TOO_DEEP);
    for (;;) {
      const [inner, wireType] = this.#reader.tag();
      this.#budget.takeTag();
      if (wireType !== WireType.EndGroup) this.#skip(wireType, inner, depth + 1);
      else if (inner === no) return;
      else throw new RangeError('the end of another group');
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
