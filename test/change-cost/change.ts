import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A change somebody will want to make, as small as the source allows. */
export interface Change {
  readonly what: string;
  /** The most files it may touch, new ones included. */
  readonly filesMax: number;
  readonly patches: readonly Patch[];
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

/** All that the checked files import. */
const SOURCES = ['policies', 'functions', 'relay', 'cdk', 'scripts'];
/** Where the changes are made; what these import comes with them. */
const CHECKED = [
  'policies',
  'functions',
  'relay/translate',
  'cdk/monitoring/alarms',
  'cdk/monitoring/dashboard/rows.ts',
  'scripts/cli/commands.ts',
];

/** A copy of the sources with all of the changes made, in a folder that `remove` takes away. */
export function changedCopy(changes: readonly Change[]): {
  readonly load: Load;
  /** What the compiler complains of; nothing if all is well. */
  readonly complaints: () => Promise<string>;
  readonly remove: () => void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'change-cost-'));
  for (const source of [...SOURCES, 'package.json', 'tsconfig.json'])
    cpSync(join(root, source), join(folder, source), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const patch of changes.flatMap(({ patches }) => patches)) apply(join(folder, patch.file), patch);
  const project = { extends: './tsconfig.json', include: CHECKED };
  writeFileSync(join(folder, 'tsconfig.changed.json'), JSON.stringify(project));
  return {
    load: (file) => importModule(join(folder, file)),
    complaints: () => complaintsOf(join(folder, 'node_modules/typescript/bin/tsc'), folder),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const complaintsOf = (compiler: string, cwd: string): Promise<string> =>
  promisify(execFile)(process.execPath, [compiler, '-p', 'tsconfig.changed.json'], { cwd }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );

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
