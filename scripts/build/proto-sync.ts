/**
 * Builds the descriptor set the relay reads: GitLab's own from its repository, or ours from relay/wire/proto.
 *
 *   npm run proto:sync -- --ref v18.9.0            GitLab's, at a tag (or --branch master)
 *   npm run proto:sync -- --from ../gitlab-agent   from a checkout, an archive as GitLab makes them, or a descriptor file
 *
 * Beside the set it writes a lock: where the set came from, and its checksum, which every deployment compares.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { RelayError } from '../../relay/relay-error.ts';
import { type DescriptorsSource, lockFileOf, sha256Of } from '../../relay/wire/deployable-descriptors.ts';
import { parseSchema, schemaTitle } from '../../relay/wire/schema.ts';

const BUF = '@bufbuild/buf@1.75.0';
const REPOSITORY = 'https://gitlab.com/gitlab-org/cluster-integration/gitlab-agent.git';
const DEFAULT_OUT = 'relay/wire/gitlab.binpb';
/** Cloning the repository takes a minute or two on a slow line. */
const BUILD_MS_MAX = 300_000;
/** What may stand in a tag or branch; a comma or # would change buf's input. */
const REF = /^[\w][\w./+-]*$/;

const USAGE = `npm run proto:sync -- (--ref <tag> | --branch <name> | --from <folder, archive or .binpb>) [--sha256 <hex>] [--out ${DEFAULT_OUT}]`;

const BY_HAND = `By hand, on a machine with internet access:
  git clone --depth 1 --branch <tag> ${REPOSITORY}
  npx --yes ${BUF} build gitlab-agent -o gitlab.binpb
then carry gitlab.binpb here: npm run proto:sync -- --from gitlab.binpb --sha256 <checksum that was told there>. Or carry the archive of
the tag, from the web page of the repository: npm run proto:sync -- --from gitlab-agent-<tag>.tar.gz`;

class UsageError extends Error {}

function main(args: readonly string[]): void {
  const { input, out, from, sha256 } = readOptions(args);
  const folder = mkdtempSync(join(dirname(out), '.proto-sync-'));
  try {
    // Beside its place, so that the rename at the end is atomic.
    const built = join(folder, basename(out));
    if (DESCRIPTORS.test(input)) copyFileSync(input, built);
    else build(input, built);
    const bytes = readFileSync(built);
    const schema = parseSchema(bytes, out);
    const source: DescriptorsSource = { from, sha256: sha256Of(bytes) };
    if (sha256 !== undefined && sha256 !== source.sha256)
      throw new RelayError(
        'schema_invalid',
        `the set has the checksum ${source.sha256} and not ${sha256}: nothing was written`,
      );
    writeFileSync(`${built}.lock`, `${JSON.stringify(source, null, 2)}\n`);
    // A lock without its set, or the other way round, is refused by the next deployment, and made anew by this command.
    renameSync(`${built}.lock`, lockFileOf(out));
    renameSync(built, out);
    console.log(`sha256 ${source.sha256}, from ${from}`);
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

interface SyncOptions {
  /** What buf builds, or a descriptor file. */
  readonly input: string;
  readonly out: string;
  /** For the lock: no path of this machine. */
  readonly from: string;
  readonly sha256: string | undefined;
}

const DESCRIPTORS = /\.(binpb|bin|pb)$/;
const ARCHIVE = /\.(tar\.gz|tgz|tar|zip)$/;

function readOptions(args: readonly string[]): SyncOptions {
  const text = { type: 'string' } as const;
  let values: { ref?: string; branch?: string; from?: string; sha256?: string; out?: string; help?: boolean };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        ref: text,
        branch: text,
        from: text,
        sha256: text,
        out: text,
        help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
  if (values.help) {
    console.log(`${USAGE}\n\n${BY_HAND}`);
    process.exit(0);
  }
  const { ref, branch, from, sha256 } = values;
  if (sha256 !== undefined && !/^[\da-f]{64}$/.test(sha256))
    throw new UsageError(`--sha256: expected 64 hex digits`);
  const out = resolve(values.out ?? DEFAULT_OUT);
  if ([ref, branch, from].filter((given) => given !== undefined).length !== 1) throw new UsageError(USAGE);
  if (!existsSync(dirname(out))) throw new UsageError(`--out ${out}: the folder does not exist`);
  if (from !== undefined) {
    if (!existsSync(from))
      throw new UsageError(`--from ${from} does not exist; give a checkout, an archive or a descriptor file`);
    const isArchive = ARCHIVE.test(from);
    const kind = DESCRIPTORS.test(from) ? 'file' : isArchive ? 'archive' : 'checkout';
    // GitLab's archives have all of it in one folder, named after the tag.
    return {
      input: isArchive ? `${from}#strip_components=1` : from,
      out,
      from: `${kind} ${basename(resolve(from))}`,
      sha256,
    };
  }
  const name = ref ?? branch ?? '';
  if (!REF.test(name)) throw new UsageError(`"${name}" is no tag or branch name`);
  const kind = ref === undefined ? 'branch' : 'tag';
  return { input: `${REPOSITORY}#${kind}=${name},depth=1`, out, from: `${kind} ${name}`, sha256 };
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
