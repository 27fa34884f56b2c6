/**
 * `npm run package:cli`: builds the command line as an npm package in dist/packages/cli, ready for `npm pack`. The name is
 * `release.cli` of package.json. Equal sources make equal files.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { runProgram } from '../terminal/program.ts';
import { OPTIONS } from './bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ENTRY = 'lib/tollgate.mjs';

export async function packageCli(folder = `${root}dist/packages/cli`): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    ...OPTIONS,
    // Names of chunks depend on paths.
    absWorkingDir: root,
    target: 'node20',
    external: [],
    jsx: 'automatic',
    jsxImportSource: 'hono/jsx',
    entryPoints: { tollgate: 'scripts/cli/packaged.ts' },
    outdir: join(folder, 'lib'),
    outExtension: { '.js': '.mjs' },
    chunkNames: '[hash]',
    splitting: true,
    legalComments: 'none',
    metafile: true,
  });
  const { release, version, description, license } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const manifest = {
    ...{ name: release.cli, version, description: `Command line. ${description}`, license, type: 'module' },
    ...{ bin: { tollgate: ENTRY }, engines: { node: '>=20' }, files: ['lib', 'LICENSES.txt'] },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const readme = readFileSync(`${root}scripts/build/package-cli.md`, 'utf8');
  writeFileSync(join(folder, 'README.md'), readme.replaceAll('{name}', release.cli));
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(metafile));
  copyFileSync(`${root}LICENSE`, join(folder, 'LICENSE'));
  copyFileSync(`${root}relay/wire/default.binpb`, join(folder, 'lib/default.binpb'));
  return folder;
}

/** Licences of the packages in the bundle, which has them without their folders. */
function licensesOf({ inputs }: Metafile): string {
  const packages = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
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
    const folder = await packageCli();
    console.log(`${folder} is built. npm publish --dry-run ${folder} shows what it holds.`);
    return 0;
  };
  await runProgram(main, 'scripts/build/package-cli.ts');
}
