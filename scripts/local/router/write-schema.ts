/**
 * `node scripts/local/router/write-schema.ts <file>`: writes descriptors with other numbers than the placeholder, so
 * that a synth, a rehearsal or a test of a deployment needs none from GitLab.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renumbered } from './schemas.ts';

/** @returns the file's absolute path. Folders on the way are made. */
export function writeRenumbered(file: string): string {
  const path = resolve(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, renumbered());
  return path;
}

// Also when scripts/pinned.mjs runs it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    console.error('node scripts/local/router/write-schema.ts <file>');
    process.exit(2);
  }
  console.log(writeRenumbered(file));
}
