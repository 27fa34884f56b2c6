import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Ends what hangs. Nothing else may rest on how fast a machine is that has other things to do. */
const TIMEOUT_MS = 5 * 60_000;

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
          globalSetup: ['test/support/setup-unit.ts'],
          testTimeout: TIMEOUT_MS,
          hookTimeout: TIMEOUT_MS,
          // Of two cores one would stand idle.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'integ',
          include: ['test/**/*.integ.test.ts'],
          globalSetup: ['test/support/setup-integ.ts'],
          testTimeout: TIMEOUT_MS,
          hookTimeout: TIMEOUT_MS,
          maxWorkers: 2,
          // After the fast ones.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
