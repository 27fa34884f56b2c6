import { execFileSync } from 'node:child_process';
import { relative } from 'node:path';
import { parseYaml, type YamlDocument } from '../../../policy/yaml-document.ts';
import { type TerminalIo, UsageError } from '../../../terminal/command.ts';

const TIMEOUT_MS = 20_000;
const BYTES_MAX = 64 * 1024 * 1024;

/**
 * A document as it was at a commit, branch or tag.
 *
 * @throws {UsageError} if git does not know the ref or the file there.
 */
export function documentAt(ref: string, file: string, { root }: Pick<TerminalIo, 'root'>): YamlDocument {
  // Anything else could be an option of git's, or a second path.
  if (!/^[\w][\w./@{}^~+-]*$/.test(ref))
    throw new UsageError(`--base "${ref}": expected a commit, branch or tag`);
  const path = relative(root, file);
  if (path.startsWith('..'))
    throw new UsageError(`--base: ${file} is not in ${root}; name both files instead`);
  try {
    const text = execFileSync('git', ['show', `${ref}:./${path}`], {
      cwd: root,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
      maxBuffer: BYTES_MAX,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return parseYaml(text, `${ref}:${path}`);
  } catch (error) {
    const said =
      error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : '';
    if (said === undefined || said === '') throw error;
    throw new UsageError(`--base "${ref}": git cannot show ${path} there (${said})`);
  }
}
