import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { passes } from '../../../scripts/proof/bench/figure.ts';
import { compareCode, ROWS } from '../../../scripts/proof/bench/guards.ts';
import { OWN_CODE, withCodeOf } from '../../../scripts/proof/bench/landed.ts';
import { measurePart } from '../../../scripts/proof/bench/parts.ts';

const BENCH = fileURLToPath(new URL('../../../scripts/proof/bench.ts', import.meta.url));

const benchExit = (...args: readonly string[]) =>
  new Promise<{ readonly code: unknown; readonly stderr: string }>((resolve) => {
    execFile(process.execPath, [BENCH, ...args], { timeout: 240_000 }, (error, _stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    );
  });

test('a part that cannot be measured ends the bench and says which one it was', async () => {
  await expect(measurePart('no-such-part')).rejects.toThrow('the part "no-such-part" could not be measured');
});

test.each([
  [['--only', 'no-such-part'], 'expected contention'],
  [['--fast'], 'npm run bench -- --help'],
])(
  'wrong usage %j is exit code 3',
  async (args, said) => {
    const { code, stderr } = await benchExit(...args);
    expect([code, stderr]).toEqual([3, expect.stringContaining(said)]);
  },
  60_000,
);

/** A tenth of the work of an evaluation of 100 rules. */
const BURN = 'for (let turn = 0; turn < 6_500; turn += 1) { void 0; }';

test('a guard sees ten per cent more work in its row, and none in the others', async () => {
  const figures = await withCodeOf('HEAD', async (slower) => {
    const file = join(slower, 'policies/evaluate.ts');
    const burning = readFileSync(file, 'utf8').replace(/export function evaluate\(.*\{/, `$&${BURN}`);
    expect(burning).toContain(BURN);
    writeFileSync(file, burning);
    const rows = ROWS.filter(([row]) => row.startsWith('policy'));
    return compareCode({ own: slower, landed: OWN_CODE }, rows);
  });
  expect(figures.map(passes)).toEqual([false, true]);
}, 120_000);
