import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { UsageError } from '../terminal/command.ts';
import type { Templates } from './diff-templates.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const PROCESS_MS_MAX = 120_000;
const EXTENSION = '.template.json';

/** @throws {UsageError} for a folder without templates. */
export function readTemplates(folder: string): Templates {
  let files: readonly string[] = [];
  try {
    files = readdirSync(folder).filter((file) => file.endsWith(EXTENSION));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (files.length === 0) throw new UsageError(`${folder}: expected a folder with files *${EXTENSION}`);
  return Object.fromEntries(
    files.map((file) => [
      file.slice(0, -EXTENSION.length),
      JSON.parse(readFileSync(join(folder, file), 'utf8')),
    ]),
  );
}

/** Writes the working tree's templates to `folder`; other CDK output goes to `scratch`. */
export const synthesizeWorkingTree = (folder: string, scratch: string): Promise<void> =>
  synthesizeTree(root, folder, scratch);

/**
 * Writes the templates of a commit to `folder`, with the packages that are installed now: checked out into `scratch`, the
 * repository is left as it is.
 *
 * @throws {UsageError} for what is no commit.
 */
export async function synthesizeCommit(ref: string, folder: string, scratch: string): Promise<void> {
  const tree = join(scratch, 'tree');
  mkdirSync(tree);
  const archive = join(scratch, 'tree.tar');
  await git('archive', '--format=tar', `--output=${archive}`, await commitOf(ref));
  await run('tar', ['-xf', archive, '-C', tree], { timeout: PROCESS_MS_MAX });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'), 'junction');
  await synthesizeTree(tree, folder, scratch);
}

async function commitOf(ref: string): Promise<string> {
  try {
    const { stdout } = await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`);
    return stdout.trim();
  } catch (error) {
    // Git itself is missing.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    throw new UsageError(`"${ref}": expected a commit, a branch or a tag of this repository`);
  }
}

const git = (...args: readonly string[]): Promise<{ readonly stdout: string }> =>
  run('git', args, { cwd: root, timeout: PROCESS_MS_MAX });

async function synthesizeTree(tree: string, folder: string, scratch: string): Promise<void> {
  const program = fileURLToPath(import.meta.url);
  // Warnings of the CDK are for `npm run synth`; if it fails, the error has them.
  await run(process.execPath, [program, tree, folder], {
    cwd: tree,
    env: { ...process.env, TMPDIR: scratch },
    timeout: PROCESS_MS_MAX,
  });
}

/** Writes a tree's templates with the settings of its cdk tests. It runs in its own process: each tree loads its own code. */
async function writeTemplates(tree: string, folder: string): Promise<void> {
  type Synthesized = typeof import('../../test/cdk/synthesized.ts');
  const module = pathToFileURL(join(tree, 'test/cdk/synthesized.ts')).href;
  const { DEFAULTS, PRIVATE, synthesize }: Synthesized = await import(module);
  mkdirSync(folder, { recursive: true });
  for (const { name, template } of [DEFAULTS, PRIVATE].flatMap((settings) => synthesize(settings).stacks))
    writeFileSync(join(folder, `${name}${EXTENSION}`), `${JSON.stringify(template, null, 2)}\n`);
}

if (import.meta.main) {
  const [tree = '', folder = ''] = process.argv.slice(2);
  await writeTemplates(tree, folder);
}
