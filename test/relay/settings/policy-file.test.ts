import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { RelayError } from '../../../relay/relay-error.ts';
import { readPolicyFile } from '../../../relay/settings/policy-file.ts';
import { policyDocument } from '../../policies/documents.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-policy-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(content: unknown): string {
  const file = join(folder, 'rules.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** The message of the refusal. */
function refusal(file: string): string {
  try {
    readPolicyFile(file);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    expect(error.code).toBe('config_invalid');
    return error.message;
  }
  throw new Error(`${file} was accepted`);
}

const policy = { version: 'a1b2c3', document: policyDocument() };

test('the packed rules are read: policy with its version; limits and the directory of that day are not looked at', () => {
  const read = readPolicyFile(fileWith({ policy, limits: 'broken', directory: 'old' }));
  expect(read.version).toBe('a1b2c3');
  expect(read.rules.map(({ id }) => id)).toEqual(['budgets', 'slots']);
});

test.each(['', '{"policy":', 'currency: EUR  # not-a-secret'])(
  'a file that is not JSON ("%s") is named with the remedy, and not quoted',
  (content) => {
    const file = fileWith(content);
    expect(refusal(file)).toBe(
      `[config_invalid] ${file} cannot be read as JSON; build it with npm run bundle`,
    );
  },
);

test('a file that is not there is named with the remedy', () => {
  const file = join(folder, 'none.json');
  expect(refusal(file)).toBe(`[config_invalid] ${file} cannot be read as JSON; build it with npm run bundle`);
});

test.each([null, [], 7, {}, { policy: null }, { policy: { document: policyDocument() } }, policyDocument()])(
  'a file without a packed policy is refused: %j',
  (content) => {
    const file = fileWith(content);
    expect(refusal(file)).toBe(
      `[config_invalid] ${file} has no policy.version; build it with npm run bundle`,
    );
  },
);

test('every problem of a policy is told at once, with the file, the part and the path', () => {
  const document = policyDocument({
    rules: [
      { id: 'budgets', kind: 'budget', mode: 'hard' },
      { id: 'slots', kind: 'nonsense', mode: 'enforce' },
    ],
  });
  const file = fileWith({ policy: { version: '1', document } });
  const text = refusal(file);
  expect(text).toContain(`${file}, policy: `);
  expect(text).toContain('rules[0].mode');
  expect(text).toContain('rules[1].kind');
});
