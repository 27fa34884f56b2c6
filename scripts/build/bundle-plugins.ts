import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const PROVIDER = `export const defaultProvider = () => async () => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = process.env;
  if (!accessKeyId || !secretAccessKey)
    throw new Error('no credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as Lambda sets them, are missing');
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
};`;
const NO_FILES = [
  "export { CONFIG_PREFIX_SEPARATOR } from './constants';",
  'const none = Promise.resolve({ configFile: {}, credentialsFile: {} });',
  'export const loadSharedConfigFiles = () => none;',
].join('\n');

/** Lambda passes credentials in the environment and has no files with them: the SDK's search for them is a third of its code. */
export const lambdaEnvironment: Plugin = {
  name: 'lambda-environment',
  setup: (build) => {
    build.onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, () => ({
      path: 'credentials',
      namespace: 'lambda-environment',
    }));
    build.onLoad({ filter: /.*/, namespace: 'lambda-environment' }, () => ({ contents: PROVIDER }));
    build.onLoad({ filter: /[\\/]shared-ini-file-loader[\\/]loadSharedConfigFiles\.js$/ }, () => ({
      contents: NO_FILES,
    }));
  },
};

const RE2 = 'late-re2';
const FILE = 're2.cjs';
const SHIM = `const re2 = () => require('./${FILE}');
export const RE2JS = { compile: (pattern) => re2().RE2JS.compile(pattern) };
export class RE2JSSyntaxException {
  static [Symbol.hasInstance](error) { return error instanceof re2().RE2JSSyntaxException; }
}`;
const TAKEN = `export { RE2JS, RE2JSSyntaxException } from 're2js';`;

/** RE2 in a separate file, loaded with the first compiled pattern: its 150 KB take longer to set up than all rules take to read. */
export function lateRe2(outfile: string): Plugin {
  let resolveDir: string | undefined;
  return {
    name: RE2,
    setup: (bundle) => {
      bundle.onResolve({ filter: /^re2js$/ }, (found) => {
        resolveDir = found.resolveDir;
        return { path: 'shim', namespace: RE2 };
      });
      bundle.onResolve({ filter: /re2\.cjs$/, namespace: RE2 }, () => ({
        path: `./${FILE}`,
        external: true,
      }));
      bundle.onLoad({ filter: /.*/, namespace: RE2 }, () => ({ contents: SHIM }));
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

/** Zod's namespace keeps all of Zod in a bundle: messages in some sixty languages are a quarter of a megabyte. */
export const leanZod: Plugin = {
  name: 'lean-zod',
  setup: (build) => {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};
