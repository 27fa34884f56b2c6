/** What a change costs: each is made in a copy of the sources, counted, type-checked and used. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { changedCopy } from './change-cost/change.ts';
import { aRuleKind } from './change-cost/rule-kind.ts';
import { aUnit } from './change-cost/unit.ts';

const CHANGES = [aUnit, aRuleKind];

test.each(CHANGES)('$what touches at most $filesMax files and works', async (change) => {
  expect(new Set(change.patches.map(({ file }) => file)).size).toBeLessThanOrEqual(change.filesMax);
  const { folder, load, remove } = changedCopy(change);
  try {
    await change.shows(load);
    const compiler = join(folder, 'node_modules/typescript/bin/tsc');
    const checked = promisify(execFile)(process.execPath, [compiler, '-p', 'tsconfig.changed.json'], {
      cwd: folder,
    });
    expect(
      await checked.then(
        () => '',
        ({ stdout }: { stdout: string }) => stdout,
      ),
    ).toBe('');
  } finally {
    remove();
  }
});
