import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const TIMEOUT_MS = 240_000;

const templatesDiff = (...args: readonly string[]) =>
  spawnSync(process.execPath, [`${root}scripts/build/templates-diff.ts`, ...args], {
    ...{ cwd: root, timeout: TIMEOUT_MS, encoding: 'utf8' },
  });

test(
  'the templates of a commit are compared with the working tree’s, property by property',
  () => {
    const { status, stdout, stderr } = templatesDiff('HEAD');
    expect(stderr).toBe('');
    expect([status, stdout]).toEqual(
      stdout === 'no difference\n' ? [0, stdout] : [2, expect.stringMatching(/^[-+]Resources\.\w+\..* = /m)],
    );
  },
  TIMEOUT_MS,
);

test('what is no commit is wrong usage', () => {
  const { status, stderr } = templatesDiff('no-such-branch');
  expect(stderr).toContain('"no-such-branch": expected a commit, a branch or a tag of this repository');
  expect(status).toBe(3);
});
