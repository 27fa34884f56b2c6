import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A change somebody will want to make, as small as the source allows. */
export interface Change {
  readonly what: string;
  /** The most files it may touch, new ones included. */
  readonly filesMax: number;
  readonly patches: readonly Patch[];
  /** What has to be there for it to run and to be type-checked. */
  readonly sources: readonly string[];
  /** Uses what was added, in the changed copy. */
  readonly shows: (load: Load) => Promise<void>;
}

/** A new file, or lines put before a text that the file has once. */
export type Patch =
  | { readonly file: string; readonly text: string }
  | { readonly file: string; readonly before: string; readonly insert: string };

/** Imports a module of the changed copy. */
export type Load = (file: string) => ReturnType<typeof importModule>;

const importModule = (path: string) => import(pathToFileURL(path).href);

/** A copy of the sources with a change made, in a folder that `remove` takes away. */
export function changedCopy({ sources, patches }: Change): {
  readonly folder: string;
  readonly load: Load;
  readonly remove: () => void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'change-cost-'));
  for (const source of [...sources, 'package.json', 'tsconfig.json'])
    cpSync(join(root, source), join(folder, source), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const patch of patches) apply(join(folder, patch.file), patch);
  writeFileSync(
    join(folder, 'tsconfig.changed.json'),
    JSON.stringify({ extends: './tsconfig.json', include: sources }),
  );
  return {
    folder,
    load: (file) => importModule(join(folder, file)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function apply(path: string, patch: Patch): void {
  if ('text' in patch) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, patch.text);
    return;
  }
  const parts = readFileSync(path, 'utf8').split(patch.before);
  if (parts.length !== 2)
    throw new Error(`${patch.file} has this ${parts.length - 1} times: ${patch.before}`);
  writeFileSync(path, parts.join(`${patch.insert}${patch.before}`));
}
