import type { Plugin } from 'esbuild';

/**
 * Zod's namespace keeps all of Zod in a bundle. What Tollgate has no use for stays out: messages in some sixty languages, a
 * quarter of a megabyte (Tollgate's own are English; Zod's own default stays), and its reader of JSON Schema.
 */
export const leanZod: Plugin = {
  name: 'lean-zod',
  setup: (build) => {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]classic[\\/]from-json-schema\.js$/ }, () => ({
      contents: 'export const fromJSONSchema = undefined;',
    }));
  },
};
