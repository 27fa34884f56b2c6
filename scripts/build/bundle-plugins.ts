import { readFileSync } from 'node:fs';
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

/**
 * Lambda hands a function the credentials of its role and every setting of the SDK in its environment, and has no files of either. The
 * SDK's search through files, other processes and servers is a third of its code.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
 */
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

/**
 * Puts RE2 into a separate file, loaded with the first compiled pattern: it has 150 KB, and its Unicode
 * tables take longer to set up than all rules take to read. Functions without patterns do not get the file.
 */
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

/** Modules of Zod that nothing of Tollgate calls, and what they export: its reader of JSON Schema, an older writer of it, its compiler of schemas. */
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  'classic/from-json-schema': ['fromJSONSchema'],
  'core/json-schema-generator': ['JSONSchemaGenerator'],
  'core/compile':
    'compile compileFn withParser INVALID ZodCompileAsyncError ZodCompileUnsupportedError'.split(' '),
};

/** Zod's writer of JSON Schema. Each schema asks it for its methods, and nothing of Tollgate calls those. */
const WRITER = /[\\/]zod[\\/]v4[\\/]core[\\/]to-json-schema\.js$/;
const WRITER_EXPORTS = [
  ...['initializeContext', 'handleUnrepresentable', 'process', 'processSchema', 'extractDefs', 'finalize'],
  ...['createToJSONSchemaMethod', 'createStandardJSONSchemaMethod'],
];

/** Converters by kind of schema; the part before them is needed by schemas as well. */
const PROCESSORS = /[\\/]zod[\\/]v4[\\/]core[\\/]json-schema-processors\.js$/;

/**
 * Zod's namespace keeps all of Zod in a bundle. What Tollgate has no use for stays out: those modules, and messages in some
 * sixty languages, a quarter of a megabyte. Tollgate's own messages are English; Zod's own default stays.
 */
export const leanZod: Plugin = {
  name: 'lean-zod',
  setup: (build) => {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
    build.onLoad({ filter: WRITER }, () => ({
      contents: `const none = () => {};\nexport { ${WRITER_EXPORTS.map((name) => `none as ${name}`).join(', ')} };`,
    }));
    build.onLoad({ filter: PROCESSORS }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const first = text.indexOf('export const stringProcessor');
      if (first < 0) throw new Error(`${path} is not laid out as bundle-plugins.ts knows it`);
      const names = text.slice(first).matchAll(/^export (?:const|function) (\w+)/gm);
      const none = Array.from(names, ([, name]) => `export const ${name} = undefined;`);
      return { contents: [text.slice(0, first), ...none].join('\n') };
    });
    for (const [module, names] of Object.entries(UNUSED))
      build.onLoad(
        { filter: new RegExp(`[\\\\/]zod[\\\\/]v4[\\\\/]${module.replace('/', '[\\\\/]')}\\.js$`) },
        () => ({
          contents: names.map((name) => `export const ${name} = undefined;`).join('\n'),
        }),
      );
  },
};
