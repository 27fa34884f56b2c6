import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { readDeployableDescriptors } from '../../../relay/wire/deployable-descriptors.ts';
import { renumbered } from '../../../scripts/local/router/schemas.ts';
import { newRunFolder } from '../../support/run-folders.ts';

const PROGRAM = fileURLToPath(new URL('../../../scripts/build/proto-sync.ts', import.meta.url));
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

let folder: string;
beforeEach(() => {
  folder = newRunFolder(tmpdir());
  mkdirSync(join(folder, 'bin'));
});

/** What stands in for npx builds the descriptors `built`. */
function npx(built: Uint8Array): void {
  writeFileSync(join(folder, 'built'), built);
  const script = `#!/bin/sh
for last; do :; done
cp '${folder}/built' "$last"
`;
  writeFileSync(join(folder, 'bin/npx'), script);
  chmodSync(join(folder, 'bin/npx'), 0o755);
}

function sync(...args: readonly string[]) {
  return spawnSync(process.execPath, [PROGRAM, ...args, '--out', 'gitlab.binpb'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` },
  });
}

const write = (name: string, bytes: Uint8Array | string): string => {
  writeFileSync(join(folder, name), bytes);
  return name;
};
const lock = () => JSON.parse(readFileSync(join(folder, 'gitlab.lock.json'), 'utf8'));
const descriptors = () => readDeployableDescriptors(join(folder, 'gitlab.binpb'));

test('a descriptor file is taken as it is, needs no other program, and its lock says which it was', () => {
  const { status, stdout } = sync('--from', write('agent.binpb', renumbered()));
  expect(status).toBe(0);
  expect(stdout).toContain('AdmitJob');
  expect(lock()).toEqual({
    sha256: sha256(renumbered()),
    source: 'agent.binpb',
    sourceSha256: sha256(renumbered()),
  });
  expect(descriptors().sha256).toBe(lock().sha256);
});

test('a checkout is built, and a tag is fetched', () => {
  npx(renumbered());
  mkdirSync(join(folder, 'gitlab-agent'));
  expect(sync('--from', 'gitlab-agent').status).toBe(0);
  expect(lock()).toEqual({ sha256: sha256(renumbered()), source: 'folder gitlab-agent' });
  expect(sync('--ref', 'v18.9.0').status).toBe(0);
  expect(lock().source).toMatch(/^tag v18\.9\.0 of https:/);
});

test('what is no descriptor set leaves the old descriptors and their lock alone', () => {
  sync('--from', write('agent.binpb', renumbered()));
  const before = lock();
  const { status, stderr } = sync('--from', write('other.binpb', 'syntax = "proto3";'));
  expect(status).toBe(1);
  expect(stderr).toContain('other.binpb is not a complete FileDescriptorSet');
  expect(lock()).toEqual(before);
  expect(descriptors().sha256).toBe(before.sha256);
  expect(readdirSync(folder).filter((name) => name.startsWith('.proto-sync'))).toEqual([]);
});

test.each([
  ['nowhere', 'does not exist'],
  ['notes.txt', 'give a checkout'],
])('--from %s is refused: %s', (name, text) => {
  write('notes.txt', 'notes');
  const { status, stderr } = sync('--from', name);
  expect(status).toBe(3);
  expect(stderr).toContain(text);
});
