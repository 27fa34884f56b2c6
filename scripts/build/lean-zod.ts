import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/** Modules of Zod that nothing of Tollgate calls, and what they export: its reader of JSON Schema, an older writer of it, its compiler of schemas. */
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  'classic/from-json-schema': ['fromJSONSchema'],
  'core/json-schema-generator': ['JSONSchemaGenerator'],
  'core/compile': [
    'compile',
    'compileFn',
    'withParser',
    'INVALID',
    'ZodCompileAsyncError',
    'ZodCompileUnsupportedError',
  ],
};

/** Zod's writer of JSON Schema. Each schema asks it for its methods, and nothing of Tollgate calls those. */
const WRITER = /[\\/]zod[\\/]v4[\\/]core[\\/]to-json-schema\.js$/;
const WRITER_EXPORTS: readonly string[] = [
  'initializeContext',
  'handleUnrepresentable',
  'process',
  'processSchema',
  'extractDefs',
  'finalize',
  'createToJSONSchemaMethod',
  'createStandardJSONSchemaMethod',
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
      if (first < 0) throw new Error(`${path} is not laid out as lean-zod.ts knows it`);
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
