import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Two projects: `unit` runs anywhere and fast; `integ` needs a real part (DynamoDB Local, sockets, child processes)
 * and starts it by itself. Nothing is skipped: a missing part fails the run with its remedy.
 */
export default defineConfig({
  root,
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.integ.test.ts'],
          // Properties of a few thousand runs take seconds, and longer on a machine that has other things to do.
          testTimeout: 30_000,
          // Of two cores one would stand idle.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'integ',
          include: ['test/**/*.integ.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          // After the fast ones.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
