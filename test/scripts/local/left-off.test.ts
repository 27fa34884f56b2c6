import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLeftOff, writeLeftOff } from '../../../scripts/local/ledger-clock.ts';

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'left-off-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a run goes on where the one before left off', () => {
  const folder = aFolder();
  expect(readLeftOff(folder)).toBeUndefined();
  writeLeftOff(folder, { atMs: 1_795_262_400_000, jobId: 25_000_160 });
  expect(readLeftOff(folder)).toEqual({ atMs: 1_795_262_400_000, jobId: 25_000_160 });
});

test.each(['', '{', 'null', '{"atMs":"now","jobId":1}', '{"atMs":1}'])(
  'what cannot be read, %j, is nothing',
  (text) => {
    const folder = aFolder();
    writeFileSync(join(folder, 'left-off.json'), text);
    expect(readLeftOff(folder)).toBeUndefined();
  },
);
