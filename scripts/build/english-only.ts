import type { Plugin } from 'esbuild';

/**
 * Zod brings its messages in some sixty languages, a quarter of a megabyte, and its namespace keeps them all. Tollgate's own
 * messages are English; Zod's own default stays.
 */
export const englishOnly: Plugin = {
  name: 'english-only',
  setup: (build) => {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};
