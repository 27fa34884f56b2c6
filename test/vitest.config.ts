import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './support/slowest-first.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Ends what hangs. Nothing else may rest on how fast a machine is that has other things to do. */
const TIMEOUT_MS = 5 * 60_000;

const project = (name: string, include: string[], exclude: string[], globalSetup: string) => ({
  extends: true as const,
  test: { name, include, exclude, globalSetup: [globalSetup] },
});

/**
 * `npm test` runs two projects: `unit` runs anywhere and fast; `integ` needs a real part (DynamoDB Local, sockets, child
 * processes) and starts it on its own. `npm run proofs` runs `long`, whose files take a minute or more each. Nothing is skipped: a
 * missing part fails the run with its remedy.
 */
export default defineConfig(({ mode }) => ({
  root,
  test: {
    // Node loads the modules, as it does for the relay and the commands, and each worker loads a module once.
    experimental: { viteModuleRunner: false },
    isolate: false,
    setupFiles: ['scripts/local/jsx.ts', 'test/support/property-seed.ts'],
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    teardownTimeout: TIMEOUT_MS,
    // On a busy machine a real process may answer too late once. Faults of the code fail twice: their seeds are fixed.
    retry: 1,
    // Tests of processes mostly wait: with one worker per core half of the machine would stand idle.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    projects: [
      ...(mode === 'proofs'
        ? [project('long', ['test/**/*.long.test.ts'], [], 'test/support/setup-integ.ts')]
        : [
            project(
              'unit',
              ['test/**/*.test.ts'],
              ['test/**/*.{integ,long}.test.ts'],
              'test/support/setup-unit.ts',
            ),
            project('integ', ['test/**/*.integ.test.ts'], [], 'test/support/setup-integ.ts'),
          ]),
    ],
  },
}));
