import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const NAMESPACE = 'late-re2';
const FILE = 're2.cjs';
const SHIM = `const re2 = () => require('./${FILE}');
export const RE2JS = { compile: (pattern) => re2().RE2JS.compile(pattern) };
export class RE2JSSyntaxException {
  static [Symbol.hasInstance](error) { return error instanceof re2().RE2JSSyntaxException; }
}`;
const TAKEN = `export { RE2JS, RE2JSSyntaxException } from 're2js';`;

/**
 * Puts RE2 into a separate file, loaded with the first compiled pattern: it has 150 KB, and its Unicode
 * tables take longer to set up than all rules take to read. Functions without patterns do not get the file.
 */
export function lateRe2(outfile: string): Plugin {
  let resolveDir: string | undefined;
  return {
    name: NAMESPACE,
    setup: (bundle) => {
      bundle.onResolve({ filter: /^re2js$/ }, (found) => {
        resolveDir = found.resolveDir;
        return { path: 'shim', namespace: NAMESPACE };
      });
      bundle.onResolve({ filter: /re2\.cjs$/, namespace: NAMESPACE }, () => ({
        path: `./${FILE}`,
        external: true,
      }));
      bundle.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({ contents: SHIM }));
      bundle.onEnd(async ({ metafile }) => {
        if (resolveDir === undefined) return;
        const beside = await besideBundle(join(dirname(outfile), FILE), resolveDir, bundle.initialOptions);
        if (metafile !== undefined) Object.assign(metafile.outputs, beside.outputs);
      });
    },
  };
}

async function besideBundle(
  outfile: string,
  resolveDir: string,
  { minify, platform, target, mainFields }: BuildOptions,
): Promise<Metafile> {
  const { metafile } = await build({
    ...{ bundle: true, minify: minify === true, format: 'cjs', metafile: true },
    ...(platform && { platform }),
    ...(target && { target }),
    ...(mainFields && { mainFields }),
    stdin: { contents: TAKEN, resolveDir },
    outfile,
  });
  return metafile;
}
