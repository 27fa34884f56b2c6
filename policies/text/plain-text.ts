/**
 * Control characters, line breaks, direction marks, halves of characters and what else cannot be seen become blanks, so
 * that nobody can forge a line or hide one.
 */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ');

/** Text of a user or of GitLab, made fit for a place within a line. */
export const oneLine = (text: string): string => plain(text).replace(/ {2,}/g, ' ').trim();

/** Cut in the middle, because paths differ at both ends. */
export function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const kept = Math.max(2, charactersMax - 1);
  const head = Math.ceil(kept / 2);
  return plain(`${text.slice(0, head)}…${text.slice(text.length - (kept - head))}`);
}

/** Text of a user between quotation marks: `"postgres:16"`. */
export const quoted = (text: string, charactersMax: number): string =>
  `"${shortened(oneLine(text), charactersMax)}"`;
