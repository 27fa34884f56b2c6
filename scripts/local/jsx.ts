/**
 * Lets Node load `.tsx`: Node removes types but does not know JSX. It must run before the first module with JSX is loaded:
 * tests set it up, programs import `console-pages.ts`. Bundles do not need it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TransformOptions } from 'esbuild';

const OPTIONS: TransformOptions = {
  loader: 'tsx',
  jsx: 'automatic',
  jsxImportSource: 'hono/jsx',
  target: 'node24',
  sourcemap: 'inline',
};
/** Compiled once: esbuild takes 100 ms for its start and 5 ms for a file. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/jsx', import.meta.url));

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.tsx')) return nextLoad(url, context);
    return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true };
  },
});

/** The cache has one file per source; its first line is a hash of options and source. */
function compiled(file: string): string {
  const source = readFileSync(file, 'utf8');
  const made = `//${createHash('sha256').update(JSON.stringify(OPTIONS)).update(source).digest('hex')}\n`;
  const kept = join(CACHE, `${basename(file)}.js`);
  const before = readIfThere(kept);
  if (before?.startsWith(made)) return before;
  const text = made + compile(source, file);
  keep(kept, text);
  return text;
}

/** Writes by a rename, because other processes read the file at the same time. */
function keep(file: string, text: string): void {
  const part = `${file}.${randomUUID()}`;
  try {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(part, text);
    renameSync(part, file);
  } catch {
    // Without the cache each start takes longer.
  }
}

function compile(source: string, file: string): string {
  // Most starts find everything in the cache.
  const { transformSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  return transformSync(source, { ...OPTIONS, sourcefile: file }).code;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
