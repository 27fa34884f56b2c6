import { widthOf } from './paint.ts';

/** Breaks a text between words; lines after the first are indented. A word longer than a line is left whole. */
export function wrapped(text: string, columns: number, indent = ''): string {
  const words = text.split(/(?<=\S) +/);
  const lines: string[] = [];
  let line = words[0] ?? '';
  for (const word of words.slice(1)) {
    if (widthOf(line) + 1 + widthOf(word) <= columns) line = `${line} ${word}`;
    else {
      lines.push(line);
      line = `${indent}${word}`;
    }
  }
  return [...lines, line].join('\n');
}
