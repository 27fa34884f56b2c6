/** An amount as Kubernetes has it: exact, in billionths of a CPU or of a byte, and never negative here. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: 'binary' | 'decimal' | 'exponent';
}

export const QUANTITY_EXPECTED = 'a Kubernetes quantity from 0, such as 500m, 1.5 or 16Gi';

/** Longer texts are not real amounts, and parsing big numbers takes more than linear time. */
const QUANTITY_CHARACTERS_MAX = 64;
const EXPONENT_MAX = 99;

const QUANTITY = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))([numkMGTPE]?|[KMGTPE]i|[eE]([+-]?\d+))$/;

/** Each stands for a thousand times as much as the one before it. */
const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map(
  ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, 3 * index - 9]),
);
const BINARY_SUFFIXES: readonly string[] = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const NANOS = 1_000_000_000n;
export const NANOS_PER_BYTE = NANOS;
export const NANOS_PER_MILLICPU = NANOS / 1000n;
const NANO_DIGITS = 9;
/** Kubernetes caps larger binary amounts, e.g. `8Ei`, at this value. */
const BINARY_NANOS_MAX = (2n ** 63n - 1n) * NANOS;

/**
 * Reads a quantity by the grammar of Kubernetes, and rounds up to a billionth as it does. Returns undefined
 * for an invalid, negative or absurdly large text. Kubernetes reads some texts without digits (`k`) as 0,
 * against its own grammar; they are invalid here.
 *
 * @see https://github.com/kubernetes/apimachinery/blob/master/pkg/api/resource/quantity.go
 */
export function parseQuantity(text: string): Quantity | undefined {
  if (text.length > QUANTITY_CHARACTERS_MAX) return undefined;
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = match[4] ?? '', , suffix = '', exponent] = match;
  const digits = BigInt(whole + fraction);
  if (sign === '-' && digits !== 0n) return undefined;
  const scale = NANO_DIGITS - fraction.length;
  if (exponent !== undefined) {
    const power = Number(exponent);
    if (Math.abs(power) > EXPONENT_MAX) return undefined;
    return { nanos: shifted(digits, scale + power), format: 'exponent' };
  }
  const power = DECIMAL_SUFFIXES.get(suffix);
  if (power !== undefined) return { nanos: shifted(digits, scale + power), format: 'decimal' };
  const factor = 1024n ** BigInt(BINARY_SUFFIXES.indexOf(suffix) + 1);
  const nanos = shifted(digits * factor, scale);
  return { nanos: nanos > BINARY_NANOS_MAX ? BINARY_NANOS_MAX : nanos, format: 'binary' };
}

/** The quantity in the form Kubernetes would store: the largest suffix that leaves a whole number. Reads back as equal. */
export function quantityText({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  if (format === 'binary' && nanos >= 1024n * NANOS && nanos % NANOS === 0n) return binaryText(nanos / NANOS);
  let mantissa = nanos;
  let power = -NANO_DIGITS;
  // Ends: a number that is not 0 has finitely many zeros at its end.
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    power += 3;
  }
  if (format !== 'exponent') {
    for (const [suffix, suffixPower] of DECIMAL_SUFFIXES) {
      if (suffixPower === power) return `${mantissa}${suffix}`;
    }
  }
  return power === 0 ? String(mantissa) : `${mantissa}e${power}`;
}

/** The largest binary suffix that leaves a whole number. @param whole - above 0 */
export function binaryText(whole: bigint): string {
  let mantissa = whole;
  let suffix = '';
  for (const larger of BINARY_SUFFIXES) {
    if (mantissa % 1024n !== 0n) break;
    mantissa /= 1024n;
    suffix = larger;
  }
  return `${mantissa}${suffix}`;
}

export const sumOfQuantities = (quantities: readonly Quantity[]): Quantity => ({
  nanos: quantities.reduce((sum, each) => sum + each.nanos, 0n),
  format: quantities.find((each) => each.nanos !== 0n)?.format ?? 'decimal',
});

/** Whole units of the given nanos, rounded up; `undefined` past 2^53 - 1. */
export function wholeUnits(nanos: bigint, nanosPerUnit: bigint): number | undefined {
  const whole = (nanos + nanosPerUnit - 1n) / nanosPerUnit;
  return whole <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(whole) : undefined;
}

function shifted(digits: bigint, places: number): bigint {
  if (places >= 0) return digits * 10n ** BigInt(places);
  const unit = 10n ** BigInt(-places);
  return (digits + unit - 1n) / unit;
}
