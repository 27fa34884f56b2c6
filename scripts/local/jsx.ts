/**
 * Lets Node load `.tsx`: Node removes types but does not know JSX. It must run before the first module with JSX is loaded:
 * tests set it up, programs import `console-pages.ts`. Bundles do not need it.
 */
import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.tsx')) return nextLoad(url, context);
    const sourcefile = fileURLToPath(url);
    // Loaded late: most processes import no page.
    const { transformSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
    const { code } = transformSync(readFileSync(sourcefile, 'utf8'), {
      ...{ loader: 'tsx', jsx: 'automatic', jsxImportSource: 'hono/jsx', target: 'node24' },
      ...{ sourcemap: 'inline', sourcefile },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
