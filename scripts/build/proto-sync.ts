/** Builds the relay's descriptor set and stores its origin. See {@link USAGE}. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RelayError } from '../../relay/relay-error.ts';
import { type DescriptorsLock, lockOf, sha256Of } from '../../relay/wire/deployable-descriptors.ts';
import { parseSchema, schemaTitle } from '../../relay/wire/schema.ts';
import { UsageError } from '../terminal/command.ts';
import { flagLines, parseInput, text } from '../terminal/define.ts';
import { runProgram } from '../terminal/program.ts';

const BUF = '@bufbuild/buf@1.75.0';
const REPOSITORY = 'https://gitlab.com/gitlab-org/cluster-integration/gitlab-agent.git';
const DEFAULT_OUT = 'relay/wire/gitlab.binpb';
const BUILD_MS_MAX = 300_000;
/** Valid tags; a comma or # would change buf's input. */
const REF = /^[\w][\w./+-]*$/;
const DESCRIPTORS = /\.(binpb|pb|desc|protoset)$/;

const FLAGS = {
  ref: text('<tag>', "of GitLab's agent server; needs git access to gitlab.com"),
  from: text('<path>', 'a checkout of it, or a descriptor file (.binpb)'),
  out: text('<file>', `@default ${DEFAULT_OUT}`),
};

const USAGE = `npm run proto:sync -- (--ref <tag> | --from <path>) [--out <file>]

${flagLines(FLAGS)}

Beside the descriptors it writes where they are from (${basename(lockOf(DEFAULT_OUT))}). Commit both: a deployment refuses other content.
Everything but a descriptor file is built with buf, which npx fetches from the npm registry.`;

const BY_HAND = `By hand, on a machine with internet access:
  git clone --depth 1 --branch <tag> ${REPOSITORY}
  npx --yes ${BUF} build gitlab-agent -o gitlab.binpb
then carry gitlab.binpb here: npm run proto:sync -- --from gitlab.binpb`;

interface SyncSource extends Omit<DescriptorsLock, 'sha256'> {
  /** Input of buf; absent: `file` already has descriptors. */
  readonly input?: string;
  readonly file?: string;
}

async function main(args: readonly string[]): Promise<number> {
  const { source, out } = readOptions(args);
  const { input, file, ...origin } = source;
  const folder = fs.mkdtempSync(join(dirname(out), '.proto-sync-'));
  try {
    // In the target's folder, so that the final rename is atomic.
    const built = join(folder, basename(out));
    if (input !== undefined) build(input, built);
    else fs.copyFileSync(file ?? '', built);
    const bytes = fs.readFileSync(built);
    const schema = parseSchema(bytes, file ?? out);
    const lock: DescriptorsLock = { sha256: sha256Of(bytes), ...origin };
    // A deployment in between finds the old descriptors or none that fit, never new ones under an old lock that fits.
    fs.writeFileSync(`${built}.lock`, `${JSON.stringify(lock, undefined, 2)}\n`);
    fs.renameSync(`${built}.lock`, lockOf(out));
    fs.renameSync(built, out);
    const { typeName, fields } = schema.request;
    console.log(
      `${schemaTitle(schema)}\n  ${schema.admitJobPath}\n  ${typeName} with ${fields.length} fields`,
    );
    return 0;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function readOptions(args: readonly string[]): { readonly source: SyncSource; readonly out: string } {
  const { ref, from, ...flags } = parseInput(args, FLAGS, {}).flags;
  const out = resolve(flags.out ?? DEFAULT_OUT);
  if (!fs.existsSync(dirname(out))) throw new UsageError(`--out ${out}: the folder does not exist`);
  if (from !== undefined && ref === undefined) return { source: sourceAt(from), out };
  if (ref === undefined || from !== undefined) throw new UsageError(USAGE);
  if (!REF.test(ref)) throw new UsageError(`"${ref}" is no tag`);
  const input = `${REPOSITORY}#tag=${ref},depth=1`;
  return { source: { input, source: `tag ${ref} of ${REPOSITORY}` }, out };
}

function sourceAt(from: string): SyncSource {
  const found = fs.statSync(from, { throwIfNoEntry: false });
  if (found === undefined)
    throw new UsageError(`--from ${from} does not exist; give a checkout or a descriptor file (.binpb)`);
  if (found.isDirectory()) return { input: from, source: `folder ${basename(resolve(from))}` };
  const origin = { source: basename(from), sourceSha256: sha256Of(fs.readFileSync(from)) };
  if (DESCRIPTORS.test(from)) return { ...origin, file: from };
  throw new UsageError(`--from ${from}: give a checkout or a descriptor file (.binpb)`);
}

function build(input: string, out: string): void {
  const result = spawnSync(
    'npx',
    ['--yes', BUF, 'build', input, '--as-file-descriptor-set', '--exclude-source-info', '-o', out],
    { encoding: 'utf8', timeout: BUILD_MS_MAX, stdio: ['ignore', 'inherit', 'pipe'] },
  );
  if (result.status === 0) return;
  const why =
    result.error?.message ?? (result.stderr.trim() || `ended with ${result.signal ?? result.status}`);
  throw new RelayError('schema_invalid', `buf could not build ${input}:\n${why}\n\n${BY_HAND}`);
}

await runProgram(main, 'npm run proto:sync -- --help', { usage: `${USAGE}\n\n${BY_HAND}` });
