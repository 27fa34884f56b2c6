/**
 * `npm run bundle`: builds what is deployed, with esbuild, into dist/<program>/: functions as handler.mjs with rules.json (policy, limits and
 * directory, validated), the relay as relay.mjs with the same rules and the descriptors of its GitLab.
 * `npm run bundle -- admit` builds only this one, `-- functions` all but the relay. `--force` packs a policy that would reject
 * the platform's own jobs.
 *
 * The descriptors are those of every deployment in cdk/tollgate.config.ts, or what `--descriptors` says: a file, or a folder.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BuildOptions, build, type Metafile, type StdinOptions } from 'esbuild';
import { DESCRIPTORS_FOLDER } from '../../relay/names.ts';
import {
  type DeployableDescriptors,
  readDeployableDescriptors,
} from '../../relay/wire/deployable-descriptors.ts';
import { runProgram } from '../terminal/program.ts';
import { lambdaEnvironment, lateRe2, leanZod } from './bundle-plugins.ts';
import { packRules } from './pack-rules.ts';

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

export interface Bundle {
  readonly file: string;
  readonly bytes: number;
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

export const bundleAdmit = (outfile: string): Promise<Bundle> => bundleFunction('admit', outfile);

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
  return { file: outfile, bytes: keepReachable(metafile, dirname(outfile), basename(outfile)) };
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

/** Placeholder descriptors are left out: without its GitLab's descriptors this relay does not start. */
async function bundleRelay(outfile: string, descriptors: readonly DeployableDescriptors[]): Promise<Bundle> {
  const bundle = await bundleWith({ entryPoints: [`${root}relay/main.ts`], outfile });
  copyFileSync(`${root}relay/health-check.mjs`, `${dirname(outfile)}/health-check.mjs`);
  const folder = join(dirname(outfile), DESCRIPTORS_FOLDER);
  mkdirSync(folder, { recursive: true });
  for (const { fileName, bytes } of descriptors) writeFileSync(join(folder, fileName), bytes);
  return bundle;
}

export const bundleEntry = (stdin: StdinOptions, outfile: string): Promise<Bundle> =>
  bundleWith({ stdin, outfile });

async function bundleWith(options: BuildOptions & { readonly outfile: string }): Promise<Bundle> {
  await build({ ...OPTIONS, ...options });
  return { file: options.outfile, bytes: statSync(options.outfile).size };
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { force: { type: 'boolean' }, descriptors: { type: 'string' } },
  });
  const wants = (name: string): boolean =>
    positionals.length === 0 ||
    positionals.includes(name) ||
    (name !== 'relay' && positionals.includes('functions'));
  const rules = JSON.stringify(packRules({ root, force: values.force === true, nowMs: Date.now() }));
  // Read before their old place is emptied: it may be where they come from.
  const descriptors = wants('relay') ? await bundledDescriptors(values.descriptors) : [];
  for (const name of FUNCTIONS.filter(wants)) {
    const bytes = await bundleInto(name, 'handler.mjs', rules, (outfile) => bundleFunction(name, outfile));
    if (bytes > BUNDLE_KB_MAX[name] * 1024) {
      console.error(`the bundle of ${name} is larger than ${BUNDLE_KB_MAX[name]} KB`);
      return 1;
    }
  }
  if (wants('relay'))
    await bundleInto('relay', 'relay.mjs', rules, (outfile) => bundleRelay(outfile, descriptors));
  return 0;
}

async function bundleInto(
  name: string,
  file: string,
  rules: string,
  bundle: (outfile: string) => Promise<Bundle>,
): Promise<number> {
  const shown = `dist/${name.replace('/', '-')}`;
  const folder = `${root}${shown}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { bytes } = await bundle(`${folder}/${file}`);
  writeFileSync(`${folder}/rules.json`, rules);
  console.log(`${`${shown}/${file}`.padEnd(34)} ${(bytes / 1024).toFixed(0).padStart(5)} KB`);
  return bytes;
}

/** Reads the descriptors of a file or folder, else of every deployment. @throws {Error} naming the file. @throws {SettingsError} */
async function bundledDescriptors(path: string | undefined): Promise<readonly DeployableDescriptors[]> {
  if (path === undefined) {
    // Only here is cdk/ needed: the image is built without it.
    const { deployments } = await import('../../cdk/tollgate.config.ts');
    const { readDeployments } = await import('../../cdk/settings/read-deployments.ts');
    return readDeployments(deployments, {}).map(({ gitlab }) => gitlab.descriptors);
  }
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const files = isFolder
    ? readdirSync(path).flatMap((name) => (name.endsWith('.binpb') ? join(path, name) : []))
    : [path];
  if (files.length === 0)
    throw new Error(`there are no descriptors in ${path}; npm run synth puts them there`);
  return files.map((file) => {
    try {
      return readDeployableDescriptors(file);
    } catch (error) {
      throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runProgram(() => main(process.argv.slice(2)), 'scripts/build/bundle.ts');
}
