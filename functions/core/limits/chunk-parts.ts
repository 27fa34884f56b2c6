/** DynamoDB's items end at 400 KB: a chunk is stored in parts. */
import type { Item } from '../store/item-bytes.ts';
import { LimitsError } from './limits-error.ts';

const PART_BYTES_MAX = 350 * 1024;
/** 35 MB compressed are more limits than there are groups. */
const PARTS_MAX = 100;

export const BYTES = 'b';
export const PARTS = 'n';

/** The attributes of each part, in order. */
export function partsOf(name: string, bytes: Uint8Array): readonly Item[] {
  const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES_MAX));
  if (parts > PARTS_MAX) {
    throw new LimitsError(
      'limits_unreadable',
      `chunk ${name} has ${bytes.length} bytes: expected at most ${PARTS_MAX * PART_BYTES_MAX}`,
    );
  }
  return Array.from({ length: parts }, (_, index) => ({
    [BYTES]: { B: bytes.subarray(index * PART_BYTES_MAX, (index + 1) * PART_BYTES_MAX) },
    [PARTS]: { N: String(parts) },
  }));
}

/** The other way. @throws {LimitsError} `limits_unreadable` if one is missing. */
export function joined(name: string, items: readonly Item[]): Uint8Array | undefined {
  const [first] = items;
  if (first === undefined) return undefined;
  if (items.length !== Number(first[PARTS]?.N)) {
    throw new LimitsError(
      'limits_unreadable',
      `chunk ${name} has ${items.length} of ${first[PARTS]?.N} parts: publish the limits again`,
    );
  }
  return Buffer.concat(items.map((item) => item[BYTES]?.B ?? new Uint8Array()));
}
