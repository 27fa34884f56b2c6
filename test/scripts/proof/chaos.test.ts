import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../scripts/local/random.ts';
import { drawFaults } from '../../../scripts/proof/chaos/run.ts';
import { FAULTS } from '../../../scripts/proof/chaos/scene.ts';

const NAMES = Object.keys(FAULTS);

test('the same seed has the same faults, and each comes once before any comes again', () => {
  const drawn = (seed: number) => {
    const faults = drawFaults(seededRandom(seed));
    return Array.from({ length: 2 * NAMES.length }, () => faults.next().value);
  };
  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(7)).not.toEqual(drawn(8));
  expect(new Set(drawn(7).slice(0, NAMES.length)).size).toBe(NAMES.length);
});

test.each([
  [['--help'], 0, NAMES.at(-1)],
  [['--seed', 'x'], 3, '--seed "x": expected a whole number'],
  [['--minutes', '0'], 3, '--minutes "0": expected 0.1 to 120'],
])('%j ends with %i before anything is started', (args, code, text) => {
  const program = fileURLToPath(new URL('../../../scripts/proof/chaos.ts', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  expect([status, `${stdout}${stderr}`]).toEqual([code, expect.stringContaining(text ?? '')]);
});
