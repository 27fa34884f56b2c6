import { expect, test } from 'vitest';
import { sealedText } from '../../../../functions/core/statements/closed-statement.ts';

test('the text of a statement has its names in alphabetical order, whatever order a program wrote them in', () => {
  const lines = [{ micros: 2, day: '2026-10-01' }, null];
  const { text, sha256 } = sealedText({ number: 1, lines, group: { path: 'acme', id: null } });
  expect(text).toBe(
    '{"group":{"id":null,"path":"acme"},"lines":[{"day":"2026-10-01","micros":2},null],"number":1}',
  );
  expect(sealedText(JSON.parse(text))).toEqual({ text, sha256 });
});
