const TRUE = /^(?:true|yes|on)$/i;
const FALSE = /^(?:false|no|off)$/i;
const NULL = /^(?:|~|null)$/i;
const WHOLE = /^[-+]?(?:0|[1-9][0-9_,]*)$/;
const OCTAL = /^([-+]?)0([0-7_,]+)$/;
const HEXADECIMAL = /^([-+]?)0x([0-9a-f_,]+)$/i;
const BINARY = /^([-+]?)0b([01_,]+)$/i;
const SEXAGESIMAL = /^([-+]?)([0-9]+(?::[0-5]?[0-9]){1,2})$/;
const FRACTION = /^[-+]?(?:[0-9][0-9_,]*)?\.[0-9]*(?:e[-+][0-9]+)?$/i;

/**
 * Parses an unquoted word as GitLab's YAML reader (Ruby's Psych, YAML 1.1): `yes` is true, `010` is 8,
 * `1:30` is 90, `1e3` is a text. A fraction becomes Ruby's text, because `1.0` is "1.0" there and never 1.
 */
export function plainScalar(source: string): string | number | boolean | null {
  if (NULL.test(source)) return null;
  if (TRUE.test(source)) return true;
  if (FALSE.test(source)) return false;
  const number = wholeNumber(source);
  if (number !== undefined) return Number.isSafeInteger(number) ? number : source.replaceAll(/[_,]/g, '');
  if (source !== '.' && FRACTION.test(source)) return fractionText(source);
  return source;
}

function wholeNumber(source: string): number | undefined {
  if (WHOLE.test(source)) return Number(source.replaceAll(/[_,]/g, ''));
  for (const [pattern, base] of [
    [OCTAL, 8],
    [HEXADECIMAL, 16],
    [BINARY, 2],
  ] as const) {
    const [, sign = '', digits = ''] = pattern.exec(source) ?? [];
    const plain = digits.replaceAll(/[_,]/g, '');
    if (plain !== '') return Number.parseInt(sign + plain, base);
  }
  const [, sign, parts] = SEXAGESIMAL.exec(source) ?? [];
  if (parts === undefined) return undefined;
  const seconds = parts.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return sign === '-' ? -seconds : seconds;
}

/** Ruby writes a fraction with at least one digit behind the point, and large or small ones with an exponent. */
function fractionText(source: string): string {
  const value = Number(source.replaceAll(/[_,]/g, ''));
  if (!Number.isFinite(value)) return source;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [digits = '', exponent = ''] = value.toExponential().split('e');
    const sign = exponent.startsWith('-') ? '-' : '+';
    return `${digits.includes('.') ? digits : `${digits}.0`}e${sign}${exponent.slice(1).padStart(2, '0')}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
