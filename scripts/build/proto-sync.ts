/**
 * Builds the descriptor set the relay reads: GitLab's own from its repository, or ours from relay/wire/proto.
 *
 *   npm run proto:sync -- --ref v18.9.0            GitLab's, at a tag (or --branch master)
 *   npm run proto:sync -- --from ../gitlab-agent   from a checkout
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { RelayError } from '../../relay/relay-error.ts';
import { parseSchema, schemaTitle } from '../../relay/wire/schema.ts';

const BUF = '@bufbuild/buf@1.75.0';
const REPOSITORY = 'https://gitlab.com/gitlab-org/cluster-integration/gitlab-agent.git';
const DEFAULT_OUT = 'relay/wire/gitlab.binpb';
/** Cloning the repository takes a minute or two on a slow line. */
const BUILD_MS_MAX = 300_000;
/** What may stand in a tag or branch; a comma or # would change buf's input. */
const REF = /^[\w][\w./+-]*$/;

const USAGE = `npm run proto:sync -- (--ref <tag> | --branch <name> | --from <folder>) [--out ${DEFAULT_OUT}]`;

const BY_HAND = `By hand, on a machine with internet access:
  git clone --depth 1 --branch <tag> ${REPOSITORY}
  npx --yes ${BUF} build gitlab-agent -o gitlab.binpb
then carry gitlab.binpb here and give it to the relay with --proto gitlab.binpb.`;

class UsageError extends Error {}

function main(args: readonly string[]): void {
  const { input, out } = readOptions(args);
  const folder = mkdtempSync(join(dirname(out), '.proto-sync-'));
  try {
    // Beside its place, so that the rename at the end is atomic.
    const built = join(folder, basename(out));
    build(input, built);
    const schema = parseSchema(readFileSync(built), out);
    renameSync(built, out);
    console.log(`${schemaTitle(schema)}\n  ${schema.admitJobPath}`);
    for (const path of [schema.registerPath, schema.unregisterPath])
      if (path !== undefined) console.log(`  ${path}`);
    console.log(
      `  ${[...schema.registry].length} types; the question is ${schema.question.typeName} with ${schema.question.fields.length} fields`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readOptions(args: readonly string[]): { readonly input: string; readonly out: string } {
  const text = { type: 'string' } as const;
  let values: { ref?: string; branch?: string; from?: string; out?: string; help?: boolean };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: { ref: text, branch: text, from: text, out: text, help: { type: 'boolean', short: 'h' } },
    }));
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
  if (values.help) {
    console.log(`${USAGE}\n\n${BY_HAND}`);
    process.exit(0);
  }
  const { ref, branch, from } = values;
  const out = resolve(values.out ?? DEFAULT_OUT);
  if ([ref, branch, from].filter((given) => given !== undefined).length !== 1) throw new UsageError(USAGE);
  if (!existsSync(dirname(out))) throw new UsageError(`--out ${out}: the folder does not exist`);
  if (from !== undefined) {
    if (!existsSync(from))
      throw new UsageError(`--from ${from} does not exist; give the folder of a checkout`);
    return { input: from, out };
  }
  const name = ref ?? branch ?? '';
  if (!REF.test(name)) throw new UsageError(`"${name}" is no tag or branch name`);
  return { input: `${REPOSITORY}#${ref === undefined ? 'branch' : 'tag'}=${name},depth=1`, out };
}

function build(input: string, out: string): void {
  const result = spawnSync(
    'npx',
    ['--yes', BUF, 'build', input, '--as-file-descriptor-set', '--exclude-source-info', '-o', out],
    {
      encoding: 'utf8',
      timeout: BUILD_MS_MAX,
      stdio: ['ignore', 'inherit', 'pipe'],
    },
  );
  if (result.status === 0) return;
  const why =
    result.error?.message ?? (result.stderr.trim() || `ended with ${result.signal ?? result.status}`);
  throw new RelayError('schema_invalid', `buf could not build ${input}:\n${why}\n\n${BY_HAND}`);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(error instanceof UsageError ? 2 : 1);
}
