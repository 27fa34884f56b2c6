import { useRunFolder } from './run-folders.ts';

/** Vitest calls it before the first test of the run, and what it returns after the last one. */
export const setup = (): (() => void) => useRunFolder();
