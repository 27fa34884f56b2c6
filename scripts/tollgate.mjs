#!/usr/bin/env node
/** `npx tollgate …` from a clone, on any Node of the host. */
import { fileURLToPath } from 'node:url';
import { runPinned } from './pinned.mjs';

await runPinned(fileURLToPath(new URL('cli/tollgate.ts', import.meta.url)), process.argv.slice(2));
