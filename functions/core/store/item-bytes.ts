import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type { AttributeValue };
export type Item = Readonly<Record<string, AttributeValue>>;

/**
 * The size DynamoDB charges for: names and values in UTF-8, numbers by their digits.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) bytes += Buffer.byteLength(name) + valueBytes(value);
  }
  return bytes;
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  if (value.L !== undefined) {
    let bytes = LIST_OVERHEAD_BYTES;
    for (const element of value.L) bytes += 1 + valueBytes(element);
    return bytes;
  }
  throw new RangeError(
    `no size known for attribute value ${JSON.stringify(value)}: the ledger stores S, N, BOOL and L`,
  );
}

const LIST_OVERHEAD_BYTES = 3;

const ZERO = 48;

/** One byte per two significant digits, one more, and one for the sign. */
function numberBytes(digits: string): number {
  const start = digits.startsWith('-') ? 1 : 0;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return Math.ceil((end - start) / 2) + 1 + start;
}
