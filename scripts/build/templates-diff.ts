/** `npm run templates:diff`: what a change of the code would change of a deployment. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EXIT, type ExitCode, UsageError } from '../terminal/command.ts';
import { readFlags } from '../terminal/flags.ts';
import { coloursWanted, paintWhen } from '../terminal/paint.ts';
import { diffTemplates, diffText } from './diff-templates.ts';
import { readTemplates, synthesizeCommit, synthesizeWorkingTree } from './synthesize-trees.ts';

const DEFAULT_REF = 'HEAD';

const HELP = `npm run templates:diff -- [<ref>] [flags]

Synthesizes the working tree and a commit with the settings that the tests use, and shows what differs between their
CloudFormation templates: resource by resource, property by property. Code inside the functions and the image is not compared.
Needs no AWS account. The commit is synthesized with the packages that are installed now.

  <ref>               a commit, a branch or a tag to compare with (default ${DEFAULT_REF})
  --against <folder>  compares with the templates of this folder instead, files *.template.json
  --keep <folder>     also writes the working tree's templates there
  --json              the whole difference as JSON

Exit codes: 0 no difference, 1 it failed, 2 differences, 3 wrong usage

For a deployment of yours, with your own settings: npm run diff`;

async function main(args: readonly string[], scratch: string): Promise<ExitCode> {
  const { values, words } = readFlags(
    args,
    { against: 'text', keep: 'text' },
    { max: 1, what: 'one commit to compare with' },
  );
  const [ref] = words;
  if (ref !== undefined && values.against !== undefined)
    throw new UsageError(`--against ${values.against}: expected no commit beside it, "${ref}"`);
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const before = values.against === undefined ? join(scratch, 'before') : resolve(cwd, values.against);
  if (values.against === undefined) await synthesizeCommit(ref ?? DEFAULT_REF, before, scratch);
  const old = readTemplates(before);
  const after = join(scratch, 'after');
  await synthesizeWorkingTree(after, scratch);
  if (values.keep !== undefined) cpSync(after, resolve(cwd, values.keep), { recursive: true });
  const changes = diffTemplates(old, readTemplates(after));
  const paint = paintWhen(coloursWanted(process.stdout.isTTY, process.env));
  process.stdout.write(values.json ? `${JSON.stringify({ changes }, null, 2)}\n` : diffText(changes, paint));
  return changes.length === 0 ? EXIT.ok : EXIT.wouldReject;
}

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(HELP);
} else {
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
