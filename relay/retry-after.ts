/** A year: more is a mistake, and `Date` has bounds of its own. */
const SECONDS_MAX = 31_536_000;

/**
 * How long a service asks to be left alone, ms; undefined if it does not say or not in a way that can be read.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,8}$/.test(text)) return Math.min(Number(text), SECONDS_MAX) * 1_000;
  // Dates begin with a weekday; `Date.parse` would take much else for one.
  const atMs = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
