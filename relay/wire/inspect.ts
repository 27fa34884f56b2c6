/**
 * Two views of a question for `doctor`: what the schema explains of it, and its fields without a schema. Values are never shown
 * except by an allowlist, because questions carry job variables, which carry secrets.
 */
import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { Pass, ReadingBudget } from './pass.ts';
import { explainingPlan } from './plan.ts';

interface Explanation {
  readonly unknown: readonly string[];
  readonly contradicted: readonly string[];
  /** Bytes of known fields, tags included. */
  readonly knownBytes: number;
  readonly totalBytes: number;
}

/**
 * Compares all parts of a message with the schema, including those that translation skips.
 *
 * @throws if the bytes are not a protobuf message, or exceed the bounds of a question.
 */
export function explain(desc: DescMessage, bytes: Uint8Array): Explanation {
  const pass = new Pass(bytes, new ReadingBudget());
  pass.read(explainingPlan(desc), {});
  return {
    unknown: pass.unknown,
    contradicted: pass.contradicted,
    knownBytes: bytes.length - pass.unknownBytes,
    totalBytes: bytes.length,
  };
}

interface DumpField {
  readonly no: number;
  /** `varint`, `fixed64`, `fixed32`, `text`, `bytes`, `message` (guessed), `group`. */
  readonly form: string;
  readonly sizeBytes: number;
  /** The shape of the value, e.g. `word 7`, `path 23`, `6 digits`. The value itself if the allowlist matches. */
  readonly shape: string;
  readonly fields: readonly DumpField[];
}

interface Dump {
  readonly fields: readonly DumpField[];
  readonly problem?: string;
  /** There are more fields than {@link DUMP_FIELDS_MAX}. */
  readonly cut: boolean;
}

const DUMP_FIELDS_MAX = 500;
const DEPTH_MAX = 12;

/** @param allow - texts that match are shown unchanged: project paths, images. */
export function dumpWire(bytes: Uint8Array, allow: readonly RegExp[] = []): Dump {
  const budget = { left: DUMP_FIELDS_MAX };
  try {
    return { fields: dumpFields(bytes, allow, budget, 0), cut: budget.left <= 0 };
  } catch (error) {
    return { fields: [], problem: error instanceof Error ? error.message : String(error), cut: false };
  }
}

/** One line per field, nested ones indented: `2 message 84 B`, `  7 text 23 B path 23`. */
export function formatDump({ fields, problem, cut }: Dump): string {
  const lines = linesOfAll(fields, '');
  if (problem !== undefined) lines.push(`not readable: ${problem}`);
  if (cut) lines.push(`… more than ${DUMP_FIELDS_MAX} fields, the rest is left out`);
  return lines.join('\n');
}

/** A job has some hundred variables. A few show their form. */
const REPEATS_MAX = 4;

function linesOfAll(fields: readonly DumpField[], indent: string): string[] {
  const met = new Map<number, number>();
  const lines = fields.flatMap((field) => {
    const count = (met.get(field.no) ?? 0) + 1;
    met.set(field.no, count);
    return count > REPEATS_MAX ? [] : linesOf(field, indent);
  });
  for (const [no, count] of met) {
    if (count > REPEATS_MAX) lines.push(`${indent}${no} … ${count - REPEATS_MAX} more`);
  }
  return lines;
}

const linesOf = (field: DumpField, indent: string): string[] => [
  `${indent}${field.no} ${field.form} ${field.sizeBytes} B${field.shape === '' ? '' : ` ${field.shape}`}`,
  ...linesOfAll(field.fields, `${indent}  `),
];

function dumpFields(
  bytes: Uint8Array,
  allow: readonly RegExp[],
  budget: { left: number },
  depth: number,
): DumpField[] {
  const reader = new BinaryReader(bytes);
  const fields: DumpField[] = [];
  while (reader.pos < reader.len) {
    const [no, wireType] = reader.tag();
    const from = reader.pos;
    if (wireType === WireType.LengthDelimited) {
      const value = reader.bytes();
      if (budget.left-- > 0)
        fields.push({ no, sizeBytes: value.length, ...delimited(value, allow, budget, depth) });
      continue;
    }
    const shape = wireType === WireType.Varint ? digits(reader.uint64()) : '';
    if (wireType !== WireType.Varint) reader.skip(wireType, no, DEPTH_MAX);
    if (budget.left-- > 0)
      fields.push({ no, form: FORMS[wireType] ?? 'group', sizeBytes: reader.pos - from, shape, fields: [] });
  }
  return fields;
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
  allow: readonly RegExp[],
  budget: { left: number },
  depth: number,
): Pick<DumpField, 'form' | 'shape' | 'fields'> {
  const text = textOf(value);
  if (text !== undefined) return { form: 'text', shape: shapeOf(text, allow), fields: [] };
  if (depth < DEPTH_MAX && budget.left > 0) {
    try {
      return { form: 'message', shape: '', fields: dumpFields(value, allow, budget, depth + 1) };
    } catch {
      // Not a message either.
    }
  }
  return { form: 'bytes', shape: '', fields: [] };
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

function shapeOf(text: string, allow: readonly RegExp[]): string {
  if (allow.some((pattern) => pattern.test(text))) return JSON.stringify(text);
  if (text === '') return 'empty';
  const kind = SHAPES.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text';
  return `${kind} ${text.length}`;
}

const SHAPES: readonly (readonly [string, RegExp])[] = [
  ['digits', /^\d+$/],
  ['true/false', /^(true|false)$/],
  ['CI variable name', /^(CI|GITLAB|KUBERNETES)_[A-Z0-9_]+$/],
  ['NAME', /^[A-Z][A-Z0-9_]*$/],
  ['word', /^[a-zA-Z0-9_-]+$/],
  ['URL', /^[a-z][a-z0-9+.-]*:\/\/\S+$/],
  ['path', /^[\w.-]+(\/[\w.-]+)+$/],
  ['path with tag', /^[\w./-]+(:\d+)?[\w./-]*[:@][\w.:-]+$/],
];

/** Shows the size of a number only, because ids of users are numbers too. */
const digits = (value: bigint | string): string => {
  const text = String(value);
  if (text === '0' || text === '1') return text;
  return `${text.length} digit${text.length === 1 ? '' : 's'}`;
};
