import { fromBinary, type Message } from '@bufbuild/protobuf';
import { explain } from './explain.ts';
import type { WireSchema } from './schema.ts';

export type Decoded =
  /** `unknown`: fields without a name in the schema, as {@link explain} writes them; they stay in the message. */
  | { readonly ok: true; readonly message: Message; readonly unknown: readonly string[] }
  /** What is wrong with the bytes, without a value from them. */
  | { readonly ok: false; readonly problem: string };

/** More than any router sends (GitLab's own limit per message). */
const QUESTION_BYTES_MAX = 10 * 1024 * 1024;

/**
 * Decodes one question. Never throws: cut-off messages, invalid UTF-8, and fields whose form contradicts the schema
 * (which a decoder would read as garbage) are problems of this question alone.
 */
export function decodeQuestion(schema: WireSchema, bytes: Uint8Array): Decoded {
  if (bytes.length > QUESTION_BYTES_MAX)
    return { ok: false, problem: `${bytes.length} bytes are more than a question may have` };
  try {
    const { unknown, contradicted } = explain(schema.question, bytes);
    const [first] = contradicted;
    if (first !== undefined)
      return { ok: false, problem: `${first}; the schema (${schema.source}) is of another version` };
    return { ok: true, message: fromBinary(schema.question, bytes), unknown };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}
