import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FAULTS } from '../../../scripts/proof/chaos/scene.ts';

const NAMES = Object.keys(FAULTS);

test.each([
  [['--help'], 0, NAMES.at(-1)],
  [['--seed', 'x'], 3, '--seed "x": expected a whole number'],
  [['--minutes', '0'], 3, '--minutes "0": expected 0.1 to 120'],
])('%j ends with %i before anything is started', (args, code, text) => {
  const program = fileURLToPath(new URL('../../../scripts/proof/chaos.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  expect([status, `${stdout}${stderr}`]).toEqual([code, expect.stringContaining(text ?? '')]);
});
