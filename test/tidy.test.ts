/** Comments, documents, help texts and pages are plain English: few of their lines have a habit of this list. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { COMMANDS } from '../scripts/cli/commands.ts';

type Texts = 'comments' | 'documents' | 'help' | 'pages';
const HABITS = {
  'starts with What, How …': /^(What|Whether|How|Where|Who|Whose)\b/,
  'nobody, somebody': /\b(no|some|any|every)body\b/i,
  'told, tell': /\b(told|tells?|telling)\b/i,
  'of what, of those': /\bof (what|those|them|which)\b/i,
  'whoever, whatever, whom': /\b(whoever|whatever|whom|whomever)\b/i,
  'beside, anew, at once': /\b(beside|anew|at once)\b/i,
  'private words':
    /\b(wish(es)?|strangers?|truths?|troubles?|standings?|crossings?|editions?|desk|patience|so many|by itself)\b/i,
} as const;
/** Lines that may have each habit: 5 of 1000 comments, and hardly any text that users read. */
const MAX: Readonly<Record<Texts, number>> = { comments: 60, documents: 5, help: 5, pages: 5 };

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const filesIn = (folders: readonly string[], name: RegExp): readonly string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => name.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  );
const SOURCE = ['policies', 'functions', 'relay', 'cdk', 'scripts'];
const DOCUMENTS = ['README.md', ...filesIn([...SOURCE, 'docs', 'test'], /\.md$/)];
const linesOf = (text: string): readonly string[] => text.split('\n').map((line) => line.trim());
const matchesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((match) => match.slice(1).join('').trim());

const LINES: Readonly<Record<Texts, readonly string[]>> = {
  comments: filesIn(SOURCE, /\.(tsx?|m?js|go|py)$/).flatMap((file) =>
    matchesIn(read(file), /^\s*(?:\/\/|\/?\*+)[^\S\n]?(.*?)(?:\*\/)?$/gm),
  ),
  documents: DOCUMENTS.flatMap((file) =>
    linesOf(read(file).replace(/^ *```[\s\S]*?^ *```$/gm, '')).map((line) => line.replace(/^[-|*\s]+/, '')),
  ),
  help: [
    ...new Set(
      (await Promise.all(COMMANDS.map(async ({ load, summary }) => (await load()).help(summary)))).flatMap(
        linesOf,
      ),
    ),
  ],
  pages: filesIn(['functions/console/pages'], /\.tsx?$/).flatMap((file) =>
    matchesIn(read(file), /'((?:[^'\\\n]|\\.)*)'|`([^`]*)`|>([^<>{}]+)<|^\s+([A-Z][^{}<>='`;\n]*)$/gm),
  ),
};

const isFolderReadme = (file: string): boolean => file.endsWith('/README.md');
test('documents stay short', () => {
  const wordsOf = (files: readonly string[]): number =>
    files.flatMap((file) =>
      read(file)
        .split(/\s+/)
        .filter((word) => /\w/.test(word)),
    ).length;
  expect(wordsOf(DOCUMENTS.filter((file) => /^(README|docs\/)/.test(file)))).toBeLessThanOrEqual(12_000);
  expect(wordsOf(['cdk/RUNBOOK.md'])).toBeLessThanOrEqual(8_000);
  expect(DOCUMENTS.filter((file) => isFolderReadme(file) && read(file).split('\n').length > 13)).toEqual([]);
});

const CASES = Object.entries(HABITS).flatMap(([habit, pattern]) =>
  (Object.keys(LINES) as Texts[]).map((texts) => ({ texts, habit, pattern, max: MAX[texts] })),
);
test.each(CASES)('few lines of $texts have "$habit"', ({ texts, pattern, max }) => {
  const found = LINES[texts].filter((line) => /[A-Za-z] /.test(line) && pattern.test(line));
  expect(found.length, `at most ${max}:\n${found.join('\n')}`).toBeLessThanOrEqual(max);
});
