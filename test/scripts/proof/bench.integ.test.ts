import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
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
