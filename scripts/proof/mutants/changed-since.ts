/** Which lines of the tree are others than in a commit. */
import { execFileSync } from 'node:child_process';

interface SourceLine {
  readonly source: string;
  readonly line: number;
}

const FILE = /^\+\+\+ (?:b\/)?(.+)$/;
const HUNK = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/;

/** @throws {TypeError} `--since`: git knows no such commit */
export function changedSince(root: string, commit: string): (place: SourceLine) => boolean {
  const args = ['diff', '--no-color', '--no-ext-diff', '--unified=0', commit, '--'];
  try {
    const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
    const diff = execFileSync('git', args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
    return changedLines(diff);
  } catch {
    throw new TypeError(`--since is "${commit}"; expected a commit of this clone`);
  }
}

/** @param diff - without lines around the changes. */
export function changedLines(diff: string): (place: SourceLine) => boolean {
  const changed = new Set<string>();
  let source = '';
  for (const text of diff.split('\n')) {
    source = FILE.exec(text)?.[1] ?? source;
    const [, from, count = 1] = HUNK.exec(text) ?? [];
    if (from === undefined) continue;
    for (let at = 0; at < Number(count); at += 1) changed.add(`${source}:${Number(from) + at}`);
  }
  return ({ source: file, line }) => changed.has(`${file}:${line}`);
}
