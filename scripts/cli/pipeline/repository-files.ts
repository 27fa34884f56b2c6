import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compileRegex } from '../../../policies/match/regex.ts';

export const PIPELINE_FILE = '.gitlab-ci.yml';

export type RepositoryFiles = ReturnType<typeof repositoryFiles>;

export function repositoryOf(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : repositoryOf(above);
}

const FILES_MAX = 20_000;
const NOT_KEPT = new Set(['.git', 'node_modules']);

export function repositoryFiles(folder: string) {
  let files: readonly string[] | undefined;
  return {
    /** `undefined`: there are too many files to say, or the pattern is not understood. */
    has(glob: string): boolean | undefined {
      const path = glob.replace(/^\//, '');
      const compiled = compileRegex(globRegex(path));
      files ??= filesOf(folder);
      if (!compiled.ok || path.length > GLOB_CHARACTERS_MAX) return undefined;
      const found = files.some((file) => compiled.regex.matches(file));
      return found || files.length < FILES_MAX ? found : undefined;
    },
  };
}

const GLOB_CHARACTERS_MAX = 256;

function filesOf(folder: string): readonly string[] {
  const files: string[] = [];
  const folders = [''];
  for (let at = folders.shift(); at !== undefined && files.length < FILES_MAX; at = folders.shift()) {
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (!entry.isDirectory()) files.push(path);
      else if (!NOT_KEPT.has(entry.name)) folders.push(path);
    }
  }
  return files.slice(0, FILES_MAX);
}

/** Ruby's `File.fnmatch` with PATHNAME, DOTMATCH and EXTGLOB, as GitLab calls it. */
function globRegex(glob: string): string {
  let braces = 0;
  const regex = glob.replaceAll(/(?<=^|\/)\*\*\/|\[([\s\S][^\]]*)\]|[\s\S]/g, (sign, set?: string) => {
    if (set !== undefined) return `[${set.replace(/^!/, '^').replaceAll('\\', '\\\\')}]`;
    if (sign === '{') braces += 1;
    const isIn = braces > 0;
    if (sign === '}' && isIn) braces -= 1;
    const own = isIn ? IN_BRACES[sign] : undefined;
    return own ?? SIGNS[sign] ?? sign.replace(/[\\^$.*+?()[\]{}|]/, '\\$&');
  });
  return `^${regex}$`;
}

const SIGNS: Readonly<Record<string, string>> = { '**/': '(?:[^/]+/)*', '*': '[^/]*', '?': '[^/]' };
const IN_BRACES: Readonly<Record<string, string>> = { '{': '(?:', '}': ')', ',': '|' };
