import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fileToken, literalToken } from '../../../relay/token.ts';

const dir = mkdtempSync(join(tmpdir(), 'token-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A token file whose clock the test moves. */
function tokenFile(name: string, content: string) {
  const path = join(dir, name);
  writeFileSync(path, content);
  let nowMs = 0;
  const source = fileToken(path, () => nowMs);
  return {
    path,
    source,
    write: (next: string) => writeFileSync(path, next),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a token is read without the line end that editors leave', () => {
  expect(tokenFile('trim', '  glrct-one\n').source.read()).toBe('glrct-one');
  expect(literalToken('glrct-one\n').read()).toBe('glrct-one');
});

test('a rotated token is used within a second, without a restart', () => {
  const file = tokenFile('rotate', 'glrct-one');
  expect(file.source.read()).toBe('glrct-one');
  file.write('glrct-second');
  file.pass(1_000);
  expect(file.source.read()).toBe('glrct-second');
});

test('a refused token is read anew at once, even if the file looks the same', () => {
  const file = tokenFile('refused', 'glrct-one');
  file.source.read();
  file.write('glrct-two');
  file.source.refresh();
  expect(file.source.read()).toBe('glrct-two');
});

test('while a new token is being written the last good one stays in use', () => {
  const file = tokenFile('half', 'glrct-one');
  file.source.read();
  file.write('');
  file.pass(1_000);
  expect(file.source.read()).toBe('glrct-one');
  unlinkSync(file.path);
  file.pass(1_000);
  expect(file.source.read()).toBe('glrct-one');
  file.write('glrct-two');
  file.pass(1_000);
  expect(file.source.read()).toBe('glrct-two');
});

test('a file that appears late is read as soon as it is there', () => {
  const path = join(dir, 'late');
  const source = fileToken(path, () => 0);
  expect(() => source.read()).toThrow(
    expect.objectContaining({ code: 'token_unreadable', message: expect.stringContaining(path) }),
  );
  writeFileSync(path, 'glrct-late');
  expect(source.read()).toBe('glrct-late');
});

test.each([
  ['empty', '\n', 'is empty'],
  ['two-lines', 'glrct-secret\nX-Header: 1', 'one line of plain text'],
  ['large', 'glrct-secret'.repeat(1_000), 'holds one line'],
])(
  'a token file that cannot be a header (%s) is refused without showing what is in it',
  (name, content, problem) => {
    const { source } = tokenFile(name, content);
    expect(() => source.read()).toThrow(
      expect.objectContaining({ code: 'token_unreadable', message: expect.stringContaining(problem) }),
    );
    expect(() => source.read()).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    );
  },
);
