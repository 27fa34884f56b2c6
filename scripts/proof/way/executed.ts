/** Which functions of ours really run while something happens, by V8's own count. */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of which something ran. */
export interface ExecutedFile {
  /** From the project's root: `policies/evaluate.ts`. */
  readonly file: string;
  /** Names in the order they stand in the file; those without a name are left out. */
  readonly functions: readonly string[];
}

/**
 * Runs it once and counts what ran. Files come as a reader meets them: what a file imports stands after it.
 *
 * @param root - the project's folder, ending with a slash.
 * @param isOurs - of which files the answer is, by their path from the root.
 */
export async function executedBy(
  run: () => Promise<void>,
  root: string,
  isOurs: (file: string) => boolean,
): Promise<readonly ExecutedFile[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    // Counts begin at nought here: what ran before, or ran while a file was loaded, is not in them.
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await run();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ran = new Map<string, readonly string[]>();
    for (const { url, functions } of result) {
      const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : '';
      const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
      if (called.length > 0 && isOurs(file)) ran.set(file, namesOf(called));
    }
    return inReadingOrder([...ran.keys()], root).map((file) => ({ file, functions: ran.get(file) ?? [] }));
  } finally {
    session.disconnect();
  }
}

const namesOf = (functions: readonly { readonly functionName: string }[]): readonly string[] => [
  ...new Set(functions.map(({ functionName }) => functionName).filter((name) => name !== '')),
];

const IMPORT = /(?:from|import)\s*\(?'(\.[^']+)'/g;

/** Depth first along the imports, beginning with files that no other of them imports. */
function inReadingOrder(files: readonly string[], root: string): readonly string[] {
  const importsOf = new Map(
    files.map((file) => [
      file,
      [...readFileSync(resolve(root, file), 'utf8').matchAll(IMPORT)]
        .map(([, target = '']) => relative(root, resolve(root, dirname(file), target)))
        .filter((target) => files.includes(target)),
    ]),
  );
  const imported = new Set([...importsOf.values()].flat());
  const ordered = new Set<string>();
  const visit = (file: string): void => {
    if (ordered.has(file)) return;
    ordered.add(file);
    for (const target of importsOf.get(file) ?? []) visit(target);
  };
  for (const file of files.filter((each) => !imported.has(each)).sort(byPlace)) visit(file);
  for (const file of files) visit(file);
  return [...ordered];
}

/** A question comes in at the relay, an edit at the console. */
const PLACES = ['relay/', 'functions/console/', 'functions/admit/', 'functions/', 'policies/'];
const placeOf = (file: string): number => PLACES.findIndex((place) => file.startsWith(place));
const byPlace = (a: string, b: string): number => placeOf(a) - placeOf(b) || (a < b ? -1 : 1);
