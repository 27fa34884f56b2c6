/** The fenced blocks of a document, and what the walk does with them. */

export interface Block {
  readonly language: string;
  readonly lines: readonly string[];
  /** Line of the document where the text begins, from 0. */
  readonly from: number;
  /** The comment before the block. */
  readonly mark: string | undefined;
}

export function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^( *)```(\w*)$/.exec(lines[at] ?? '');
    if (fence === null) continue;
    const [, indent = '', language = ''] = fence;
    const from = at + 1;
    while (at + 1 < lines.length && lines[at + 1] !== `${indent}\`\`\``) at += 1;
    const before = lines.slice(0, from - 1).findLast((line) => line.trim() !== '');
    const mark = /^ *<!-- (.*) -->$/.exec(before ?? '')?.[1];
    const inside = lines.slice(from, at + 1).map((line) => line.slice(indent.length));
    blocks.push({ language, lines: inside, from, mark });
    at += 1;
  }
  return blocks;
}

export interface Step {
  readonly command: string;
  readonly exit: number;
}

/** The commands of a block of shell that are walked. */
export function stepsOf({ language, lines, mark = '' }: Block): readonly Step[] {
  const left = /^not walked(, .*?)?: /.exec(mark);
  if (language !== 'sh' || (left !== null && left[1] === undefined)) return [];
  const without = [...(left?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, start = '']) => start);
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => ({
      command: line.replace(/\s+#\s.*$/, '').trim(),
      exit: Number(/\s#\s.*\bexit (\d)/.exec(line)?.[1] ?? 0),
    }))
    .filter(({ command }) => command !== '' && !without.some((start) => command.startsWith(start)));
}

/** The command whose output a block shows. */
export const shownBy = ({ mark = '' }: Block): string | undefined => /^output: (.+)$/.exec(mark)?.[1];

/** Volatile parts, made equal: times of day, ids of policies, days and months. */
const even = (line: string): string =>
  line
    .replaceAll(/\b\d{1,2} [A-Z][a-z]{2} \d{4}( \d\d:\d\d)?/g, 'DAY')
    .replaceAll(
      /\b(January|February|March|April|May|June|July|August|September|October|November|December) \d{4}/g,
      'MONTH',
    )
    .replaceAll(/\bpolicy [0-9a-f]{12}\b/g, 'policy HASH')
    .trimEnd();

/** The first line of the document that was not printed, in its order; `…` stands for any lines. */
export function missingLine(shown: readonly string[], printed: string): string | undefined {
  const lines = printed.split('\n').map(even);
  if (shown.length === 0) return '(nothing is shown)';
  let at = 0;
  let mayLeaveOut = true;
  for (const line of shown) {
    if (line.trim() === '…') {
      mayLeaveOut = true;
      continue;
    }
    const found = lines.indexOf(even(line), at);
    if (found === -1 || (!mayLeaveOut && found !== at)) return line;
    at = found + 1;
    mayLeaveOut = false;
  }
  return undefined;
}
