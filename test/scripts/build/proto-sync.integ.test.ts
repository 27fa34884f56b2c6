import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readDeployableDescriptors } from '../../../relay/wire/deployable-descriptors.ts';
import { writeRenumbered } from '../../../scripts/local/router/write-schema.ts';
import { aProject } from '../cli/desk-run.ts';

const script = fileURLToPath(new URL('../../../scripts/build/proto-sync.ts', import.meta.url));
const sync = (...args: readonly string[]) =>
  spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });

test('a descriptor file is taken with its checksum, and a deployment holds it to the lock', () => {
  const root = aProject();
  const carried = writeRenumbered(join(root, 'carried.binpb'));
  const out = join(root, 'gitlab.binpb');
  const { status, stdout } = sync('--from', carried, '--out', out);
  const lock = JSON.parse(readFileSync(`${out}.lock.json`, 'utf8'));
  expect([status, lock.from]).toEqual([0, 'file carried.binpb']);
  expect(stdout).toContain(`sha256 ${lock.sha256}, from file ${basename(carried)}`);
  expect(readDeployableDescriptors(out).sha256).toBe(lock.sha256);

  expect(sync('--from', carried, '--sha256', lock.sha256, '--out', out).status).toBe(0);
  writeFileSync(`${out}.lock.json`, JSON.stringify({ ...lock, sha256: 'f'.repeat(64) }));
  expect(() => readDeployableDescriptors(out)).toThrow('another one than the lock beside it was written for');
  writeFileSync(`${out}.lock.json`, '{');
  expect(() => readDeployableDescriptors(out)).toThrow('the lock beside the file cannot be read');
});

test('another checksum, and a file that is no descriptor set, write nothing', () => {
  const root = aProject({ 'broken.binpb': 'no set' });
  const carried = writeRenumbered(join(root, 'carried.binpb'));
  const out = join(root, 'gitlab.binpb');
  const other = sync('--from', carried, '--sha256', '0'.repeat(64), '--out', out);
  expect([other.status, other.stderr.includes('nothing was written')]).toEqual([1, true]);
  expect(sync('--from', join(root, 'broken.binpb'), '--out', out).status).toBe(1);
  expect(sync('--from', carried, '--sha256', 'abc', '--out', out).status).toBe(2);
  expect([existsSync(out), existsSync(`${out}.lock.json`)]).toEqual([false, false]);
});
