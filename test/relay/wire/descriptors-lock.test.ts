import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lockedVersion, lockOf } from '../../../relay/wire/deployable-descriptors.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'gitlab.binpb');

test.each([
  ['tag v18.9.0 of https://gitlab.com/gitlab-org/cluster-integration/gitlab-agent.git', '18.9'],
  ['gitlab-agent-v19.4.1.tar.gz', '19.4'],
  ['branch master of https://gitlab.com/x.git', undefined],
  ['folder proto', undefined],
])('descriptors of "%s" are of GitLab %s', (source, version) => {
  writeFileSync(lockOf(file), JSON.stringify({ sha256: 'aa', source }));
  expect(lockedVersion(file)).toBe(version);
});

test('without a lock nobody knows', () => {
  expect(lockedVersion(join(folder, 'other.binpb'))).toBeUndefined();
});
