/** How many files one question leads through: whoever reads along should not have to open more. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../../scripts/proof/way.ts', import.meta.url));

interface Way {
  readonly files: readonly { readonly file: string; readonly functions: readonly string[] }[];
}

const wayOf = (way: string): Way['files'] =>
  (JSON.parse(execFileSync(process.execPath, [PROGRAM, way, '--json'], { encoding: 'utf8' })) as Way).files;

test.each([
  { way: 'admission', filesMax: 80, through: ['relay/streams/stream.ts', 'functions/core/ledger/hold.ts'] },
  { way: 'rejection', filesMax: 91, through: ['policies/evaluate.ts', 'policies/text/rejection-text.ts'] },
  { way: 'csv-edit', filesMax: 63, through: ['functions/core/limits/csv/import-limits.ts'] },
])('$way leads through $filesMax files at most', ({ way, filesMax, through }) => {
  const files = wayOf(way);
  expect(files.length).toBeLessThanOrEqual(filesMax);
  expect(files.map(({ file }) => file)).toEqual(expect.arrayContaining(through));
  const [first] = files;
  expect(first?.functions.length).toBeGreaterThan(0);
});

test('a way that nobody knows is refused with those that there are', () => {
  const { status, stderr } = failing(['nowhere']);
  expect([status, stderr]).toEqual([3, expect.stringContaining('admission | rejection | csv-edit')]);
});

function failing(args: readonly string[]): { readonly status: unknown; readonly stderr: string } {
  try {
    execFileSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { status, stderr } = error as { status: unknown; stderr: string };
    return { status, stderr };
  }
  throw new Error('it was not refused');
}
