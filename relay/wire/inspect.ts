/**
 * Two views of a request for `doctor`: what the schema explains of it, and its fields without a schema. Values are never shown,
 * because requests carry job variables, which carry secrets.
 */
import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { Pass, ReadingBudget } from './pass.ts';
import { explainingPlan } from './plan.ts';

/**
 * Compares all parts of a message with the schema, including those that translation skips.
 *
 * @throws if the bytes are not a protobuf message, or exceed the bounds of a request.
 */
export function explain(desc: DescMessage, bytes: Uint8Array) {
  const pass = new Pass(bytes, new ReadingBudget());
  pass.read(explainingPlan(desc), {});
  return {
    unknown: pass.unknown,
    contradicted: pass.contradicted,
    knownBytes: bytes.length - pass.unknownBytes,
    totalBytes: bytes.length,
  };
}

const DUMP_FIELDS_MAX = 500;
const DEPTH_MAX = 12;
const REPEATS_MAX = 4;

/**
 * Shows the fields of a message without a schema, one line each, nested ones indented: `2 message 84 B`, `  7 text 23 B path 23`.
 */
export function dumpWire(bytes: Uint8Array): string {
  const dump = { left: DUMP_FIELDS_MAX };
  try {
    const lines = linesOf(bytes, dump, 0);
    if (dump.left <= 0) lines.push(`… more than ${DUMP_FIELDS_MAX} fields, the rest is left out`);
    return lines.join('\n');
  } catch (error) {
    return `not readable: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function linesOf(bytes: Uint8Array, dump: { left: number }, depth: number): string[] {
  const reader = new BinaryReader(bytes);
  const indent = '  '.repeat(depth);
  const met = new Map<number, number>();
  const lines: string[] = [];
  while (reader.pos < reader.len) {
    const [no, wireType] = reader.tag();
    const from = reader.pos;
    dump.left -= 1;
    let form = FORMS[wireType] ?? 'group';
    let nested: readonly string[] = [];
    let sizeBytes: number;
    if (wireType === WireType.LengthDelimited) {
      const value = reader.bytes();
      sizeBytes = value.length;
      [form, nested] = delimited(value, dump, depth);
    } else {
      if (wireType === WireType.Varint) form += ` ${digits(reader.uint64())}`;
      else reader.skip(wireType, no, DEPTH_MAX);
      sizeBytes = reader.pos - from;
    }
    const count = (met.get(no) ?? 0) + 1;
    met.set(no, count);
    const [kind, ...shape] = form.split(' ');
    if (count <= REPEATS_MAX && dump.left >= 0)
      lines.push(`${indent}${[no, kind, sizeBytes, 'B', ...shape].join(' ')}`, ...nested);
  }
  for (const [no, count] of met)
    if (count > REPEATS_MAX) lines.push(`${indent}${no} … ${count - REPEATS_MAX} more`);
  return lines;
}

const FORMS: Readonly<Record<number, string>> = {
  [WireType.Varint]: 'varint',
  [WireType.Bit64]: 'fixed64',
  [WireType.Bit32]: 'fixed32',
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Guesses the form: printable text, else a message if it reads as one, else bytes. */
function delimited(
  value: Uint8Array,
  dump: { left: number },
  depth: number,
): [form: string, nested: readonly string[]] {
  const text = textOf(value);
  if (text !== undefined) return [`text ${shapeOf(text)}`, []];
  try {
    if (depth < DEPTH_MAX && dump.left > 0) return ['message', linesOf(value, dump, depth + 1)];
  } catch {
    // Not a message either.
  }
  return ['bytes', []];
}

function textOf(value: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(value);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters distinguish messages from text
    return /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function shapeOf(text: string): string {
  if (text === '') return 'empty';
  const kind = SHAPES.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text';
  return `${kind} ${text.length}`;
}

const SHAPES: readonly (readonly [string, RegExp])[] = [
  ['digits', /^\d+$/],
  ['NAME', /^[A-Z][A-Z0-9_]*$/],
  ['path', /^[\w.-]+(\/[\w.:@-]+)+$/],
];

/** Shows the size of a number only, because ids of users are numbers too. */
const digits = (value: bigint | string): string => {
  const text = String(value);
  if (text === '0' || text === '1') return text;
  return `${text.length} digit${text.length === 1 ? '' : 's'}`;
};
