import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import packageJson from '../../package.json' with { type: 'json' };
import { runProgram } from '../terminal/program.ts';
import { bundlePrograms, OPTIONS } from './bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const USAGE = `npm run package [-- cli | cdk]

Builds what is published in dist/packages: cli, the command line, and cdk, the construct. Their names are "release" of package.json.
Equal sources make equal files.`;

const { release, license, devDependencies } = packageJson;

export const PACKAGES = { cli: packageCli, cdk: packageConstruct } as const;

async function packageCli(folder: string, version = packageJson.version): Promise<void> {
  const metafile = await bundleInto(folder, {
    jsx: 'automatic',
    jsxImportSource: 'hono/jsx',
    entryPoints: { tollgate: 'scripts/cli/packaged.ts' },
    outdir: join(folder, 'lib'),
    outExtension: { '.js': '.mjs' },
    chunkNames: '[hash]',
    splitting: true,
  });
  copyFileSync(`${root}relay/wire/default.binpb`, join(folder, 'lib/default.binpb'));
  describe(folder, 'cli', [metafile], {
    ...{ version, description: `Command line. ${packageJson.description}`, type: 'module' },
    ...{ bin: { tollgate: 'lib/tollgate.mjs' }, files: ['lib', 'LICENSES.txt'] },
  });
}

/** As in the repository: the construct finds bundles and runbook at the same places. */
async function packageConstruct(folder: string, version = packageJson.version): Promise<void> {
  const metafile = await bundleInto(folder, {
    format: 'cjs',
    external: ['aws-cdk-lib', 'constructs'],
    entryPoints: { tollgate: 'cdk/tollgate.ts' },
    outdir: join(folder, 'cdk'),
    define: { 'import.meta.url': '__url' },
    banner: {
      js: `if (parseInt(process.versions.node) < 22) throw new Error('Tollgate needs Node 22 or newer; this is ' + process.version);
const __url=require("node:url").pathToFileURL(__filename).href;`,
    },
  });
  const programs = await bundlePrograms(join(folder, 'dist'), { sbom: true });
  copyFileSync(`${root}cdk/RUNBOOK.md`, join(folder, 'cdk/RUNBOOK.md'));
  declareTypes(join(folder, 'cdk'));
  describe(folder, 'cdk', [metafile, ...programs.map((each) => each.metafile)], {
    ...{ version, description: `CDK construct. ${packageJson.description}`, engines: { node: '>=22' } },
    ...{ main: 'cdk/tollgate.js', types: 'cdk/tollgate.d.ts', files: ['cdk', 'dist', 'LICENSES.txt'] },
    peerDependencies: {
      'aws-cdk-lib': `^${devDependencies['aws-cdk-lib']}`,
      constructs: `^${devDependencies.constructs}`,
    },
  });
}

async function bundleInto(folder: string, options: BuildOptions): Promise<Metafile> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    ...OPTIONS,
    // Names of chunks depend on paths.
    absWorkingDir: root,
    target: 'node20',
    external: [],
    legalComments: 'none',
    ...options,
    metafile: true,
  });
  return metafile;
}

/** The compiler writes the types of every file that it reads; the construct's own need two. */
function declareTypes(folder: string): void {
  const made = mkdtempSync(join(folder, '.types-'));
  const args = [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}scripts/build/packages/types.json`];
  const { status, stdout } = spawnSync(process.execPath, [...args, '--outDir', made], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the types cannot be written: ${stdout}`);
  for (const file of ['tollgate.d.ts', 'settings/props.d.ts'])
    cpSync(join(made, 'cdk', file), join(folder, file));
  rmSync(made, { recursive: true });
}

function describe(
  folder: string,
  name: keyof typeof PACKAGES,
  bundles: readonly Metafile[],
  manifest: object,
): void {
  const text = JSON.stringify(
    { name: release[name], license, engines: { node: '>=20' }, ...manifest },
    null,
    2,
  );
  writeFileSync(join(folder, 'package.json'), `${text}\n`);
  const readme = readFileSync(`${root}scripts/build/packages/${name}.md`, 'utf8');
  writeFileSync(
    join(folder, 'README.md'),
    readme.replaceAll('{name}', release[name]).replaceAll('{cli}', release.cli),
  );
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(bundles));
  copyFileSync(`${root}LICENSE`, join(folder, 'LICENSE'));
}

/** Licences of the packages in the bundles, which have them without their folders. */
function licensesOf(bundles: readonly Metafile[]): string {
  const packages = bundles
    .flatMap(({ inputs }) => Object.keys(inputs))
    .flatMap((path) => /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(packages)]
    .sort()
    .map((path) => {
      const folder = join(root, path);
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
      return [
        `${name} ${version}: ${license}`,
        ...texts.sort().map((file) => readFileSync(join(folder, file), 'utf8')),
      ].join('\n\n');
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`);
}

if (import.meta.main) {
  const main = async (): Promise<number> => {
    const { positionals } = parseArgs({ allowPositionals: true });
    for (const [name, make] of Object.entries(PACKAGES)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue;
      const folder = `${root}dist/packages/${name}`;
      await make(folder);
      console.log(`${folder} is built. npm publish --dry-run ${folder} shows what it holds.`);
    }
    return 0;
  };
  await runProgram(main, 'npm run package -- --help', { usage: USAGE });
}
