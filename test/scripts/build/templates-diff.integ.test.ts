import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ElementChange } from '../../../scripts/build/diff-templates.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const TIMEOUT_MS = 240_000;

async function templatesDiff(...args: readonly string[]) {
  const options = { cwd: root, timeout: TIMEOUT_MS, env: { ...process.env, INIT_CWD: undefined } };
  try {
    const done = await run(process.execPath, [`${root}scripts/build/templates-diff.ts`, ...args], options);
    return { code: 0, stdout: done.stdout, stderr: done.stderr };
  } catch (error) {
    return error as { readonly code: number; readonly stdout: string; readonly stderr: string };
  }
}

const LETTERS = { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'dead-letters' } };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-kept-'));
  const template = JSON.stringify({ Resources: { Letters: LETTERS } });
  writeFileSync(join(folder, 'Tollgate-old.template.json'), template);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test(
  'templates of a folder are compared with the working tree’s, which are kept for the next time',
  async () => {
    const kept = join(folder, 'kept');
    const { code, stdout, stderr } = await templatesDiff('--against', folder, '--keep', kept, '--json');
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    const { changes }: { readonly changes: readonly ElementChange[] } = JSON.parse(stdout);
    expect(changes.filter(({ kind }) => kind !== 'added')).toMatchObject([
      { stack: 'Tollgate-old', id: 'Letters', kind: 'removed' },
    ]);
    expect(changes.find(({ type }) => type === 'AWS::DynamoDB::Table')).toMatchObject({
      stack: expect.stringMatching(/-State$/),
      id: 'LedgerTable9343E4AA',
    });
    expect(readdirSync(kept).toSorted()).toEqual(
      ['private-Service', 'private-State', 'prod-Service', 'prod-State'].map(
        (stack) => `Tollgate-${stack}.template.json`,
      ),
    );
  },
  TIMEOUT_MS,
);

test.each([
  [['no-such-branch'], '"no-such-branch": expected a commit, a branch or a tag of this repository'],
  [['--against', '/nowhere'], '/nowhere: expected a folder with files *.template.json'],
  [['HEAD', '--against', '/nowhere'], '--against /nowhere: expected no commit beside it, "HEAD"'],
])('%j is wrong usage', async (args, message) => {
  const { code, stderr } = await templatesDiff(...args);
  expect(stderr).toContain(message);
  expect(code).toBe(3);
});
