import { expect, test } from 'vitest';
import { REASON_BYTES_MAX, wireReason } from '../../../relay/wire/reason.ts';
import { range } from '../../support/relay/commit-bench.ts';

const FIRST = 'The budget of acme is used up: 1 200 € of 1 200 €.';
const LINES = range(1, 20).map((line) => `  line ${line} with a word of Größe and 价格`);
const DETAILS = `Details: https://console.example.com/${'j'.repeat(250)}`;
const DECISION = 'Decision: d-0123456789abcdefghij';

test('a text that fits is sent as it is', () => {
  const text = [FIRST, '', LINES[0], DECISION].join('\n');
  expect(wireReason(text)).toBe(text);
});

test.each([
  ['with a link', [DETAILS, DECISION], [DETAILS, DECISION]],
  ['without', [DECISION], ['Full reason: tollgate explain', DECISION]],
  [
    'of a fallback, which says more at the end',
    [DECISION, '(Decided 5 s ago.)'],
    ['Full reason: tollgate explain', DECISION],
  ],
])('a long text loses whole lines, and still ends with where all of it is: %s', (_, ends, expected) => {
  const reason = wireReason([FIRST, ...LINES, ...ends].join('\n'));
  expect(Buffer.byteLength(reason)).toBeLessThan(500);
  expect(reason.startsWith(`${FIRST}\n`)).toBe(true);
  expect(reason.endsWith(expected.join('\n'))).toBe(true);
  for (const line of reason.split('\n')) expect([FIRST, ...LINES, ...expected]).toContain(line);
});

test.each(['é', '价', '😀'])('a first line without end is cut at a whole %s', (character) => {
  for (const before of ['', 'a', 'ab', 'abc']) {
    const reason = wireReason(`${before}${character.repeat(2_000)}\n${DECISION}`);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(REASON_BYTES_MAX);
    expect(reason.isWellFormed()).toBe(true);
    expect(reason).not.toContain('\uFFFD');
    expect(reason.endsWith(DECISION)).toBe(true);
  }
});
