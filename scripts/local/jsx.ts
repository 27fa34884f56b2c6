/**
 * Lets Node load `.tsx`: by itself it takes types away but does not know JSX. Has to run before the first module with JSX is
 * asked for: tests set it up, programs import `console-pages.ts`. Bundles need none of this.
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

/** The cache has one file for each source, whose first line says what it was made of. */
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

/** Whole or not at all, because other processes read it at the same time. */
function keep(file: string, text: string): void {
  const part = `${file}.${randomUUID()}`;
  try {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(part, text);
    renameSync(part, file);
  } catch {
    // A folder that cannot be written to costs some time at each start, and nothing else.
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
