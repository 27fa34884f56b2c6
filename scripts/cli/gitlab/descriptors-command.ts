import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { RelayError } from '../../../relay/relay-error.ts';
import { type DescriptorsLock, lockOf, sha256Of } from '../../../relay/wire/deployable-descriptors.ts';
import { parseSchema, schemaTitle } from '../../../relay/wire/schema.ts';
import { UsageError } from '../../terminal/command.ts';
import { command, orElse, print, text } from '../../terminal/define.ts';

const BUF = '@bufbuild/buf@1.75.0';
const REPOSITORY = 'https://gitlab.com/gitlab-org/cluster-integration/gitlab-agent.git';
const BUILD_MS_MAX = 300_000;
/** Valid tags; a comma or # would change buf's input. */
const REF = /^[\w][\w./+-]*$/;
const DESCRIPTORS = /\.(binpb|pb|desc|protoset)$/;

const BY_HAND = `By hand, on a machine with internet access:
  git clone --depth 1 --branch <tag> ${REPOSITORY}
  npx --yes ${BUF} build gitlab-agent -o agent.binpb
then carry agent.binpb here: tollgate gitlab descriptors --from agent.binpb`;

interface Source extends Omit<DescriptorsLock, 'sha256'> {
  /** Input of buf; absent: `file` already has descriptors. */
  readonly input?: string;
  readonly file?: string;
}

const descriptorsCommand = command({
  name: 'gitlab descriptors',
  about: `Builds the file with the field numbers of your GitLab's version, which relays need, and writes next to it where it is from
(gitlab.lock.json). Commit both: a deployment refuses other content. Everything but a descriptor file is built with buf, which npx
fetches from the npm registry.

${BY_HAND}`,
  flags: {
    ref: text('<tag>', "of GitLab's agent server; needs git access to gitlab.com"),
    from: text('<path>', 'a checkout of it, or a descriptor file (.binpb)'),
    out: orElse(text('<file>', 'the file to write'), 'gitlab.binpb'),
  },
  examples: [
    'tollgate gitlab descriptors --ref v18.9.0',
    'tollgate gitlab descriptors --from agent.binpb --out relay/wire/gitlab.binpb',
  ],
  exits: { 1: 'they cannot be fetched or built' },
  run: async ({ flags }, io) => {
    const out = resolve(io.cwd, flags.out);
    if (!fs.existsSync(dirname(out))) throw new UsageError(`--out ${out}: the folder does not exist`);
    const schema = write(sourceOf(flags, io.cwd), out);
    const { typeName, fields } = schema.request;
    const [title, path] = [schemaTitle(schema), schema.admitJobPath];
    const value = { file: out, title, path, request: typeName, fields: fields.length };
    const shown = `${title}\n  ${path}\n  ${typeName} with ${fields.length} fields\n`;
    return print(io, flags, value, () => shown);
  },
});

function write({ input, file, ...origin }: Source, out: string) {
  const folder = fs.mkdtempSync(join(dirname(out), '.descriptors-'));
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
    return schema;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function sourceOf(
  { ref, from }: { readonly ref: string | undefined; readonly from: string | undefined },
  cwd: string,
): Source {
  if (from !== undefined && ref === undefined) return sourceAt(resolve(cwd, from));
  if (ref === undefined || from !== undefined) throw new UsageError('give either --ref or --from');
  if (!REF.test(ref)) throw new UsageError(`"${ref}" is no tag`);
  return { input: `${REPOSITORY}#tag=${ref},depth=1`, source: `tag ${ref} of ${REPOSITORY}` };
}

function sourceAt(from: string): Source {
  const found = fs.statSync(from, { throwIfNoEntry: false });
  if (found === undefined)
    throw new UsageError(`--from ${from} does not exist; give a checkout or a descriptor file (.binpb)`);
  if (found.isDirectory()) return { input: from, source: `folder ${basename(from)}` };
  const origin = { source: basename(from), sourceSha256: sha256Of(fs.readFileSync(from)) };
  if (DESCRIPTORS.test(from)) return { ...origin, file: from };
  throw new UsageError(`--from ${from}: give a checkout or a descriptor file (.binpb)`);
}

/** A folder that is no checkout has hundreds. */
const firstLines = (text: string): string => text.trim().split('\n').slice(0, 10).join('\n');

function build(input: string, out: string): void {
  const result = spawnSync(
    'npx',
    ['--yes', BUF, 'build', input, '--as-file-descriptor-set', '--exclude-source-info', '-o', out],
    { encoding: 'utf8', timeout: BUILD_MS_MAX, stdio: ['ignore', 'inherit', 'pipe'] },
  );
  if (result.status === 0) return;
  const why =
    result.error?.message ?? (firstLines(result.stderr) || `ended with ${result.signal ?? result.status}`);
  throw new RelayError('schema_invalid', `buf could not build ${input}:\n${why}\n\n${BY_HAND}`);
}

export const commands = [descriptorsCommand];
