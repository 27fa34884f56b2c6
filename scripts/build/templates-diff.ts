/** `npm run templates:diff`: what a change of the code would change of a deployment. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { EXIT, type ExitCode, UsageError } from '../terminal/command.ts';
import { optionalWord, parseInput } from '../terminal/flags.ts';

const HELP = `npm run templates:diff -- [<ref>]

Synthesizes the working tree and a commit with the settings that the tests use, and shows what differs between their
CloudFormation templates: each property on a line of its own. Code inside the functions and the image is not compared.
Needs no AWS account. The commit is synthesized with the packages that are installed now.

  <ref>   a commit, a branch or a tag to compare with (default HEAD)

Exit codes: 0 no difference, 1 it failed, 2 differences, 3 wrong usage

For a deployment of yours, with your own settings: npm run diff`;

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const program = fileURLToPath(import.meta.url);
const PROCESS_MS_MAX = 120_000;
/** The first argument of this program where it writes the templates of one tree. */
const WRITE = '--write';

async function main(args: readonly string[], scratch: string): Promise<ExitCode> {
  const { words } = parseInput(args, {}, { ref: optionalWord('<commit>', '') }, 'one commit to compare with');
  await synthesizeTree(await checkOut(words.ref ?? 'HEAD', scratch), 'before', scratch);
  await synthesizeTree(root, 'after', scratch);
  const diff = ['--no-pager', 'diff', '--no-index', '--unified=0', 'before', 'after'];
  const { status } = spawnSync('git', diff, { cwd: scratch, stdio: 'inherit' });
  if (status === 0) console.log('no difference');
  return status === 0 ? EXIT.ok : status === 1 ? EXIT.wouldReject : EXIT.failed;
}

/** Unpacks a commit into `scratch`; the repository is left as it is. @throws {UsageError} for what is no commit. */
async function checkOut(ref: string, scratch: string): Promise<string> {
  const options = { cwd: root, timeout: PROCESS_MS_MAX };
  const asked = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const { stdout } = await run('git', asked, options).catch((error: NodeJS.ErrnoException) => {
    // Git itself is missing.
    if (error.code === 'ENOENT') throw error;
    throw new UsageError(`"${ref}": expected a commit, a branch or a tag of this repository`);
  });
  const tree = join(scratch, 'tree');
  mkdirSync(tree);
  await run('git', ['archive', '--format=tar', `--output=${tree}.tar`, stdout.trim()], options);
  await run('tar', ['-xf', `${tree}.tar`, '-C', tree], options);
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'), 'junction');
  return tree;
}

/** Each tree loads its own code, so it has a process of its own. If it fails, the error has the CDK's warnings. */
const synthesizeTree = (tree: string, folder: string, scratch: string) =>
  run(process.execPath, [program, WRITE, tree, join(scratch, folder)], {
    ...{ cwd: tree, env: { ...process.env, TMPDIR: scratch }, timeout: PROCESS_MS_MAX },
  });

/** Writes a tree's templates with the settings of its cdk tests. */
async function writeTemplates(tree: string, folder: string): Promise<void> {
  type Synthesized = typeof import('../../test/cdk/synthesized.ts');
  const module = pathToFileURL(join(tree, 'test/cdk/synthesized.ts')).href;
  const { DEFAULTS, PRIVATE, synthesize }: Synthesized = await import(module);
  mkdirSync(folder, { recursive: true });
  for (const { name, template } of [DEFAULTS, PRIVATE].flatMap((settings) => synthesize(settings).stacks))
    writeFileSync(join(folder, name), propertyLines('', template).sort().join(''));
}

/** `Resources.LedgerTable.Properties.BillingMode = "PAY_PER_REQUEST"`. Assets are named by their content, which is not compared. */
function propertyLines(path: string, value: unknown): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, each]) =>
      propertyLines(path === '' ? key : `${path}.${key}`, each),
    );
  return [`${path} = ${JSON.stringify(value).replace(/\b[0-9a-f]{64}\b/g, 'HASH')}\n`];
}

const args = process.argv.slice(2);
if (args.includes('--help')) console.log(HELP);
else if (args[0] === WRITE) await writeTemplates(args[1] ?? '', args[2] ?? '');
else {
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-templates-'));
  try {
    process.exitCode = await main(args, scratch);
  } catch (error) {
    const wrongUsage = error instanceof UsageError;
    console.error(error instanceof Error ? error.message : error);
    if (wrongUsage) console.error('See: npm run templates:diff -- --help');
    process.exitCode = wrongUsage ? EXIT.invalid : EXIT.failed;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
