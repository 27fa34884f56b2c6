/** Fields and rows of CSV, RFC 4180: https://www.rfc-editor.org/rfc/rfc4180 */

const MICROS = 1_000_000;

/** All six places and no separators, so that every program reads it. */
export function decimal(micros: number): string {
  const absolute = Math.abs(micros);
  const fraction = String(absolute % MICROS).padStart(6, '0');
  return `${micros < 0 ? '-' : ''}${Math.floor(absolute / MICROS)}.${fraction}`;
}

/** Rows of fields that are CSV already. */
export const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((fields) => `${fields.join(',')}\r\n`).join('');

/** Characters that start a formula in Excel, LibreOffice and Google Sheets, after skipped spaces. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** Escapes an untrusted text: a possible formula gets an apostrophe. */
export function csvField(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
