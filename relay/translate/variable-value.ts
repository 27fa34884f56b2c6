import { WireText } from '../wire/wire-text.ts';
import { TEXT_LENGTH_MAX } from './text-length.ts';

/** A variable's value as it came; undefined is an empty one. */
export type RawValue = WireText | string | undefined;

/** A value that may be read, or only the bytes of one that is longer than any that is. */
export type VariableValue = string | Uint8Array;

/** No character of a text has more bytes, counted in halves of UTF-16. */
const BYTES_PER_LENGTH_MAX = 3;

/** Decodes it, unless it is too long to be of use: then nobody pays for what large files in variables hold. */
export function readValue(raw: RawValue): VariableValue {
  if (raw instanceof WireText) {
    if (raw.sizeBytes > BYTES_PER_LENGTH_MAX * TEXT_LENGTH_MAX) return raw.bytes();
    return readValue(raw.text());
  }
  const text = raw ?? '';
  return text.length <= TEXT_LENGTH_MAX ? text : Buffer.from(text);
}

export const isEmptyValue = (raw: RawValue): boolean =>
  raw instanceof WireText ? raw.sizeBytes === 0 : raw === undefined || raw === '';

export const sameValue = (one: VariableValue, other: VariableValue): boolean =>
  typeof one === 'string' || typeof other === 'string' ? one === other : Buffer.compare(one, other) === 0;
