/**
 * `npm run bundle`: builds what is deployed, with esbuild, into dist/<program>/: functions as handler.mjs with rules.json (policy, limits and
 * directory, validated), the relay as relay.mjs with the same rules and its Dockerfile: the whole context of its image.
 * `npm run bundle -- admit` builds only this one. `--force` packs a policy that would reject the platform's own jobs.
 *
 * Synth adds the descriptors of each deployment to the relay. For a relay outside AWS `--descriptors gitlab.binpb` does.
 * `--sbom` writes the packages in the relay's bundle as CycloneDX into dist/relay.cdx.json.
 */
import { copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { DESCRIPTORS_FOLDER } from '../../relay/names.ts';
import { readDeployableDescriptors } from '../../relay/wire/deployable-descriptors.ts';
import { runProgram } from '../terminal/program.ts';
import { lambdaEnvironment, lateRe2, leanZod } from './bundle-plugins.ts';
import { packRules } from './pack-rules.ts';
import { bundleSbom } from './sbom.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Deployed programs, and KB slightly above each bundle: more would slow cold starts. Zod has 180 KB: only for scheduled ones. */
export const BUNDLE_KB_MAX = {
  admit: 390,
  settle: 80,
  'settle/stream': 355,
  sweep: 590,
  rollup: 560,
  drift: 338,
  doctor: 290,
  watchdog: 420,
  directory: 250,
  'ssm-limits': 505,
  notices: 775,
  requeue: 565,
  console: 1_400,
} as const;

export type FunctionName = keyof typeof BUNDLE_KB_MAX;
export const FUNCTIONS = Object.keys(BUNDLE_KB_MAX) as FunctionName[];

interface Bundle {
  readonly file: string;
  readonly bytes: number;
  readonly metafile: Metafile;
}

const REQUIRE_BANNER =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

export const OPTIONS: BuildOptions = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  // Loaded only where a secret is wanted: it costs a third of a cold start.
  external: ['@aws-sdk/client-ssm'],
  banner: { js: REQUIRE_BANNER },
  plugins: [leanZod],
  logLevel: 'warning',
};

export async function bundleFunction(name: FunctionName, outfile: string): Promise<Bundle> {
  const { metafile } = await build({
    ...OPTIONS,
    plugins: [leanZod, lambdaEnvironment, lateRe2(outfile)],
    entryPoints: { handler: `${root}functions/${name === 'directory' ? 'directory-sync' : name}/handler.ts` },
    outdir: dirname(outfile),
    entryNames: basename(outfile, '.mjs'),
    chunkNames: 'chunk-[hash]',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    metafile: true,
  });
  const bytes = keepReachable(metafile, dirname(outfile), basename(outfile));
  return { file: outfile, bytes, metafile };
}

/** esbuild writes imports of excluded modules, here the SDK's credential providers. @returns the remaining bytes */
function keepReachable({ outputs }: Metafile, folder: string, entry: string): number {
  const loaded = new Set(Object.keys(outputs).filter((path) => basename(path) === entry));
  const beside = new Map(Object.keys(outputs).map((path) => [`./${basename(path)}`, path]));
  for (const path of loaded)
    for (const { path: next } of outputs[path]?.imports ?? []) {
      // Files of plugins are external to the bundle.
      const file = next in outputs ? next : beside.get(next);
      if (file !== undefined) loaded.add(file);
    }
  for (const path of Object.keys(outputs)) if (!loaded.has(path)) rmSync(join(folder, basename(path)));
  return [...loaded].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0);
}

/** Without its GitLab's descriptors this relay does not start: it has no placeholder. */
async function bundleRelay(
  outfile: string,
  { descriptors, sbom = false }: { readonly descriptors?: string; readonly sbom?: boolean },
): Promise<Bundle> {
  const bundle = await bundleWith({ entryPoints: [`${root}relay/main.ts`], outfile });
  const folder = dirname(outfile);
  for (const name of ['health-check.mjs', 'Dockerfile'])
    copyFileSync(`${root}relay/${name}`, `${folder}/${name}`);
  if (descriptors !== undefined) {
    const { fileName, bytes } = readDescriptors(descriptors);
    mkdirSync(join(folder, DESCRIPTORS_FOLDER));
    writeFileSync(join(folder, DESCRIPTORS_FOLDER, fileName), bytes);
  }
  if (sbom) writeFileSync(`${folder}.cdx.json`, bundleSbom(root, bundle.metafile));
  return bundle;
}

/** @throws {Error} naming the file */
function readDescriptors(file: string) {
  try {
    return readDeployableDescriptors(file);
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

export async function bundleWith(options: BuildOptions & { readonly outfile: string }): Promise<Bundle> {
  const { metafile } = await build({ ...OPTIONS, ...options, metafile: true });
  return { file: options.outfile, bytes: statSync(options.outfile).size, metafile };
}

interface BundlesOptions {
  readonly wants?: (name: string) => boolean;
  /** Text of rules.json. @default none is written */
  readonly rules?: string;
  readonly descriptors?: string;
  readonly sbom?: boolean;
}

/** Each program into a folder of its own. @throws {Error} if a function is too large */
export async function bundlePrograms(
  dist: string,
  { wants = () => true, rules, ...relay }: BundlesOptions = {},
): Promise<readonly Bundle[]> {
  const made: Bundle[] = [];
  for (const name of [...FUNCTIONS, 'relay' as const].filter(wants)) {
    const folder = join(dist, name.replace('/', '-'));
    const outfile = join(folder, name === 'relay' ? 'relay.mjs' : 'handler.mjs');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const bundle = await (name === 'relay' ? bundleRelay(outfile, relay) : bundleFunction(name, outfile));
    if (rules !== undefined) writeFileSync(join(folder, 'rules.json'), rules);
    if (name !== 'relay' && bundle.bytes > BUNDLE_KB_MAX[name] * 1024)
      throw new Error(`the bundle of ${name} is larger than ${BUNDLE_KB_MAX[name]} KB`);
    made.push(bundle);
  }
  return made;
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { force: { type: 'boolean' }, descriptors: { type: 'string' }, sbom: { type: 'boolean' } },
  });
  const { force = false, ...options } = values;
  const rules = JSON.stringify(packRules({ folder: `${root}policies`, force, nowMs: Date.now() }));
  const wants = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
  for (const { file, bytes } of await bundlePrograms(`${root}dist`, { wants, rules, ...options }))
    console.log(`${relative(root, file).padEnd(34)} ${(bytes / 1024).toFixed(0).padStart(5)} KB`);
  return 0;
}

if (import.meta.main) await runProgram(main, 'scripts/build/bundle.ts');
