import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly body: string;
}

export const RUNBOOK = readFileSync(fileURLToPath(new URL('../../cdk/RUNBOOK.md', import.meta.url)), 'utf8');

/** Code is no heading, though its comments look like some. */
const withoutCode = (text: string): string => text.replace(/^ *```[\s\S]*?^ *```$/gm, '');

export const HEADINGS: readonly Heading[] = [...RUNBOOK.matchAll(/^(#+) (.+)$/gm)]
  .filter(([line]) => withoutCode(RUNBOOK).includes(`\n${line}\n`) || RUNBOOK.startsWith(line))
  .map(({ 0: line, 1: marks = '', 2: text = '', index }) => {
    const rest = RUNBOOK.slice(index + line.length);
    const end = rest.search(new RegExp(`^#{1,${marks.length}} `, 'm'));
    return { level: marks.length, text, body: end < 0 ? rest : rest.slice(0, end) };
  });

/** Sections under `# Alarms` or `# Procedures`. */
export function sectionsUnder(chapter: string): readonly Heading[] {
  const from = HEADINGS.findIndex(({ level, text }) => level === 1 && text === chapter);
  const after = HEADINGS.slice(from + 1);
  const end = after.findIndex(({ level }) => level === 1);
  return (end < 0 ? after : after.slice(0, end)).filter(({ level }) => level === 2);
}

/** Every command line in a block of shell, and those that stand between backticks in the text; comments taken off. */
export const COMMANDS: readonly string[] = [
  ...[...RUNBOOK.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = '']) =>
    block
      .split('\n')
      .map((line) => line.replace(/\s+#\s.*$/, '').trim())
      .filter((line) => line !== ''),
  ),
  ...[...withoutCode(RUNBOOK).matchAll(/`((?:npx|npm|aws|glab|curl) [^`]+)`/g)].map(([, text = '']) =>
    text.replaceAll(/\s+/g, ' '),
  ),
];

/** The commands of a line: what a variable is made of, what stands inside of another command, and that one itself. */
export function partsOf(line: string): readonly string[] {
  const [, assigned] = /^export \w+=\$\((.*)\)$/.exec(line) ?? [];
  if (assigned !== undefined) return [assigned];
  if (line.startsWith('export ')) return [];
  const inner = [...line.matchAll(/\$\((aws [^)]*)\)/g)].map(([, text = '']) => text);
  const outer = line.replaceAll(/\$\((?:[^()]|\([^()]*\))*\)/g, 'X');
  return [...inner, ...outer.split(' && ')].map((part) => part.trim()).filter((part) => part !== '');
}
