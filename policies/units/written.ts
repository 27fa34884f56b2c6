/** Amounts as documents have them. */
import { readDecimal } from '../document/decimal.ts';
import { QUANTITIES_EXPECTED, readQuantityUnits } from '../document/parse-quantity.ts';
import { kindRow, type LimitKind } from './unit.ts';

type Units =
  | { readonly ok: true; readonly amount: number }
  | { readonly ok: false; readonly expected: string };

export function readUnits(value: unknown, kind: LimitKind): Units {
  const { requested, perWhole = 1 } = kindRow(kind);
  if (requested !== undefined) {
    const amount = readQuantityUnits(value, requested);
    const expected = QUANTITIES_EXPECTED[requested];
    return amount === undefined ? { ok: false, expected } : { ok: true, amount };
  }
  const read = readDecimal(value, perWhole);
  if (read.ok || perWhole > 1) return read;
  return { ok: false, expected: 'a whole number such as 20' };
}

/** For a field or a file that will be read again: `500.25`, `90`, `1500m`, `6Gi`. */
export function writtenUnits(whole: number, kind: LimitKind): string {
  const { requested, perWhole = 1 } = kindRow(kind);
  if (requested !== undefined) return QUANTITY_TEXTS[requested](whole);
  // Thirds of a minute have no end, so no file can name them: shares and grants come to them. Only shown, never sent.
  return ((whole % perWhole) * 1_000_000) % perWhole === 0
    ? decimalText(whole, perWhole)
    : (whole / perWhole).toFixed(2);
}

function decimalText(whole: number, perWhole: number): string {
  const fraction = String(((whole % perWhole) * 1_000_000) / perWhole)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${Math.floor(whole / perWhole)}${fraction === '' ? '' : `.${fraction}`}`;
}

const BINARY_BYTES: readonly (readonly [string, number])[] = [
  ['Ti', 2 ** 40],
  ['Gi', 2 ** 30],
  ['Mi', 2 ** 20],
  ['Ki', 2 ** 10],
];

const QUANTITY_TEXTS = {
  cpu: (millicpu: number) => (millicpu % 1000 === 0 ? String(millicpu / 1000) : `${millicpu}m`),
  memory: (bytes: number) => {
    const scale = BINARY_BYTES.find(([, perScale]) => bytes !== 0 && bytes % perScale === 0);
    return scale === undefined ? String(bytes) : `${bytes / scale[1]}${scale[0]}`;
  },
};
