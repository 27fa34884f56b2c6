import { oneLine } from '../../../policies/text/plain-text.ts';

const COLUMNS = 120;

/** Quotes a value if necessary: JSON is YAML, except for characters that YAML escapes. */
export const quotedText = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** A comment of full sentences, wrapped. What GitLab's people wrote can break no line. */
export function comment(text: string, indent = ''): string {
  const lines: string[] = [];
  for (const word of oneLine(text).split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && indent.length + line.length + word.length < COLUMNS)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`# ${word}`);
  }
  return lines.map((line) => `${indent}${line}\n`).join('');
}

/** `90` → `2m`: durations of documents are whole minutes here, rounded up, one at least. */
export const minutesText = (seconds: number): string => `${Math.max(1, Math.ceil(seconds / 60))}m`;

/** Adds a quarter and rounds up to two digits, because past use alone is no limit. */
export function roomyAmount(used: number): number {
  const wanted = Math.max(1, used * 1.25);
  const step = 10 ** Math.max(0, Math.floor(Math.log10(wanted)) - 1);
  return Math.ceil(wanted / step) * step;
}
