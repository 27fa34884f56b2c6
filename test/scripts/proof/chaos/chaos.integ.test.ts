import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FAULTS } from '../../../../scripts/proof/chaos/faults.ts';

const PROGRAM = fileURLToPath(new URL('../../../../scripts/proof/chaos.ts', import.meta.url));
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });

test('--help names every fault and starts nothing', () => {
  const { status, stdout, stderr } = run('--help');
  expect([status, stderr]).toEqual([0, '']);
  for (const { name } of FAULTS) expect(stdout).toContain(name);
});

test.each([
  ['--seed', '-1'],
  ['--seed', 'x'],
  ['--minutes', '0'],
  ['--minutes', 'ten'],
  ['--unheard-of', '1'],
])('%s %s is wrong usage, before anything is started', (...args) => {
  const { status, stderr } = run(...args);
  expect(status).toBe(3);
  expect(stderr).not.toContain('starting table');
});
